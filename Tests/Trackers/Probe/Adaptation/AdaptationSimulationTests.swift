import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentProbe

private func profile(
    _ rule: any AdaptationRule,
    _ policy: BufferPolicy = .standard,
    use: PlayerProfile.SegmentUse = .complete
) -> PlayerProfile {
    var profile = PlayerProfile.standard
    (profile.rule, profile.buffer, profile.segmentUse) = (rule, policy, use)
    return profile
}

private func trace(_ periods: [(Int, Int)], latency: Int = 0) throws -> BandwidthTrace {
    try BandwidthTrace(
        name: "test",
        periods: periods.map {
            BandwidthTrace.Period(
                duration: .milliseconds($0.0),
                bitrate: $0.1 * 1000,
                latency: .milliseconds(latency)
            )
        }
    )
}

@Suite("Adaptation simulation")
struct AdaptationSimulationTests {
    private let ladder = BitrateLadder(LadderRung(peakBitrate: 1_000_000), LadderRung(peakBitrate: 2_000_000))

    @Test("The simulation agrees with a session computed by hand: start, one stall, switches, end")
    func byHand() throws {
        // 2 s segments of 1 and 2 Mbit/s over 2 Mbit/s that falls to 0.5 after 3 s, 100 ms to each first byte.
        let media = SegmentedMedia(ladder: ladder, segmentDuration: .seconds(2), count: 4)
        let network = try trace([(3000, 2000), (60_000, 500)], latency: 100)
        let policy = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(2), maximum: .seconds(30))
        let rule = ScriptedRule(rungs: [0, 1, 0, 0], waits: [nil, nil, nil, nil])
        let result = AdaptationSimulation(media: media, trace: network, profile: profile(rule, policy)).run()
        // Segment 0: 0.1 + 1 s. Segment 1 from 1.1 on: first byte 1.2, 1.8 s × 2 Mbit/s = 3.6 Mbit by 3 s, then 0.4
        // Mbit in 0.8 s: 3.8 s. Played from 1.1 on, so dry at 3.1 and back at 3.8. Segment 2: 3.9 + 4 s = 7.9 s; dry at
        // 5.8. Segment 3: 8 + 4 s = 12 s; dry at 9.9; then 2 s more.
        #expect(result.startTime == .milliseconds(1100))
        #expect(result.segments.map(\.arrived) == [1100, 3800, 7900, 12_000].map { .milliseconds($0) })
        #expect(
            result.stalls == [
                AdaptationResult.Stall(start: .milliseconds(3100), duration: .milliseconds(700), position: .seconds(2)),
                AdaptationResult.Stall(
                    start: .milliseconds(5800),
                    duration: .milliseconds(2100),
                    position: .seconds(4)
                ),
                AdaptationResult.Stall(
                    start: .milliseconds(9900),
                    duration: .milliseconds(2100),
                    position: .seconds(6)
                ),
            ]
        )
        #expect(result.totalTime == .seconds(14))
        #expect(result.switches == 2)
        #expect(result.averageBitrate == 1_250_000)
        #expect(result.rebufferingTime == .milliseconds(4900))
        // (5 − 2 − 3 × 4.9 − 3 × 1.1) ÷ 4.
        #expect(abs(QualityScore.balanced.score(of: result, lowest: 1_000_000) + 3.75) < 1e-9)
    }

    @Test("Playback starts earlier when segments are playable as they arrive")
    func progressive() throws {
        let media = SegmentedMedia(ladder: ladder, segmentDuration: .seconds(4), count: 2)
        let network = try trace([(60_000, 2000)])
        let policy = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(30))
        let result = AdaptationSimulation(
            media: media,
            trace: network,
            profile: profile(FixedRule(.lowest), policy, use: .progressive)
        ).run()
        // 1 s of 1 Mbit/s over 2 Mbit/s.
        #expect(result.startTime == .milliseconds(500))
        #expect(result.totalTime == .milliseconds(8500))
    }

    @Test("Fetching pauses at the maximum buffer level, and while the rule requests it")
    func full() throws {
        let media = SegmentedMedia(ladder: ladder, segmentDuration: .seconds(2), count: 6)
        let network = try trace([(60_000, 4000)])
        let policy = BufferPolicy(startThreshold: .seconds(2), resumeThreshold: .seconds(2), maximum: .seconds(4))
        let script = ScriptedRule(rungs: [0, 0, 0, 0, 0, 0], waits: [nil, nil, nil, nil, .seconds(1), nil])
        let result = AdaptationSimulation(media: media, trace: network, profile: profile(script, policy)).run()
        // Half a second each; the maximum is reached with segment 2, at 2 + 2 − 0.5 + 2 − 0.5 = 5.
        #expect(result.segments[3].requested == .milliseconds(2500))
        #expect(result.segments[3].levelBefore == .seconds(4))
        #expect(result.segments[4].levelBefore == .seconds(1))
        #expect(result.stalls.isEmpty)
    }

    @Test("An aborted download is repeated at a lower rung, and its bytes count as wasted")
    func abandoning() throws {
        let media = SegmentedMedia(ladder: ladder, segmentDuration: .seconds(2), count: 3)
        // Enough for one segment, then 200 kbit/s.
        let network = try trace([(2000, 2000), (600_000, 200)])
        var rule = ThroughputRule(fraction: 0.9, abandonment: .sabre)
        rule.estimator = ThroughputEstimator(.mean(last: 1))
        var player = profile(rule)
        player.start = .highest
        let result = AdaptationSimulation(media: media, trace: network, profile: player).run()
        // Segment 1 at 2 s: 0.9 × 2 Mbit/s allows the lower rung only, which is never aborted.
        #expect(result.segments.map(\.rung) == [1, 0, 0])
        #expect(result.abandonedDownloads == 0)

        rule.fraction = 1
        player.rule = rule
        let second = AdaptationSimulation(media: media, trace: network, profile: player).run()
        #expect(second.segments.map(\.rung) == [1, 0, 0])
        #expect(second.segments.map(\.abandonedDownloads) == [0, 1, 0])
        // Aborted after the grace of 500 ms: 0.5 s × 200 kbit/s.
        #expect(second.wastedBytes == 12_500)
    }

    @Test("The simulation ends the waits of a rule that requests one wait after another")
    func stubborn() throws {
        struct Stubborn: AdaptationRule {
            mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
                AdaptationDecision(rung: 99, waitUntilBuffered: context.bufferLevel - .nanoseconds(1))
            }
        }
        let media = SegmentedMedia(ladder: ladder, segmentDuration: .seconds(2), count: 3)
        let result = AdaptationSimulation(media: media, trace: try trace([(1000, 8000)]), profile: profile(Stubborn()))
            .run()
        #expect(result.segments.map(\.rung) == [1, 1, 1])
    }

    @Test(
        "The simulation ends without segments, and with a network that takes centuries",
        arguments: PlayerProfile.named
    )
    func absurd(player: PlayerProfile) throws {
        let nothing = SegmentedMedia(ladder: ladder, segmentDuration: .seconds(2), count: 0)
        let empty = AdaptationSimulation(media: nothing, trace: try trace([(1, 1)]), profile: player).run()
        #expect(empty.startTime == nil && empty.totalTime == .zero && empty.averageBitrate == 0)
        #expect(QualityScore.balanced.score(of: empty, lowest: 0) == 0)
        let huge = SegmentedMedia(ladder: ladder, durations: [.seconds(1)], sizes: [[.max, .max]])
        let slow = try BandwidthTrace(name: "slow", periods: [BandwidthTrace.Period(duration: .seconds(1), bitrate: 1)])
        let result = AdaptationSimulation(media: huge, trace: slow, profile: player).run()
        #expect(result.segments.count == 1)
    }

    @Test("The simulation agrees with an independent computation to the nanosecond", arguments: 0..<300)
    func property(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let rungs = (0..<Int.random(in: 1...5, using: &random)).map { index in
            LadderRung(peakBitrate: 100_000 * (index + 1) + Int.random(in: 0..<99_999, using: &random))
        }
        let ladder = try #require(BitrateLadder(rungs))
        let count = Int.random(in: 1...25, using: &random)
        let durations = (0..<count).map { _ in
            Duration.nanoseconds(Int64.random(in: 400_000_000...6_000_000_000, using: &random))
        }
        let sizes = durations.map { duration in
            rungs.map {
                Int64(Double($0.peakBitrate) * duration.seconds / 8 * Double.random(in: 0.3...1.7, using: &random))
            }
        }
        let media = SegmentedMedia(ladder: ladder, durations: durations, sizes: sizes)
        var periods = (0..<Int.random(in: 1...12, using: &random)).map { _ in
            BandwidthTrace.Period(
                duration: .nanoseconds(Int64.random(in: 1...9_000_000_000, using: &random)),
                bitrate: Int.random(in: 0...4, using: &random) == 0 ? 0 : Int.random(in: 1...900_000, using: &random),
                latency: .nanoseconds(Int64.random(in: 0...400_000_000, using: &random))
            )
        }
        periods.append(BandwidthTrace.Period(duration: .seconds(3), bitrate: 300_007, latency: .milliseconds(20)))
        let network = try BandwidthTrace(name: "random", periods: periods)
        let policy = BufferPolicy(
            startThreshold: .milliseconds(Int.random(in: 0...7000, using: &random)),
            resumeThreshold: .milliseconds(Int.random(in: 0...7000, using: &random)),
            maximum: .milliseconds(Int.random(in: 7000...20_000, using: &random))
        )
        let script = ScriptedRule(
            rungs: (0..<count).map { _ in Int.random(in: 0..<ladder.count, using: &random) },
            waits: (0..<count).map { _ in
                Bool.random(using: &random) ? nil : .milliseconds(Int.random(in: 1...9000, using: &random))
            }
        )
        let isProgressive = Bool.random(using: &random)
        let simulation = AdaptationSimulation(
            media: media,
            trace: network,
            profile: profile(script, policy, use: isProgressive ? .progressive : .complete)
        )
        let result = simulation.run()

        var reference = ReferencePlayer(trace: network, policy: policy)
        for (index, segment) in media.segments.enumerated() {
            reference.fetch(
                bytes: segment.sizes[script.rungs[index]],
                duration: segment.duration.nanoseconds,
                wait: script.waits[index]?.nanoseconds,
                piece: isProgressive ? 40_000_000 : segment.duration.nanoseconds
            )
        }
        reference.end()
        #expect(result.startTime?.nanoseconds == reference.start)
        #expect(result.segments.map(\.arrived.nanoseconds) == reference.arrivals)
        #expect(
            result.stalls.map {
                ReferencePlayer.Stall(
                    start: $0.start.nanoseconds,
                    duration: $0.duration.nanoseconds,
                    position: $0.position.nanoseconds
                )
            } == reference.stalls
        )
        #expect(result.totalTime.nanoseconds == reference.time)
    }
}
