internal import ArgumentParser
internal import Instrument
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// `player-monitor queue consent`: shows or changes the consent that a queue's directory is under.
struct ConsentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consent",
        abstract: "Shows or changes the consent that the queue is under.",
        discussion: """
            granted: samples are collected and sent. pending: samples are collected and held. denied: nothing is collected, \
            and what was held is erased. The queue keeps its consent, whoever opens it next, until it is changed.
            """
    )

    @OptionGroup var options: QueueCommand.Options

    @Argument(
        help: "The new consent: \(Consent.allCases.map(\.rawValue).joined(separator: ", ")).",
        transform: { text in
            guard let consent = Consent(rawValue: text) else {
                throw ValidationError("'\(text)' is no consent; write granted, pending or denied")
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

    /// Says why nothing is sent, and how to change it.
    static func notice(_ consent: Consent, _ directory: String) -> TerminalText {
        """
        player-monitor: the consent for \(directory) is \(consent): nothing is sent. Change it with \
        'player-monitor queue consent \(directory) granted'.

        """
    }
}
