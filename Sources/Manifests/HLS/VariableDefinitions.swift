/// The variables that a multivariant playlist defines (`EXT-X-DEFINE`) and its media playlists may import.
///
/// They may hold secrets, such as tokens from an address, so that a description shows their names alone.
public struct VariableDefinitions: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    let values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    /// Creates definitions of names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements) { first, _ in first }
    }
}

extension VariableDefinitions: CustomStringConvertible, CustomReflectable {
    /// The names, sorted.
    public var description: String { values.keys.sorted().joined(separator: ", ") }
    /// Shows nothing more than the description, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
