public import Instrument

/// Keeps what it is sent, and answers from a script until that is used up; then it acknowledges.
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

    /// As given.
    public let name: BackendName
    /// As given.
    public let policy: DeliveryPolicy
    private let state: Lock<State>
    private let attemptCounter = EventCounter()

    /// Creates a backend that answers its first deliveries with `script`, in order.
    public init(
        _ name: BackendName = "collecting",
        policy: DeliveryPolicy = DeliveryPolicy(),
        script: [DeliveryOutcome] = []
    ) {
        self.name = name
        self.policy = policy
        state = Lock(State(script: script))
    }

    /// Every batch that was offered, whatever the answer.
    public var attempts: [Batch] { state.withLock { $0.attempts } }
    /// Returns once at least `count` batches were offered, without polling; returns early if the current task is cancelled.
    public func waitForAttempts(_ count: Int) async { await attemptCounter.wait(for: count) }
    /// The batches that were acknowledged.
    public var batches: [Batch] { state.withLock { $0.batches } }
    /// The samples that were acknowledged, in order.
    public var samples: [Sample] { batches.flatMap(\.records).map(\.sample) }
    /// The events that were acknowledged, in order.
    public var events: [Event] { samples.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    /// The metrics that were acknowledged, in order.
    public var metrics: [Metric] { samples.compactMap { if case .metric(let metric) = $0 { metric } else { nil } } }
    /// Whether it was told that the instrument is ready.
    public var isReady: Bool { state.withLock { $0.isReady } }
    /// Whether it was told that its service ended.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Takes the batch, unless the script says otherwise.
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
