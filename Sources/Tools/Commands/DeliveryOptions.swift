internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// The backends and the queue, the same for every player.
struct DeliveryOptions: ParsableArguments {
    @Option(name: .customLong("backend"), help: BackendOption.help, transform: BackendOption.read)
    var backends: [BackendOption] = []

    @OptionGroup var services: ServiceOptions

    @Option(
        help: """
            Directory of a durable queue: samples that were not delivered, even by a process that was killed, are delivered by \
            the next run with the same directory and backends.
            """
    )
    var queue: String?

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
        let chosen = backends.isEmpty ? [.console] : backends
        if chosen.contains(.console), chosen.contains(.json) {
            throw ValidationError("the backends console and json both write to standard output; choose one")
        }
        if Set(chosen).count < chosen.count {
            throw ValidationError("a backend must be given only once (found the same backend twice)")
        }
        return try BackendOption.make(chosen, terminal, services, queue: queue)
    }
}
