internal import ArgumentParser
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// The backends and the queue, the same for every player.
struct DeliveryOptions: ParsableArguments {
    @Option(
        name: .customLong("backend"),
        help: BackendOption.help,
        completion: BackendOption.completion,
        transform: BackendOption.read
    )
    var backends: [ChosenBackend] = []

    @OptionGroup var credentials: CredentialsOptions

    @Option(
        help: """
            Directory of a durable queue: samples that were not delivered, even by a process that was killed, are delivered by \
            the next run with the same directory and backends.
            """
    )
    var queue: String?

    @OptionGroup var labels: SampleLabels

    func makeStore(_ terminal: Terminal) throws -> DurableStore? {
        do {
            return try queue.map { directory in
                let store = try DurableStore(directory: directory) { terminal.note($0) }
                if store.consent != .granted {
                    writeToStandardError(ConsentCommand.notice(store.consent, directory))
                }
                return store
            }
        } catch {
            throw ValidationError("--queue: \(error)")
        }
    }

    func makeBackends(_ terminal: Terminal) throws -> [any Backend] {
        let chosen = backends.isEmpty ? [try BackendKind.console.backend(at: nil)] : backends
        try chosen.validateOutput()
        if Set(chosen).count < chosen.count {
            throw ValidationError("a backend must be given only once (found the same backend twice)")
        }
        return try credentials.make(chosen, terminal, queue: queue)
    }
}
