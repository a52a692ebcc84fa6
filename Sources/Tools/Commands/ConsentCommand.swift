internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// `player-monitor queue consent`: shows or changes the consent of a queue's directory.
struct ConsentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consent",
        abstract: "Show or change the consent of the queue.",
        discussion: """
            granted: samples are collected and sent. pending: samples are collected and held. denied: no samples are collected, \
            and held samples are erased. The consent is stored with the queue and applies to every later run.
            """
    )

    @OptionGroup var options: QueueCommand.Options

    @Argument(
        help: "New consent: \(Consent.allCases.map(\.rawValue).joined(separator: ", ")).",
        transform: { text in
            guard let consent = Consent(rawValue: text) else {
                throw ValidationError("consent must be granted, pending or denied (found '\(text)')")
            }
            return consent
        }
    )
    var consent: Consent?

    func run() async throws {
        guard let consent else {
            try Terminal(isQuiet: true).output("\(try options.read().consent)\n")
            return
        }
        guard let store = try options.open() else { throw ExitCode(ExitStatus.failed.rawValue) }
        defer { store.close() }
        try BatchQueue(store: store).set(consent: consent)
    }

    /// The note that a queue without consent sends nothing, and how to change the consent.
    static func notice(_ consent: Consent, _ directory: String) -> TerminalText {
        """
        player-monitor: the consent of \(directory) is \(consent), so no samples are sent. Change it with \
        'player-monitor queue consent \(directory) granted'.

        """
    }
}
