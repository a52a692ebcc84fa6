internal import ArgumentParser
internal import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentXAPI

/// `player-monitor xapi`: learning records.
struct XAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "xapi",
        abstract: "Checks learning records (xAPI statements).",
        subcommands: [ValidateXAPICommand.self]
    )
}

struct ValidateXAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Checks xAPI statements, one a line; ends with 1 if one is invalid.",
        discussion: Verdict.discussion + Verdict.warnings
    )

    @Argument(help: "Statements as JSON, one a line; '-' is standard input.")
    var file: String

    @Option(
        help: "The version of xAPI whose rules apply: 1.0.3 (which is the default) or 2.0.0.",
        transform: Self.version
    )
    var version: XAPIVersion = .v1

    @Flag(help: "Count warnings as errors: a statement with one is invalid.")
    var strict = false

    func run() throws {
        let validator = StatementValidator(version: version)
        try Verdict.passAll(in: file, members: ["statement"], isStrict: strict) { value, member, bytes in
            guard let member else { return validator.findings(inJSON: bytes) }
            return validator.findings(in: value, member: member, of: bytes)
        }
    }
}

extension ValidateXAPICommand {
    private static func version(_ text: String) throws -> XAPIVersion {
        if let version = XAPIVersion(rawValue: text) { return version }
        let known = XAPIVersion.allCases.map(\.rawValue).joined(separator: " and ")
        throw ValidationError("there are rules for \(known)")
    }
}

/// `player-monitor seer`: Seer's own payloads.
struct SeerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seer",
        abstract: "Checks payloads for the Seer service.",
        subcommands: [ValidateSeerCommand.self]
    )
}

struct ValidateSeerCommand: ParsableCommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable { case activity, tincan }

    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Checks payloads for Seer, one a line; ends with 1 if one is invalid.",
        discussion: Verdict.discussion
    )

    @Argument(help: "What they are: 'activity' (also instrumentation) or 'tincan'.")
    var kind: Kind

    @Argument(help: "Payloads as JSON, one a line; '-' is standard input.")
    var file: String

    @Flag(help: "Ask activities when they were published.")
    var strict = false

    func run() throws {
        let validator = SeerValidator(isStrict: strict)
        try Verdict.passAll(in: file, members: ["payload", "statement"]) { value, _, _ in
            switch kind {
            case .activity: validator.failures(inActivity: value)
            case .tincan: validator.failures(inTinCan: value)
            }
        }
    }
}

/// What is said of one line of a file.
struct Verdict {
    static let discussion = """
        Each line of the file is a value to check, or an object {"id": …, "statement": …} around it; blank lines are \
        skipped. Each gives one line of output, with tabs between its columns: the id or else the number of the line, \
        'valid' or 'invalid', and a column for each broken rule: the rule, the place, and what must be there.
        """

    static let warnings = """
        \u{20}A rule that only says SHOULD gives a column that begins with 'warning'; the statement stays valid, and the \
        exit code 0, unless --strict is given.
        """

    /// Checks a file's lines; `findings` gets the value, the name of the member that it is if it is one, and the line.
    static func passAll(
        in file: String,
        members: [String],
        isStrict: Bool = false,
        findings: (JSONValue, String?, [UInt8]) -> [ValidationFailure]
    ) throws {
        var reader = try LineReader(path: file)
        let terminal = Terminal(isQuiet: true)
        var isAllValid = true
        while let line = try reader.next() {
            if line.allSatisfy({ " \t\r".utf8.contains($0) }) { continue }
            let verdict = Verdict(on: line, reader.lineNumber, members: members, isStrict: isStrict, findings)
            isAllValid = isAllValid && verdict.isValid
            try terminal.output(verdict.text)
        }
        if !isAllValid { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private let id: String
    private let findings: [ValidationFailure]
    private let isValid: Bool

    private init(
        on line: [UInt8],
        _ number: Int,
        members: [String],
        isStrict: Bool,
        _ findings: (JSONValue, String?, [UInt8]) -> [ValidationFailure]
    ) {
        do {
            let value = try JSONValue(parsing: line)
            let member = members.first { value["actor"] == nil && value["verb"] == nil && value[$0] != nil }
            id = Self.id(of: value) ?? String(number)
            self.findings = findings(member.flatMap { value[$0] } ?? value, member, line)
        } catch {
            id = String(number)
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

    /// An id that stays in its column.
    private static func id(of value: JSONValue) -> String? {
        if let number = value["id"]?.int { return String(number) }
        guard let text = value["id"]?.string, !text.isEmpty,
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        return text
    }
}
