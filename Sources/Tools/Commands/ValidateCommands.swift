internal import ArgumentParser
internal import InstrumentJSON
internal import InstrumentSeer
internal import InstrumentTerminal
internal import InstrumentXAPI

/// `player-monitor xapi`: learning records.
struct XAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "xapi",
        abstract: "Validate learning records (xAPI statements).",
        subcommands: [ValidateXAPICommand.self]
    )
}

struct ValidateXAPICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Validate xAPI statements, one per line; exit code 1 if any statement is invalid.",
        discussion: Verdict.discussion
            + " The answer of a learning record store, an object with the member 'statements', is read like an array."
            + Verdict.warnings
    )

    @Argument(help: "File of JSON statements, one per line; '-' reads standard input.")
    var file: String

    @Option(
        name: .customLong("xapi-version"),
        help: "xAPI version whose rules apply: 1.0.3 (default) or 2.0.0.",
        transform: Self.version
    )
    var version: XAPIVersion = .v1

    @Flag(help: "Treat warnings as errors: a statement with a warning is invalid.")
    var strict = false

    @Option(help: Verdict.formatHelp)
    var format = Verdict.Format.text

    func run() throws {
        let validator = StatementValidator(version: version)
        try Verdict.printAll(
            in: file,
            members: ["statement"],
            list: "statements",
            isStrict: strict,
            format: format,
            accept: { validator.acceptedID(inJSON: $0) }
        ) { value, line in
            return validator.findings(
                in: value,
                member: line.member,
                of: line.bytes,
                hasRepeatedNames: line.hasRepeatedNames
            )
        }
    }
}

extension ValidateXAPICommand {
    private static func version(_ text: String) throws -> XAPIVersion {
        if let version = XAPIVersion(rawValue: text) { return version }
        let known = XAPIVersion.allCases.map(\.rawValue).joined(separator: " or ")
        throw ValidationError("--xapi-version must be \(known) (found '\(text)')")
    }
}

/// `player-monitor seer`: payloads of the Seer service.
struct SeerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seer",
        abstract: "Validate payloads for the Seer service.",
        subcommands: [ValidateSeerCommand.self]
    )
}

struct ValidateSeerCommand: ParsableCommand {
    enum Kind: String, ExpressibleByArgument, CaseIterable { case activity, tincan }

    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Validate payloads for Seer, one per line; exit code 1 if any payload is invalid.",
        discussion: Verdict.discussion
    )

    @Argument(help: "Kind of payload: 'activity' (also for instrumentation) or 'tincan'.")
    var kind: Kind

    @Argument(help: "File of JSON payloads, one per line; '-' reads standard input.")
    var file: String

    @Flag(help: "Require 'published' on every activity.")
    var strict = false

    @Option(help: Verdict.formatHelp)
    var format = Verdict.Format.text

    func run() throws {
        let validator = SeerValidator(isStrict: strict)
        try Verdict.printAll(in: file, members: ["payload", "statement"], format: format) { value, _ in
            switch kind {
            case .activity: validator.failures(inActivity: value)
            case .tincan: validator.failures(inTinCan: value)
            }
        }
    }
}
