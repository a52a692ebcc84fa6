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

    package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

    /// `tchar` of RFC 9110 section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        if byte.isLetter || byte.isDigit { return true }
        return switch UnicodeScalar(byte) {
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": true
        default: false
        }
    }

    /// Wide on purpose: what is hidden without need costs little. `Location` may carry tokens in its query.
    ///
    /// Works on bytes and copies nothing, because each header of each segment of a stream comes here.
    private static func speaksOfSecrets(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { name in
            secretNames.contains { $0.utf8Count == name.count && $0.begins(name[...]) }
                || name.indices.contains { start in secretWords.contains { $0.begins(name[start...]) } }
        }
    }

    /// A word in lower case, as bytes.
    private struct Word {
        private let text: StaticString
        var utf8Count: Int { text.utf8CodeUnitCount }

        init(_ text: StaticString) { self.text = text }

        /// Whether bytes begin with the word, in any case.
        func begins(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
            guard bytes.first?.lowercase == text.utf8Start.pointee else { return false }
            return text.withUTF8Buffer { word in
                bytes.count >= word.count && zip(word, bytes).allSatisfy { $0 == $1.lowercase }
            }
        }
    }

    private static let secretWords: [Word] = [
        Word("auth"), Word("cookie"), Word("key"), Word("token"), Word("secret"), Word("password"), Word("credential"),
        Word("signature"), Word("session"),
    ]

    private static let secretNames: [Word] = [
        Word("location"), Word("content-location"), Word("referer"), Word("link"), Word("refresh"),
    ]
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    package func isNamed(_ name: String) -> Bool {
        self.name.utf8.elementsEqual(name.utf8) { $0.lowercase == $1.lowercase }
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
