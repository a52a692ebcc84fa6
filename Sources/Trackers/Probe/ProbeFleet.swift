public import Instrument

/// Many probes in one process: starts them one after another, and waits for all of them.
///
/// Probes of streams have no thread: they work on the thread of the shared transport and on those of Swift's pool, when
/// bytes arrive and deadlines come. A probe that fails or hangs does not affect the others. A probe of progressive
/// media has a dedicated thread while it plays.
///
/// ```swift
/// let fleet = ProbeFleet(probes, spacing: .milliseconds(20))
/// fleet.start()
/// let outcomes = await fleet.waitUntilFinished()
/// ```
public final class ProbeFleet: Sendable {
    private struct State {
        var started = 0
        var isStopped = false
        var timer: ScheduledAction?
    }

    /// The probes, in the order in which they start.
    public let probes: [Probe]
    private let spacing: Duration
    private let clock: any SchedulingClock
    private let state = Lock(State())

    /// Creates a fleet; ``start()`` starts its probes.
    ///
    /// - Parameters:
    ///   - probes: probes that were not started.
    ///   - spacing: the delay between two starts, so that the first requests of a thousand probes do not coincide.
    ///   - clock: schedules the starts.
    public init(_ probes: [Probe], spacing: Duration = .milliseconds(10), clock: any SchedulingClock = SystemClock()) {
        self.probes = probes
        self.spacing = max(spacing, .zero)
        self.clock = clock
    }

    /// Starts the first probe at once, and the others one after another; returns at once. A second call does nothing.
    public func start() {
        guard state.withLock({ $0.started == 0 && !$0.isStopped }) else { return }
        startNext(at: clock.now)
    }

    /// Stops all probes, including those that have not started.
    public func stop() {
        let timer = state.withLock { state in
            state.isStopped = true
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
        for probe in probes { probe.stop() }
    }

    /// Waits until all probes have ended.
    ///
    /// - Returns: the outcomes in the order of the probes. If the current task is cancelled before, the method returns
    ///   at once, with nil for each probe that has not ended; those probes continue to play: call ``stop()`` to end
    ///   them.
    public func waitUntilFinished() async -> [ProbeOutcome?] {
        var outcomes: [ProbeOutcome?] = []
        for probe in probes { outcomes.append(await probe.waitUntilFinished()) }
        return outcomes
    }

    /// Each start has a fixed instant, so that a late start does not delay the others.
    private func startNext(at instant: MonotonicInstant) {
        let probe: Probe? = state.withLock { state in
            guard !state.isStopped, state.started < probes.count else { return nil }
            defer { state.started += 1 }
            return probes[state.started]
        }
        guard let probe else { return }
        probe.play()
        let next = instant.advanced(by: spacing)
        let timer = clock.schedule(at: next) { [weak self] in self?.startNext(at: next) }
        state.withLock { $0.timer = timer }
    }
}
