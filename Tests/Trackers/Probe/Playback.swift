import Instrument
import InstrumentProbe

/// A backend that keeps its samples.
final class Recorder: Backend {
    let name: BackendName = "recorder"
    let policy = DeliveryPolicy(maxCount: 1000, maxAge: .zero)
    private let kept = Lock([Sample]())

    var events: [Event] {
        kept.withLock { samples in samples.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    }

    func deliver(_ batch: Batch) async -> DeliveryOutcome {
        kept.withLock { $0 += batch.records.map(\.sample) }
        return .acknowledged
    }
}

/// The result of a playback.
struct Played {
    var outcome: ProbeOutcome?
    var events: [Event]
    var rejected: [Action: [Rejection: Int]]

    var actions: [Action] { events.map(\.action) }
    func first(_ action: Action) -> Event? { events.first { $0.action == action } }
    func all(_ action: Action) -> [Event] { events.filter { $0.action == action } }

    /// Milliseconds on the clock at which an action first happened.
    func time(_ action: Action) -> Int64? { first(action)?.time.instant.milliseconds }
}

/// Plays as fast as possible through an instrument; `script` may schedule the viewer's actions on the clock.
func playThrough(
    _ path: String,
    _ configuration: ProbeConfiguration = ProbeConfiguration(),
    script: (VirtualClock, Probe) -> Void = { _, _ in }
) async -> Played {
    let clock = VirtualClock()
    let probe = Probe(MediaSource(path), configuration: configuration, clock: clock)
    let recorder = Recorder()
    let instrument = Instrument(
        hub: CoreHub(),
        metricalc: CoreMetricalc(),
        backends: [recorder],
        clock: clock,
        deliveryClock: SystemClock()
    )
    instrument.add(PlayerTracker(probe))
    instrument.ready()
    script(clock, probe)
    let outcome = probe.playThrough(advancing: clock)
    await instrument.shutdown(timeout: .seconds(1800))
    return Played(outcome: outcome, events: recorder.events, rejected: instrument.rejectedCounts)
}

extension ProbeConfiguration {
    /// The standard profile with another buffer.
    init(bufferedBy buffer: BufferPolicy) {
        self.init()
        self.buffer = buffer
    }
}

/// Schedules an action at a number of milliseconds.
extension VirtualClock {
    func at(_ milliseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        _ = schedule(at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000), action)
    }
}
