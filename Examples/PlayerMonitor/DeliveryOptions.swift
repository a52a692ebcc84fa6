internal import ArgumentParser
internal import Instrument
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// Where samples go, and where they wait: the same for every player.
struct DeliveryOptions: ParsableArguments {
    @Option(name: .customLong("backend"), help: BackendOption.help)
    var backends: [BackendOption] = []

    @OptionGroup var services: ServiceOptions

    @Option(
        help: """
            Keep samples in a durable queue in this directory: what was not delivered, even if the process is killed, is \
            delivered by the next run with the same directory and backends.
            """
    )
    var queue: String?

    func makeStore(_ terminal: Terminal) throws -> DurableStore? {
        do {
            return try queue.map { directory in
                let store = try DurableStore(directory: directory) { terminal.note("player-monitor: \($0)") }
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
        let wishes = backends.isEmpty ? [.console] : backends
        if wishes.contains(.console), wishes.contains(.json) {
            throw ValidationError("console and json both write to standard output; choose one")
        }
        if Set(wishes).count < wishes.count { throw ValidationError("the same backend is given twice") }
        return try BackendOption.make(wishes, terminal, services, queue: queue)
    }
}
