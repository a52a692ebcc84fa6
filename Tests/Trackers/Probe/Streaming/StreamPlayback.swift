import Foundation
import Instrument

@testable import InstrumentProbe

extension Played {
    /// The events and their times in milliseconds, without the events of every playback.
    var story: [String] {
        let always: Set<Action> = [.trackerInit, .playerSet, .playerReady, .ping]
        return events.filter { !always.contains($0.action) }.map { "\($0.action) \($0.time.instant.milliseconds)" }
    }
}

/// Plays a stream over a computed network, in virtual time.
func playStream(
    _ path: String,
    over network: any ResourceFetcher,
    _ clock: VirtualClock,
    _ configuration: ProbeConfiguration = ProbeConfiguration(),
    until limit: Duration = .seconds(3600),
    script: (VirtualClock, Probe) -> Void = { _, _ in }
) async -> Played {
    let source = MediaSource("http://origin.example" + path)
    let engine = StreamEngine(
        source: source,
        configuration: configuration,
        fetcher: network,
        clock: clock,
        randomness: RandomSource(SystemRandomNumberGenerator())
    )
    let probe = Probe(source, engine: engine)
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
    probe.play()
    let end = clock.now.advanced(by: limit)
    while probe.outcome == nil, let next = clock.nextDeadline, next <= end { clock.advance(to: next) }
    await instrument.shutdown(timeout: .seconds(1800))
    return Played(outcome: probe.outcome, events: recorder.events, rejected: instrument.rejectedCounts)
}

/// A profile whose results can be computed by hand.
extension PlayerProfile {
    static func plain(
        start: Duration = .seconds(1),
        resume: Duration = .seconds(1),
        maximum: Duration = .seconds(30),
        use: SegmentUse = .complete,
        rule: any AdaptationRule = FixedRule(.lowest),
        retries: Int = 0,
        after: [FailureResponse] = [],
        live: LivePolicy = LivePolicy(targetLatency: .targetDurations(3))
    ) -> PlayerProfile {
        PlayerProfile(
            name: "plain",
            buffer: BufferPolicy(startThreshold: start, resumeThreshold: resume, maximum: maximum),
            rule: rule,
            start: .lowest,
            segmentUse: use,
            retry: RetryPolicy(maximumRetries: retries, backoff: .constant(.seconds(1)), stallTimeout: .seconds(5)),
            failurePlan: FailurePlan([.retry] + after),
            live: live
        )
    }
}
