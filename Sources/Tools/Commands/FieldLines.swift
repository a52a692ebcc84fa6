internal import InstrumentJSON
internal import InstrumentTerminal

/// JSON as lines of text for people: one line per member, indented by its depth.
enum FieldLines {
    static func text(of value: JSONValue) -> TerminalText {
        guard case .object(let members) = value else { return scalar(value) + "\n" }
        return lines(of: members, depth: 0)
    }

    private static func lines(of members: [String: JSONValue], depth: Int) -> TerminalText {
        members.sorted { $0.key < $1.key }.map { line(TerminalText($0), $1, depth) }.joined()
    }

    private static func line(_ name: TerminalText, _ value: JSONValue, _ depth: Int) -> TerminalText {
        let indent = TerminalText(trusted: String(repeating: "  ", count: depth))
        switch value {
        case .object(let members): return indent + name + ":\n" + lines(of: members, depth: depth + 1)
        case .array(let elements):
            let lines = elements.enumerated().map { line(name + "[\($0)]", $1, depth) }
            return elements.isEmpty ? indent + name + ": none\n" : lines.joined()
        default: return indent + name + ": " + scalar(value) + "\n"
        }
    }

    private static func scalar(_ value: JSONValue) -> TerminalText {
        if case .string(let text) = value { TerminalText(text) } else { TerminalText(value.description) }
    }
}
