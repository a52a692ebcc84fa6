public import Instrument

/// A backend that keeps its batches and returns the outcomes of a script, then acknowledges every batch.
///
/// ```swift
/// let backend = CollectingBackend()
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], clock: VirtualClock())
/// …
/// await instrument.queue.flush(timeout: .seconds(1))
/// #expect(backend.events.map(\.action) == [.start, .end])
/// ```
public final class CollectingBackend: Backend {
    private struct State {
        var script: [DeliveryOutcome]
        var attempts: [Batch] = []
        var batches: [Batch] = []
        var isReady = false
        var hasEnded = false
    }

    /// The value from the initializer.
    public let name: BackendName
    /// The value from the initializer.
    public let policy: DeliveryPolicy
    private let state: Lock<State>
    private let attemptCounter = EventCounter()

    /// Creates a backend that returns the outcomes in `script` for its first deliveries, in order.
    public init(
        _ name: BackendName = "collecting",
        policy: DeliveryPolicy = DeliveryPolicy(),
        script: [DeliveryOutcome] = []
    ) {
        self.name = name
        self.policy = policy
        state = Lock(State(script: script))
    }

    /// Every delivered batch, with any outcome.
    public var attempts: [Batch] { state.withLock { $0.attempts } }
    /// Returns once at least `count` batches were delivered, without polling; returns early if the current task
    /// is cancelled.
    public func waitForAttempts(_ count: Int) async { await attemptCounter.wait(for: count) }
    /// The batches that were acknowledged.
    public var batches: [Batch] { state.withLock { $0.batches } }
    /// The samples that were acknowledged, in order.
    public var samples: [Sample] { batches.flatMap(\.records).map(\.sample) }
    /// The events that were acknowledged, in order.
    public var events: [Event] { samples.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    /// The metrics that were acknowledged, in order.
    public var metrics: [Metric] { samples.compactMap { if case .metric(let metric) = $0 { metric } else { nil } } }
    /// Whether the instrument has called `instrumentReady`.
    public var isReady: Bool { state.withLock { $0.isReady } }
    /// Whether the instrument has ended the backend's service.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Acknowledges the batch, unless the script has another outcome.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        defer { attemptCounter.increment() }
        return state.withLock { state in
            state.attempts.append(batch)
            let outcome = state.script.isEmpty ? .acknowledged : state.script.removeFirst()
            if outcome == .acknowledged { state.batches.append(batch) }
            return outcome
        }
    }

    /// Remembers it.
    public func ready() { state.withLock { $0.isReady = true } }

    /// Remembers it.
    public func end() async { state.withLock { $0.hasEnded = true } }
}
