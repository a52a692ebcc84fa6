internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// The chain of a run that measures players from outside, with its store, backends and summary: from the first event to
/// the delivery of the last sample.
struct MeasuringChain {
    /// The limit for the delivery of the remaining samples at the end.
    private static var shutdownTimeout: Duration { .seconds(10) }

    let instrument: Instrument
    let summary = Summary()
    let watch: DeliveryWatch
    let clock = SystemClock()
    private let durable: DurableStore?
    private let store: any SampleStore
    private let terminal: Terminal

    /// Creates the chain; ``close()`` closes its store.
    ///
    /// - Parameter withAds: whether the players report ads.
    init(_ delivery: DeliveryOptions, _ terminal: Terminal, withAds: Bool = false) throws {
        self.terminal = terminal
        durable = try delivery.makeStore(terminal)
        let backends: [any Backend]
        do { backends = try delivery.makeBackends(terminal) } catch {
            durable?.close()
            throw error
        }
        store = durable ?? InMemoryStore()
        watch = DeliveryWatch(backends, in: store, queue: delivery.queue)
        instrument = Instrument(
            to: backends,
            summedUpBy: summary,
            store: store,
            clock: clock,
            deliveringBy: clock,
            terminal: terminal,
            watch: watch,
            labels: delivery.labels,
            withAds: withAds
        )
    }

    /// Begins to measure. `stop` ends the run: a signal asks for it, or nobody reads the output any more.
    func begin(stoppingWith stop: @escaping @Sendable () -> Void) {
        instrument.ready()
        StopSignals.report { stop() }
        terminal.whenOutputCloses { stop() }
    }

    /// Shows the progress until the task is cancelled; nil on a terminal that shows none.
    func showProgress(_ text: @escaping @Sendable () -> TerminalText) -> Task<Void, Never>? {
        guard terminal.canShowProgress else { return nil }
        let terminal = terminal
        return Task {
            while !Task.isCancelled {
                terminal.show(progress: text())
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Delivers what is left.
    func finish() async {
        terminal.show(progress: "")
        await instrument.shutdown(timeout: Self.shutdownTimeout)
        store.forget(summary.name)
    }

    /// Closes the store, after the last look at what was delivered.
    func close() { durable?.close() }
}
