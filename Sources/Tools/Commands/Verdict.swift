internal import ArgumentParser
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentXAPI

/// The result of validating one line of a file.
struct Verdict {
    /// The format of the output.
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    static let discussion = """
        Each line of the file is a value to validate, or an object {"id": …, "statement": …} around it; blank lines are \
        skipped. A value may also have several lines, or be an array of values. Each value gives one line of output, with \
        columns separated by tabs: the id (or the line number, in an array with the number in the array, such as 1.3), 'valid' \
        or 'invalid', and one column per broken rule: the rule, the JSON path, and a message with the expected and the found \
        value.
        """

    static let warnings = """
        \u{20}A broken SHOULD rule gives a column that begins with 'warning'; the statement stays valid, and the exit code 0, \
        unless --strict is given.
        """

    static let formatHelp: ArgumentHelp = """
        Output format: 'text' for columns, 'json' for one JSON object per line with id, line, valid and findings (rule, path, \
        message, severity).
        """

    /// The line that a value was read from.
    struct Line {
        /// The name of the member that holds the value; nil if the line is the value.
        let member: String?
        /// The text.
        let bytes: [UInt8]
        /// Whether an object in the line has two members with one name.
        let hasRepeatedNames: Bool
    }

    /// Validates a file line by line and prints the verdicts; `findings` gets the value and its line. Throws exit code
    /// 1 after the last line if any value is invalid.
    ///
    /// - Parameters:
    ///   - list: the member that has the values of an answer of a service.
    ///   - accept: returns the id of a line that certainly has no findings, or an empty text without an id; nil if in
    ///     doubt.
    static func printAll(
        in file: String,
        members: [String],
        list: String? = nil,
        isStrict: Bool = false,
        format: Format,
        accept: ([UInt8]) -> String? = { _ in nil },
        findings: (JSONValue, Line) -> [ValidationFailure]
    ) throws {
        var reader = try ValueReader(path: file, list: list)
        let terminal = Terminal(isQuiet: true)
        var isAllValid = true
        // The verdicts of lines that came together are written together, and none waits for a line that has not come.
        var waiting: [UInt8] = []
        while true {
            if !waiting.isEmpty, !reader.hasNextAtHand || waiting.count >= Self.blockSize {
                try terminal.output(escaped: waiting)
                waiting.removeAll(keepingCapacity: true)
            }
            guard let value = try reader.next() else { break }
            let verdict =
                accept(value.bytes).map { Verdict(acceptedID: $0, value) }
                ?? Verdict(on: value, members: members, isStrict: isStrict, findings)
            isAllValid = isAllValid && verdict.isValid
            switch format {
            case .text: waiting += verdict.text.bytes
            case .json: waiting += (TerminalText(json: verdict.json.bytes) + "\n").bytes
            }
        }
        if !isAllValid { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// The bytes of verdicts that are written together.
    private static let blockSize = 64 << 10

    private let id: String
    private let lineNumber: Int
    private let findings: [ValidationFailure]
    private let isValid: Bool

    private init(acceptedID id: String, _ value: ValueReader.Value) {
        lineNumber = value.line
        self.id = id.isEmpty ? value.name : id
        (findings, isValid) = ([], true)
    }

    private init(
        on text: ValueReader.Value,
        members: [String],
        isStrict: Bool,
        _ findings: (JSONValue, Line) -> [ValidationFailure]
    ) {
        let line = text.bytes
        lineNumber = text.line
        do {
            var hasRepeatedNames = false
            let value = try JSONReader.read(line, hasRepeatedNames: &hasRepeatedNames)
            let member = members.first { value["actor"] == nil && value["verb"] == nil && value[$0] != nil }
            id = Self.id(of: value) ?? text.name
            let place = Line(member: member, bytes: line, hasRepeatedNames: hasRepeatedNames)
            self.findings = findings(member.flatMap { value[$0] } ?? value, place)
        } catch {
            id = text.name
            self.findings = [.noJSON(error, in: line)]
        }
        isValid = !self.findings.contains { isStrict || $0.severity == .error }
    }

    private var text: TerminalText {
        let columns = findings.map { finding -> TerminalText in
            let mark = finding.severity == .warning ? "warning " : ""
            return "\(mark)\(finding.rule) \(finding.path) \(finding.message)"
        }
        return (["\(id)", isValid ? "valid" : "invalid"] + columns).joined(separator: "\t") + "\n"
    }

    private var json: JSONValue {
        let findings = findings.map { finding -> JSONValue in
            [
                "rule": .string(finding.rule.description), "path": .string(finding.path),
                "message": .string(finding.message), "severity": .string(finding.severity.rawValue),
            ]
        }
        return ["id": .string(id), "line": .int(lineNumber), "valid": .bool(isValid), "findings": .array(findings)]
    }

    /// The id of a value, if the id can stand in a column.
    private static func id(of value: JSONValue) -> String? {
        if let number = value["id"]?.int { return String(number) }
        guard let text = value["id"]?.string, !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } ? text : nil
    }
}
