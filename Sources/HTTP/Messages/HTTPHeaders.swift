internal import Instrument
internal import InstrumentText

/// Header fields in their order; names are compared without regard to case.
///
/// A name or value that could break out of its line is refused. The description shows no value that is secret: those of
/// fields whose name speaks of it (`Authorization`, `Cookie`, `X-Api-Key` and the like) and those added as secret.
public struct HTTPHeaders: Hashable, Sendable {
    /// A field.
    public struct Field: Hashable, Sendable {
        /// Its name as written.
        public let name: String
        /// Its value without the white space around it.
        public let value: String
        /// Whether the value stays out of everything that is printed, and does not go to another origin.
        public let isSecret: Bool
    }

    /// The fields in their order.
    public private(set) var fields: [Field] = []

    /// Creates headers without fields.
    public init() {}

    /// Creates headers from names and values.
    /// - Throws: ``HTTPError`` with the code `invalidHeader`; its message does not repeat the value.
    public init(_ fields: KeyValuePairs<String, String>) throws(HTTPError) {
        for (name, value) in fields { try add(name, value) }
    }

    /// The first value of a field.
    public subscript(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// All values of a field.
    public func values(of name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Adds a field after those that are there. `isSecret` is for values that are secret though the name does not say
    /// so.
    /// - Throws: ``HTTPError`` with the code `invalidHeader`; its message does not repeat the value.
    public mutating func add(_ name: String, _ value: String, isSecret: Bool = false) throws(HTTPError) {
        guard Self.isToken(name) else {
            throw HTTPError(
                .invalidHeader,
                "the name of a header must be a token (RFC 9110); use letters, digits and -"
            )
        }
        guard value.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F || $0 == 9 }) else {
            throw HTTPError(
                .invalidHeader,
                "the value of \(name) must not have line breaks or control characters; remove them"
            )
        }
        append(name, value, isSecret: isSecret)
    }

    /// Replaces all fields of the name by one.
    /// - Throws: ``HTTPError`` with the code `invalidHeader`; its message does not repeat the value.
    public mutating func set(_ name: String, _ value: String, isSecret: Bool = false) throws(HTTPError) {
        var others = self
        others.remove(name)
        try others.add(name, value, isSecret: isSecret)
        self = others
    }

    /// Removes all fields of the name.
    public mutating func remove(_ name: String) { fields.removeAll { $0.isNamed(name) } }

    /// Adds what is known to be in order.
    package mutating func append(_ name: String, _ value: String, isSecret: Bool = false) {
        let isSecret = isSecret || Self.speaksOfSecrets(name)
        fields.append(Field(name: name, value: String(value.trimmingSpaces), isSecret: isSecret))
    }

    package static func isToken(_ text: String) -> Bool {
        let marks = "!#$%&'*+-.^_`|~".utf8
        return !text.isEmpty && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || marks.contains($0) }
    }

    /// Wide on purpose: what is hidden without need costs little. `Location` may carry tokens in its query.
    private static func speaksOfSecrets(_ name: String) -> Bool {
        let name = name.lowercased()
        // By bytes: a search by characters took an eighth of what a stream of segments costs.
        let bytes = Array(name.utf8)
        return Self.secretWords.contains { word in
            bytes.count >= word.count
                && (0...(bytes.count - word.count)).contains { bytes[$0...].starts(with: word) }
        } || ["location", "content-location", "referer", "link", "refresh"].contains(name)
    }

    private static let secretWords = [
        "auth", "cookie", "key", "token", "secret", "password", "credential", "signature", "session",
    ].map { Array($0.utf8) }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    func isNamed(_ name: String) -> Bool {
        self.name.utf8.count == name.utf8.count && self.name.lowercased() == name.lowercased()
    }

    /// The line, without the value if that is secret.
    public var description: String { name + ": " + (isSecret ? "…" : value) }
    /// Shows nothing more than the description, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, without secret values.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}
