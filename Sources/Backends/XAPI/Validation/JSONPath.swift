/// Where in a JSON document something is: `$.actor.member[0].mbox`, `$.result.extensions['https://example.org/a b']`.
struct JSONPath: CustomStringConvertible {
    static var root: JSONPath { JSONPath(description: "$") }

    let description: String

    static func / (path: JSONPath, name: String) -> JSONPath {
        let step = isWord(name) ? "." + name : "['" + escaped(name) + "']"
        return JSONPath(description: path.description + step)
    }

    subscript(index: Int) -> JSONPath { JSONPath(description: "\(description)[\(index)]") }

    /// The same place seen from another one that it lies in; nil if it does not.
    func relative(to place: JSONPath) -> JSONPath? {
        guard description.hasPrefix(place.description) else { return nil }
        let rest = description.dropFirst(place.description.count)
        return rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[") ? JSONPath(description: "$" + rest) : nil
    }

    private static func isWord(_ name: String) -> Bool {
        guard let first = name.utf8.first else { return false }
        return !TextCursor.isDigit(first) && name.utf8.allSatisfy(isOfWord)
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        TextCursor.isDigit(byte) || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
    }

    /// A path stays on its line and in its column.
    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.map { scalar in
            switch scalar {
            case "'", "\\": "\\\(scalar)"
            case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                "\\u" + String(repeating: "0", count: 4 - String(scalar.value, radix: 16).count)
                    + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
    }
}
