import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// The claims of the BOLA paper, tested on constructed networks.
@Suite("BOLA's published behaviour")
struct PublishedBehaviourTests {
    private static let utilities = bunny.map { log(Double($0.peakBitrate) / 230_000) }
    private static let media = SegmentedMedia(ladder: bunny, segmentDuration: .seconds(3), count: 60)

    private func player(_ rule: any AdaptationRule) -> PlayerProfile {
        var player = PlayerProfile.standard
        player.rule = rule
        player.buffer = BufferPolicy(startThreshold: .seconds(3), resumeThreshold: .seconds(3), maximum: .seconds(25))
        (player.start, player.segmentUse) = (.lowest, .complete)
        return player
    }

    /// Random networks in periods of up to 10 s.
    private static func network(seed: Int, atLeast kilobits: Int, latency: Int) throws -> BandwidthTrace {
        var random = SeededGenerator(seed: UInt64(seed))
        let periods = (0..<40).map { _ in
            BandwidthTrace.Period(
                duration: .seconds(Int.random(in: 2...10, using: &random)),
                bitrate: 1000 * Int.random(in: kilobits...7000, using: &random),
                latency: .milliseconds(latency)
            )
        }
        return try BandwidthTrace(name: "random", periods: periods)
    }

    @Test("BOLA-BASIC never stalls where the network carries each rung within its threshold")
    func noStall() throws {
        // A rung S is fetched from its threshold Q on only, and is there in time if 3 s × S ÷ Q is carried: at most
        // 6000 × 3 ÷ 19.0945 = 943 kbit/s, for the highest rung.
        for seed in 0..<Rounds.of(60) {
            let trace = try Self.network(seed: seed, atLeast: 943, latency: 0)
            let rule = BOLARule(variant: .finite, adjustsToLength: false)
            let result = AdaptationSimulation(media: Self.media, trace: trace, profile: player(rule)).run()
            #expect(result.stalls.isEmpty, "seed \(seed)")
            #expect(result.segments.allSatisfy { $0.levelAfter <= .seconds(25) })
        }
    }

    @Test(
        "BOLA is near the offline optimum, and not above it",
        arguments: [
            BOLARule(variant: .finite, adjustsToLength: false), BOLARule(variant: .finite), BOLARule(variant: .utility),
            BOLARule(),
        ]
    )
    func nearOptimum(rule: BOLARule) throws {
        var reached = 0.0
        var possible = 0.0
        var stalled = Duration.zero
        for seed in 0..<12 {
            let trace = try Self.network(seed: seed, atLeast: 943, latency: 0)
            let optimum = OfflineOptimum(
                media: Self.media,
                trace: trace,
                grid: 200_000_000,
                room: 22_000_000_000,
                utilities: Self.utilities
            ).sum()
            let result = AdaptationSimulation(media: Self.media, trace: trace, profile: player(rule)).run()
            let sum = result.averageUtility(lowest: 230_000) * Double(result.segments.count)
            if result.stalls.isEmpty { #expect(sum <= optimum, "seed \(seed)") }
            reached += sum
            possible += optimum
            stalled += result.rebufferingTime
        }
        // Measured: BASIC 0.883 without a stall; FINITE 0.917, U 0.926 and O 0.911 with stalls of 0.6, 0.1 and 0.3 %.
        #expect(reached / possible > (rule.adjustsToLength ? 0.9 : 0.87))
        #expect(stalled < (rule.adjustsToLength ? .seconds(22) : .nanoseconds(1)))
    }

    @Test(
        "On a steady network, the bitrate is near the bandwidth",
        arguments: [500, 1000, 1700, 2500, 4000]
    )
    func steady(kilobits: Int) throws {
        let period = BandwidthTrace.Period(duration: .seconds(100), bitrate: kilobits * 1000)
        let trace = try BandwidthTrace(name: "steady", periods: [period])
        let result = AdaptationSimulation(
            media: .bigBuckBunny,
            trace: trace,
            profile: player(BOLARule(variant: .finite, adjustsToLength: false))
        ).run()
        let share = result.averageBitrate / Double(kilobits * 1000)
        #expect(result.stalls.isEmpty && share > 0.9 && share <= 1)
    }

    @Test("BOLA-O changes less often than BOLA-FINITE, and BOLA-E starts higher")
    func oscillation() throws {
        let trace = try BandwidthTrace(
            name: "steady",
            periods: [BandwidthTrace.Period(duration: .seconds(100), bitrate: 1_200_000)]
        )
        func run(_ rule: any AdaptationRule) -> AdaptationResult {
            AdaptationSimulation(media: .bigBuckBunny, trace: trace, profile: player(rule)).run()
        }
        let (finite, calm) = (run(BOLARule(variant: .finite)), run(BOLARule(variant: .oscillation)))
        #expect(calm.switches * 2 < finite.switches)
        let enhanced = run(BOLAEnhancedRule.sabre)
        let early = { (result: AdaptationResult) in result.segments.prefix(8).reduce(0) { $0 + $1.bitrate } }
        #expect(early(enhanced) > early(calm))
        #expect(enhanced.stalls.isEmpty)
    }
}
