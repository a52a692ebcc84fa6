internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentMonitor
internal import InstrumentMonitorRuntime
internal import InstrumentWatch

/// The chain of all sessions with its backends, and the queue of messages about alerts with its receivers.
///
/// The messages have a separate queue: a receiver that does not answer keeps its messages, and not the samples of all
/// streams.
struct WatchDelivery {
    let instrument: Instrument
    let alerts: BatchQueue
    /// Takes the messages.
    let sink: QueueSink
    private let stores: [DurableStore]
    private let watches: [DeliveryWatch]
    private let log: WatchLog

    /// Exits with code 2 if a backend, a receiver or the directory of the state cannot be used.
    init(
        _ configuration: WatchConfiguration,
        _ factory: WatchBackends,
        _ taps: SessionTaps,
        _ identities: StreamIdentities,
        log: WatchLog,
        clock: SystemClock
    ) throws {
        let (backends, receivers): ([any Backend], [any Backend])
        do throws(WatchSetupError) {
            (backends, receivers) = (try factory.backends(of: configuration), try factory.receivers(of: configuration))
        } catch {
            throw ValidationError(error.description)
        }
        let samples = try Self.makeStore(factory.state.map { $0 + "/queue" }, log)
        let watch = DeliveryWatch(backends, in: samples.store, queue: factory.state.map { $0 + "/queue" })
        instrument = Instrument(
            hub: MonitorHub(identities),
            metricalc: TappedMetricalc(taps),
            backends: backends,
            store: samples.store,
            clock: clock,
            privacy: PrivacyRules(declaring: .monitor.merging(.monitorAlerts)),
            onDiagnostic: { diagnostic in
                watch.note(diagnostic)
                log.warning(diagnostic)
            }
        )
        let messageQueue = factory.state.map { $0 + "/alerts" }
        let messages = try Self.makeStore(messageQueue, log)
        let messageWatch = DeliveryWatch(receivers, in: messages.store, queue: messageQueue, of: .messages)
        alerts = BatchQueue(store: messages.store, backends: receivers, clock: clock) { diagnostic in
            messageWatch.note(diagnostic)
            log.warning(diagnostic)
        }
        sink = QueueSink(alerts, clock: clock) { log.event("alert \($0.line)") }
        stores = [samples.durable, messages.durable].compactMap(\.self)
        watches = [watch, messageWatch]
        self.log = log
    }

    /// Where the samples and messages of all backends and receivers are.
    var ledgers: [(name: String, ledger: Ledger)] {
        let all = instrument.queue.ledger.merging(alerts.ledger) { first, _ in first }
        return all.map { ($0.key.description, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// Delivers what is queued, and notes what was not delivered; true if everything was.
    func shutdown(timeout: Duration) async -> Bool {
        sink.retry()
        let unqueued = sink.unqueued
        if let unqueued { log.warning(unqueued) }
        async let messages = alerts.shutdown(timeout: timeout)
        await instrument.shutdown(timeout: timeout)
        _ = await messages
        let isDelivered = watches.map { log.terminal.noteUndelivered($0) }
        for store in stores { store.close() }
        return unqueued == nil && !isDelivered.contains(false)
    }

    private static func makeStore(
        _ directory: String?,
        _ log: WatchLog
    ) throws -> (store: any SampleStore, durable: DurableStore?) {
        guard let directory else { return (InMemoryStore(), nil) }
        do {
            let store = try DurableStore(directory: directory) { log.warning($0) }
            return (store, store)
        } catch { throw ValidationError("--state: \(error)") }
    }
}
