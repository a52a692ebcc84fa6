import Instrument
import Testing

@testable import InstrumentProbe

@Suite("Player profiles")
struct PlayerProfileTests {
    @Test("Each profile is found by its name, and an unknown name gives nil")
    func names() {
        let names = PlayerProfile.named.map(\.name)
        #expect(
            names == ["standard", "exoplayer", "avplayer", "hlsjs", "hlsjs-no-worker", "dashjs", "shaka", "mpv"]
        )
        for profile in PlayerProfile.named { #expect(PlayerProfile(named: profile.name) == profile) }
        #expect(PlayerProfile(named: "vlc") == nil)
    }

    @Test("Profiles are compared with their rules")
    func equality() {
        var profile = PlayerProfile.hlsJS
        #expect(profile == .hlsJS)
        profile.rule = ThroughputRule.shaka
        #expect(profile != .hlsJS)
        profile.rule = FixedRule(.lowest)
        #expect(profile != .hlsJS && Set([profile, .hlsJS, .hlsJS]).count == 2)
    }

    @Test("The ExoPlayer profile retries after 0, 1 and 2 s, and more often while media is buffered")
    func exoPlayer() {
        let retry = PlayerProfile.exoPlayer[retry: .segment]
        let delays = (1...4).map { retry.retryDelay(after: .connection, failures: $0) }
        #expect(delays == [.zero, .seconds(1), .seconds(2), nil] && retry.continuesWhileBuffered)
        #expect((4...8).map { retry.delay(after: .connection, failures: $0) } == [3, 4, 5, 5, 5].map { .seconds($0) })
    }

    @Test("The hls.js profile doubles its delays, and retries timeouts immediately")
    func hlsJS() {
        let retry = PlayerProfile.hlsJS[retry: .segment]
        let delays = (1...7).map { retry.retryDelay(after: .status(503), failures: $0) }
        #expect(delays == [1, 2, 4, 8, 8, 8].map { .seconds($0) } + [nil])
        #expect((1...5).map { retry.retryDelay(after: .timeout, failures: $0) } == [.zero, .zero, .zero, .zero, nil])
        // These retries come after the other levels.
        #expect(!retry.retries(after: .status(404)) && !retry.retries(after: .connection))
        #expect(PlayerProfile.hlsJS[retry: .manifest].retryDelay(after: .status(500), failures: 2) == nil)
        #expect(PlayerProfile.hlsJS[retry: .key].retryDelay(after: .status(500), failures: 8) == .seconds(1))
    }

    @Test("A response is for the failures that its condition names")
    func conditions() {
        let failures: [RetryPolicy.Failure] = [.status(404), .status(502), .connection, .timeout]
        let holds = { (condition: FailureResponse.Condition) in failures.map(condition.holds) }
        #expect(holds(.any) == [true, true, true, true])
        #expect(holds(.exceptTimeouts) == [true, true, true, false])
        #expect(holds(.statuses([404, 500])) == [true, false, false, false])
    }

    @Test("The Shaka profile has a jitter of half the delay")
    func shaka() {
        let retry = PlayerProfile.shaka[retry: .playlist]
        let delays = [0, 0.5, 1].map { retry.retryDelay(after: .timeout, failures: 1, randomness: $0) }
        #expect(delays == [.milliseconds(500), .seconds(1), .milliseconds(1500)])
        // lib/net/http_plugin_utils.js:49: every status but 2xx and 304 is recoverable.
        #expect(retry.retryDelay(after: .status(403), failures: 1) == .seconds(1))
        #expect(retry.retryDelay(after: .status(404), failures: 2) == nil)
    }

    @Test("The hls.js profile buffers 60 MB, between 30 and 600 s; other profiles their maximum")
    func byteBudget() {
        #expect(PlayerProfile.hlsJS.maximumBuffer(bitrate: 4_000_000) == .seconds(120))
        #expect(PlayerProfile.hlsJS.maximumBuffer(bitrate: 100_000_000) == .seconds(30))
        #expect(PlayerProfile.hlsJS.maximumBuffer(bitrate: 1) == .seconds(600))
        #expect(PlayerProfile.exoPlayer.maximumBuffer(bitrate: 0) == .seconds(50))
        // dash.js holds 30 s at the top quality, 60 s of long media.
        #expect(PlayerProfile.dashJS.maximumBuffer(bitrate: 1) == .seconds(18))
        #expect(PlayerProfile.dashJS.maximumBuffer(bitrate: 1, isHighest: true) == .seconds(30))
        #expect(
            PlayerProfile.dashJS.maximumBuffer(bitrate: 1, isHighest: true, duration: .seconds(599)) == .seconds(30)
        )
        #expect(
            PlayerProfile.dashJS.maximumBuffer(bitrate: 1, isHighest: true, duration: .seconds(600)) == .seconds(60)
        )
    }

    private static func beginning(_ ladder: BitrateLadder, estimate: Int?) -> AdaptationContext {
        context(ladder, current: nil, playhead: .starting, index: 0, estimate: estimate)
    }

    @Test("The first rendition")
    func start() {
        let context = context(current: nil, constraints: AdaptationConstraints(maximumBitrate: 2_000_000))
        #expect(PlayerProfile.avPlayer.firstRung(firstListed: 1, in: context) == 1)
        #expect(PlayerProfile.avPlayer.firstRung(firstListed: 2, in: context) == 0)
        // hls.js uses the bitrate of the first listed level.
        #expect((0...2).map { PlayerProfile.hlsJS.firstRung(firstListed: $0, in: context) } == [0, 1, 1])
        #expect(PlayerProfile.mpv.firstRung(firstListed: 0, in: context) == 1)
        #expect(PlayerProfile.shaka.firstRung(firstListed: 0, in: context) == nil)
        #expect(PlayerProfile.mpv.initialEstimate == nil)
        // lib/abr/simple_abr_manager.js:545: the downlink of Chromium, which carries 979 kbit/s, and not 1378.
        #expect(PlayerProfile.shaka.initialEstimate == 1_450_000)
        var shaka = ThroughputRule.shaka
        let ladder = BitrateLadder(
            LadderRung(peakBitrate: 341_000),
            LadderRung(peakBitrate: 979_000),
            LadderRung(peakBitrate: 2_375_000)
        )
        let first = Self.beginning(ladder, estimate: PlayerProfile.shaka.initialEstimate)
        #expect(shaka.decide(in: first).rung == 1)
    }

    @Test("hls.js takes the first listed bitrate for its first estimate, between 500 kbit/s and 5 Mbit/s")
    func firstListedBitrate() {
        let ladder = BitrateLadder(
            LadderRung(peakBitrate: 300_000),
            LadderRung(peakBitrate: 500_000),
            LadderRung(peakBitrate: 5_000_000),
            LadderRung(peakBitrate: 8_000_000)
        )
        let context = context(ladder, current: nil)
        #expect((0...3).map { PlayerProfile.hlsJS.firstRung(firstListed: $0, in: context) } == [1, 1, 2, 2])
    }

    @Test("Delays are valid for extreme figures")
    func absurd() {
        let backoffs: [RetryBackoff] = [
            .exponential(first: .seconds(1), factor: .infinity, maximum: .seconds(9), jitter: .nan),
            .exponential(first: .seconds(-1), factor: .nan, maximum: .seconds(-9), jitter: 7),
            .linear(step: .seconds(1_000_000_000), maximum: .seconds(9)), .constant(.seconds(-1)),
        ]
        for backoff in backoffs {
            for failures in [Int.min, 0, 1, .max] {
                let delay = backoff.delay(after: failures, randomness: 3)
                #expect(delay >= .zero && delay <= .seconds(1_000_000))
            }
        }
        #expect(LivePolicy.Distance.targetDurations(.nan).duration(targetDuration: .seconds(4)) == .zero)
        #expect(LivePolicy.Distance.targetDurations(2.5).duration(targetDuration: .seconds(4)) == .seconds(10))
    }
}

@Suite("Live catch-up")
struct LivePolicyTests {
    private func rate(_ policy: LivePolicy.CatchUp, _ latency: Double, level: Double = 9) -> Double {
        LivePolicy(targetLatency: .duration(.seconds(5)), catchUp: policy)
            .playbackRate(latency: .seconds(latency), target: .seconds(5), bufferLevel: .seconds(level))
    }

    @Test("Media3's rate follows a tenth of the difference, within 3 %, and is 1 within 20 ms")
    func proportional() {
        let policy = PlayerProfile.exoPlayer.live.catchUp
        #expect(rate(policy, 5.02) == 1 && abs(rate(policy, 5.1) - 1.01) < 1e-9)
        #expect(rate(policy, 9) == 1.03 && rate(policy, 1) == 0.97)
    }

    @Test("The sigmoid is 1 at the target, near its ends a second away, and not above 1 with little buffered")
    func sigmoid() {
        let policy = LivePolicy.CatchUp.sigmoid(minimum: 0.5, maximum: 1.5, minimumBuffer: .seconds(0.5))
        #expect(rate(policy, 5) == 1)
        #expect(abs(rate(policy, 6) - (0.5 + 1 / (1 + 0.006737947))) < 1e-6)
        #expect(rate(policy, 6, level: 0.4) == 1 && rate(policy, 4, level: 0.4) < 0.51)
    }

    @Test("Shaka's rate is fixed as long as the difference exceeds half a second")
    func fixed() {
        // lib/player.js:8283–8310.
        let policy = PlayerProfile.shaka.live.catchUp
        #expect(rate(policy, 5.5) == 1 && rate(policy, 5.6) == 1.1)
        #expect(rate(policy, 4.5) == 1 && rate(policy, 4.4) == 0.95)
        #expect(rate(.none, 99) == 1)
    }

    @Test("The catch-up rate is finite and above zero for every input")
    func absurd() {
        for factor in [Double.nan, .infinity, -1e300] {
            let policy = LivePolicy.CatchUp.proportional(factor: factor, minimum: 0.9, maximum: 1.1, tolerance: .zero)
            #expect((0.9...1.1).contains(rate(policy, 9)))
        }
        let none = LivePolicy.CatchUp.proportional(factor: 1, minimum: .nan, maximum: -3, tolerance: .zero)
        #expect(rate(none, 9) == 1)
    }
}
