internal import ArgumentParser
internal import InstrumentCMCD
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentTerminal

/// `player-monitor cmcd`: Common Media Client Data.
struct CMCDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cmcd",
        abstract: "Validate Common Media Client Data (CMCD, CTA-5004-B).",
        subcommands: [ValidateCMCDCommand.self]
    )
}

struct ValidateCMCDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Validate the CMCD in a log or in event reports; exit code 1 if any report is invalid.",
        discussion: """
            A line of the file is one of these: a line of an access log, with the parameter CMCD in the query of an address; a header \
            field, such as 'CMCD-Request: bl=(3000;v)', where fields in a row belong to one request; a record of an event report, such \
            as 'e=ps,sta=p,ts=1767225600000,v=2'. Other lines are skipped. Each report gives one line of output, with columns \
            separated by tabs: the line number, 'query', 'header' or 'event', 'valid' or 'invalid', and one column per broken rule: the \
            rule, the key, and a message with the expected and the found value. The column of a rule that a report should keep, and \
            need not, begins with 'warning'; warnings leave a report valid, unless --strict is given. A report without the key 'v' is \
            checked by the rules of version 1 (CTA-5004).
            """
    )

    @Argument(help: "File of lines; '-' reads standard input.")
    var file: String

    @Option(
        help: """
            Output format: 'text' for columns, 'json' for one JSON object per line with line, mode, valid and findings (rule, key, \
            message, found, severity).
            """
    )
    var format = Verdict.Format.text

    @Flag(help: "Treat warnings as errors.")
    var strict = false

    func run() throws {
        var lines = try LineReader(path: file)
        let terminal = Terminal(isQuiet: true)
        var reader = CMCDLogReader()
        var (count, isAllValid) = (0, true)
        func show(_ verdicts: [CMCDLogReader.Verdict]) throws {
            for verdict in verdicts {
                count += 1
                let isValid = strict ? verdict.findings.isEmpty : verdict.isValid
                isAllValid = isAllValid && isValid
                switch format {
                case .text: try terminal.output(Self.text(verdict, isValid: isValid))
                case .json: try terminal.output(json: Self.json(verdict, isValid: isValid).bytes)
                }
            }
        }
        while let line = try lines.next() { try show(reader.read(String(decoding: line, as: UTF8.self))) }
        try show(reader.finish())
        if count == 0 {
            writeToStandardError(
                "player-monitor: found no CMCD; the file must have addresses with the parameter CMCD, header fields or event reports\n"
            )
        }
        if !isAllValid || count == 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private static func text(_ verdict: CMCDLogReader.Verdict, isValid: Bool) -> TerminalText {
        let columns = verdict.findings.map { finding -> TerminalText in
            let mark = finding.severity == .warning ? "warning " : ""
            return "\(mark)\(finding.rule) \(finding.key ?? "-") \(finding.message) (found '\(finding.found)')"
        }
        let head: [TerminalText] = [
            "\(verdict.line)", "\(verdict.mode.rawValue)", isValid ? "valid" : "invalid",
        ]
        return (head + columns).joined(separator: "\t") + "\n"
    }

    private static func json(_ verdict: CMCDLogReader.Verdict, isValid: Bool) -> JSONValue {
        let findings = verdict.findings.map { finding -> JSONValue in
            [
                "rule": .string(finding.rule.description), "key": finding.key.map { .string($0) } ?? .null,
                "message": .string(finding.message), "found": .string(finding.found),
                "severity": .string(finding.severity.rawValue),
            ]
        }
        return [
            "line": .int(verdict.line), "mode": .string(verdict.mode.rawValue),
            "valid": .bool(isValid), "findings": .array(findings),
        ]
    }
}
