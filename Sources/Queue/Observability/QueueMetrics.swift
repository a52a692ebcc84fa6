public import CoreMetrics
public import Instrument

/// Exports the ledgers and diagnostics of a queue through swift-metrics.
///
/// ```swift
/// let metrics = QueueMetrics()
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], onDiagnostic: { metrics.count($0) })
/// …
/// metrics.record(instrument.queue)   // now and then, or when asked for
/// ```
///
/// | label | type | dimensions |
/// |---|---|---|
/// | `instrument_queue_samples` | gauge | `backend`, `state`: `queued` or `dead` |
/// | `instrument_queue_samples_total` | counter | `backend`, `state`: `emitted` or `acknowledged` |
/// | `instrument_queue_dropped_total` | counter | `backend`, `reason` |
/// | `instrument_diagnostics_total` | counter | `kind`, and `backend` where there is one |
///
/// Counters begin with the ledger's values at the first recording. Safe from any thread.
public final class QueueMetrics: Sendable {
    private struct Key: Hashable {
        let label: String
        let dimensions: [String]
    }

    private struct State {
        var counters: [Key: Counter] = [:]
        var gauges: [Key: Gauge] = [:]
        /// The latest value of each counter.
        var totals: [Key: Int] = [:]
    }

    private let factory: any MetricsFactory
    private let state = Lock(State())

    /// Creates metrics in `factory`; by default the factory of the process.
    public init(factory: (any MetricsFactory)? = nil) { self.factory = factory ?? MetricsSystem.factory }

    /// Updates the metrics from the queue's ledgers.
    public func record(_ queue: BatchQueue) {
        for (backend, ledger) in queue.ledger { record(ledger, of: backend) }
    }

    /// Counts a diagnostic.
    public func count(_ diagnostic: Diagnostic) {
        var dimensions = [("kind", diagnostic.kind.description)]
        if let backend = diagnostic.backend { dimensions.append(("backend", backend.description)) }
        state.withLock { state in
            counter("instrument_diagnostics_total", dimensions, in: &state).increment()
        }
    }

    private func record(_ ledger: Ledger, of backend: BackendName) {
        let name = ("backend", backend.description)
        state.withLock { state in
            for (label, value) in [("queued", ledger.queued), ("dead", ledger.dead)] {
                gauge("instrument_queue_samples", [name, ("state", label)], in: &state).record(value)
            }
            for (label, value) in [("emitted", ledger.emitted), ("acknowledged", ledger.acknowledged)] {
                raise("instrument_queue_samples_total", [name, ("state", label)], to: value, in: &state)
            }
            for (reason, value) in ledger.drops {
                raise("instrument_queue_dropped_total", [name, ("reason", reason.rawValue)], to: value, in: &state)
            }
        }
    }

    private func raise(_ label: String, _ dimensions: [(String, String)], to total: Int, in state: inout State) {
        let key = Self.key(label, dimensions)
        let growth = total - (state.totals[key] ?? 0)
        state.totals[key] = total
        // A new store counts from zero again.
        if growth > 0 { counter(label, dimensions, in: &state).increment(by: growth) }
    }

    private func counter(_ label: String, _ dimensions: [(String, String)], in state: inout State) -> Counter {
        let key = Self.key(label, dimensions)
        if let known = state.counters[key] { return known }
        let made = Counter(label: label, dimensions: dimensions, factory: factory)
        state.counters[key] = made
        return made
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)], in state: inout State) -> Gauge {
        let key = Self.key(label, dimensions)
        if let known = state.gauges[key] { return known }
        let made = Gauge(label: label, dimensions: dimensions, factory: factory)
        state.gauges[key] = made
        return made
    }

    private static func key(_ label: String, _ dimensions: [(String, String)]) -> Key {
        Key(label: label, dimensions: dimensions.flatMap { [$0.0, $0.1] })
    }
}
