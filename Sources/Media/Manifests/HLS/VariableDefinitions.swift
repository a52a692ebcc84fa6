/// The variables that a multivariant playlist defines (`EXT-X-DEFINE`) and its media playlists may import.
///
/// Values may contain secrets, such as tokens from an address, so the description shows only the names.
package struct VariableDefinitions: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    let values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    /// Creates definitions from names and values.
    package init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements) { first, _ in first }
    }
}

extension VariableDefinitions: CustomStringConvertible, CustomReflectable {
    /// The names, sorted.
    package var description: String { values.keys.sorted().joined(separator: ", ") }
    /// Shows only the description, so that `dump` shows no secret.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
