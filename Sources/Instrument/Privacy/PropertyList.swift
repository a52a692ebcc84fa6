/// The part of Apple's XML property lists that a privacy manifest needs, without Foundation.
enum PropertyList {
    case text(String)
    case flag(Bool)
    case array([PropertyList])
    case dictionary([(key: String, value: PropertyList)])

    /// The whole file.
    var document: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        \(lines.joined(separator: "\n"))
        </plist>

        """
    }

    private var lines: [String] {
        switch self {
        case .text(let text): ["<string>\(Self.escaped(text))</string>"]
        case .flag(let isTrue): [isTrue ? "<true/>" : "<false/>"]
        case .array(let elements) where elements.isEmpty: ["<array/>"]
        case .array(let elements): Self.nested(elements.flatMap(\.lines), in: "array")
        case .dictionary(let members): Self.nested(members.flatMap(Self.lines), in: "dict")
        }
    }

    private static func lines(of member: (key: String, value: PropertyList)) -> [String] {
        var lines = member.value.lines
        lines.insert("<key>\(escaped(member.key))</key>", at: 0)
        return lines
    }

    private static func nested(_ lines: [String], in tag: String) -> [String] {
        var nested = ["<\(tag)>"]
        for line in lines { nested.append("\t" + line) }
        nested.append("</\(tag)>")
        return nested
    }

    /// Text as the content of an element. XML 1.0 has no form for most controls: U+FFFD takes their place.
    private static func escaped(_ text: String) -> String {
        var writable = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { writable.append(isWritable(scalar) ? scalar : "\u{FFFD}") }
        return Markup.escaped(String(writable))
    }

    private static func isWritable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\n", "\r": true
        default: scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
        }
    }
}
