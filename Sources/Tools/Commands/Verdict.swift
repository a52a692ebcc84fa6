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
        skipped. Each value gives one line of output, with columns separated by tabs: the id (or the line number), 'valid' or \
        'invalid', and one column per broken rule: the rule, the JSON path, and a message with the expected and the found value.
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
    /// - Parameter accept: returns the id of a line that certainly has no findings, or an empty text without an id;
    ///   nil if in doubt.
    static func printAll(
        in file: String,
        members: [String],
        isStrict: Bool = false,
        format: Format,
        accept: ([UInt8]) -> String? = { _ in nil },
        findings: (JSONValue, Line) -> [ValidationFailure]
    ) throws {
        var reader = try LineReader(path: file)
        let terminal = Terminal(isQuiet: true)
        var isAllValid = true
        // The verdicts of lines that came together are written together, and none waits for a line that has not come.
        var waiting: [UInt8] = []
        while true {
            if !waiting.isEmpty, !reader.hasNextAtHand || waiting.count >= Self.blockSize {
                try terminal.output(escaped: waiting)
                waiting.removeAll(keepingCapacity: true)
            }
            guard let line = try reader.next() else { break }
            if line.allSatisfy({ " \t\r".utf8.contains($0) }) { continue }
            let verdict =
                accept(line).map { Verdict(acceptedID: $0, reader.lineNumber) }
                ?? Verdict(on: line, reader.lineNumber, members: members, isStrict: isStrict, findings)
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

    private init(acceptedID id: String, _ lineNumber: Int) {
        self.lineNumber = lineNumber
        self.id = id.isEmpty ? String(lineNumber) : id
        (findings, isValid) = ([], true)
    }

    private init(
        on line: [UInt8],
        _ lineNumber: Int,
        members: [String],
        isStrict: Bool,
        _ findings: (JSONValue, Line) -> [ValidationFailure]
    ) {
        self.lineNumber = lineNumber
        do {
            var hasRepeatedNames = false
            let value = try JSONReader.read(line, hasRepeatedNames: &hasRepeatedNames)
            let member = members.first { value["actor"] == nil && value["verb"] == nil && value[$0] != nil }
            id = Self.id(of: value) ?? String(lineNumber)
            let place = Line(member: member, bytes: line, hasRepeatedNames: hasRepeatedNames)
            self.findings = findings(member.flatMap { value[$0] } ?? value, place)
        } catch {
            id = String(lineNumber)
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
