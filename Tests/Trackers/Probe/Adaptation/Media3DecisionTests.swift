import Instrument
import Testing

@testable import InstrumentProbe

/// The inputs of Media3's own unit tests (androidx/media, release 1.9, libraries/exoplayer/src/test), and the decisions
/// that they expect.
@Suite("Media3's published decisions")
struct Media3DecisionTests {
    /// 500, 1000 and 2000 bit/s, as in `AdaptiveTrackSelectionTest`.
    private static let ladder = BitrateLadder(
        LadderRung(peakBitrate: 500, height: 240),
        LadderRung(peakBitrate: 1000, height: 480),
        LadderRung(peakBitrate: 2000, height: 720)
    )

    private static func rung(
        fraction: Double = 1,
        estimate: Int,
        current: Int? = 1,
        level: Double = 0,
        segment: Double = 2,
        live: Double? = nil
    ) -> Int {
        var rule = ThroughputRule.exoPlayer
        (rule.fraction, rule.upFraction) = (fraction, fraction)
        return rule.decide(
            in: context(
                ladder,
                current: current,
                level: level,
                segment: segment,
                estimate: estimate,
                live: live.map { AdaptationContext.Live(latency: .seconds($0), target: .seconds($0)) }
            )
        ).rung
    }

    @Test("AdaptiveTrackSelectionTest: the first choice, and the buffer that a change needs")
    func trackSelection() {
        // initial_updateSelectedTrack_selectsHighestBitrateWithinBandwidthFraction, …_withNoSelectableFormat
        #expect(Self.rung(fraction: 0.5, estimate: 2000, current: nil) == 1)
        #expect(Self.rung(estimate: 499, current: nil) == 0)
        // updateSelectedTrackDoNotSwitchUpIfNotBufferedEnough, …SwitchUpIfBufferedEnough
        #expect(Self.rung(estimate: 2000, level: 9.999) == 1)
        #expect(Self.rung(estimate: 2000, level: 10) == 2)
        // updateSelectedTrackDoNotSwitchDownIfBufferedEnough, …SwitchDownIfNotBufferedEnough
        #expect(Self.rung(estimate: 500, level: 25) == 1)
        #expect(Self.rung(estimate: 500, level: 24.999) == 0)
        // updateSelectedTrack_usesFormatOfLastChunkInTheQueueForSelection: the last segment counts, no earlier decision
        #expect(Self.rung(estimate: 500, level: 4) == 0)
        #expect(Self.rung(estimate: 1000, level: 4) == 1)
        // updateSelectedTrack_liveStream_switchesUpWhenBufferedFractionToLiveEdgeReached: 0.75 × (5.6 − 2) s
        #expect(Self.rung(estimate: 2000, level: 1.6, live: 5.6) == 1)
        #expect(Self.rung(estimate: 2000, level: 3.6, live: 5.6) == 2)
    }

    @Test(
        "DefaultLoadErrorHandlingPolicyTest: six statuses exclude, others do not; the delay grows to five seconds",
        arguments: [(403, true), (404, true), (410, true), (416, true), (500, true), (503, true), (418, false)]
    )
    func errorHandling(status: Int, excludes: Bool) throws {
        let profile = PlayerProfile.exoPlayer
        let excluding = profile.failurePlan.responses.filter { response in
            switch response {
            case .useOtherLocation(let time, let condition):
                time == .seconds(300) && condition.holds(for: .status(status))
            case .useOtherVariant(let time, let condition):
                time == .seconds(60) && condition.holds(for: .status(status))
            default: false
            }
        }
        // A location comes before a track.
        #expect(excluding.count == (excludes ? 2 : 0))
        if excludes, case .useOtherVariant = try #require(excluding.first) { Issue.record("the track comes first") }
        for (errors, seconds) in [(3, 2), (5, 4), (9, 5)] {
            #expect(profile[retry: .segment].backoff.delay(after: errors) == .seconds(seconds))
        }
    }

    @Test("DefaultLoadControlTest: loading up to the maximum, and a start with half of the target at most")
    func loadControl() {
        let policy = PlayerProfile.exoPlayer.buffer
        let instant = MonotonicInstant(nanoseconds: 0)
        var model = PlaybackModel(tracks: [.video], policy: policy, now: instant)
        // shouldStartPlayback_whenMinBufferLow…, DEFAULT_BUFFER_FOR_PLAYBACK_MS
        model.append(.video, end: 999_000_000, now: instant)
        #expect(model.isShort)
        // shouldContinueLoading_trueUntilMaxBufferExceeded
        model.append(.video, end: 49_999_000_000, now: instant)
        #expect(model.wantsData(at: instant) && !model.isShort)
        model.append(.video, end: 50_000_000_000, now: instant)
        #expect(!model.wantsData(at: instant))
        // shouldStartPlayback with a target live offset: min(target ÷ 2, bufferForPlayback)
        var live = PlaybackModel(tracks: [.video], policy: policy, now: instant)
        live.append(.video, end: 400_000_000, now: instant)
        #expect(live.isShort)
        let isNew = live.limitThresholds(to: .milliseconds(400))
        let isNewAgain = live.limitThresholds(to: .milliseconds(400))
        #expect(isNew && !isNewAgain)
        #expect(!live.isShort)
        live.settle(instant)
        #expect(!live.isWaiting)
    }
}

/// `DefaultLivePlaybackSpeedControlTest`, with each call of `getAdjustedPlaybackSpeed` as one look and one update.
@Suite("Media3's published live control")
struct LiveSpeedControlTests {
    private var now = MonotonicInstant(nanoseconds: 0)

    private static func control(interval: Duration = .seconds(1), smoothing: Double = 0.999) -> LiveSpeedControl {
        let step = Duration.milliseconds(10)
        return LiveSpeedControl(
            LivePolicy.MovingTarget(interval: interval, step: step, smoothing: smoothing, sufficientShare: 0.5)
        )
    }

    private static func limits(
        _ rates: ClosedRange<Double> = 0.97...1.03,
        factor: Double = 0.1,
        tolerance: Double = 0.02,
        maximumTarget: Double? = nil
    ) -> LiveSpeedControl.Limits {
        LiveSpeedControl.Limits(
            factor: factor,
            minimumRate: rates.lowerBound,
            maximumRate: rates.upperBound,
            tolerance: tolerance,
            maximumTarget: maximumTarget
        )
    }

    private func call(
        _ control: inout LiveSpeedControl,
        latency: Double,
        level: Double,
        keeping share: Double = 0.999,
        _ limits: LiveSpeedControl.Limits
    ) {
        control.observe(latency - level, keeping: share)
        control.update(latency: latency, limits, at: now)
    }

    /// Five hundred calls, 100 ms apart, with a buffer that flutters by up to 5 ms.
    private mutating func callOften(
        _ control: inout LiveSpeedControl,
        latency: Double,
        level: Double,
        keeping share: Double = 0.999,
        noise: Double = 0.001,
        _ limits: LiveSpeedControl.Limits
    ) {
        for index in 0..<500 {
            now = now.advanced(by: .milliseconds(100))
            let fluttering = level + Double(index % 10 - 5) * noise
            call(&control, latency: latency, level: fluttering, keeping: share, limits)
        }
    }

    private static let wide = Self.limits(0.9...1.1, maximumTarget: 400)

    @Test("A stall raises the target up to the maximum; another target of the stream replaces it")
    func stalls() {
        var control = Self.control()
        control.stalled(1, increase: 3, maximum: nil)
        #expect(control.target == 0)
        control.adopt(target: 42)
        control.stalled(1, increase: 3, maximum: 400)
        #expect(control.target == 45)
        // afterNotifyRebufferAndSetLiveConfigurationWithSameOffset, …WithNewOffset
        control.adopt(target: 42)
        #expect(control.target == 45)
        control.adopt(target: 39)
        #expect(control.target == 39)
        for _ in 0..<500 { control.stalled(1, increase: 3, maximum: 400) }
        #expect(control.target == 400)
    }

    @Test("After a stall, the target falls back: to the stream's with much media, to what is safe with little")
    mutating func fallsBack() {
        for (level, noise, expected) in [(9.0, 0.0, 42.0...42.0), (1.0, 0.001, 44.005...44.999)] {
            var control = Self.control(interval: .milliseconds(100))
            control.adopt(target: 42)
            control.stalled(1, increase: 3, maximum: 400)
            call(&control, latency: 45, level: level, Self.wide)
            let after = control.target
            #expect(after < 45)
            callOften(&control, latency: 45, level: level, noise: noise, Self.wide)
            #expect(control.target < after)
            #expect(expected.contains(control.target), "\(control.target)")
        }
    }

    @Test("The target rises to the safe latency, unless nothing is smoothed, or the latency is below the target")
    mutating func rises() {
        var control = Self.control()
        control.adopt(target: 42)
        callOften(&control, latency: 49, level: 7, Self.wide)
        call(&control, latency: 49, level: 7, Self.wide)
        #expect(control.target > 42.005)

        var unsmoothed = Self.control(smoothing: 0)
        unsmoothed.adopt(target: 42)
        callOften(&unsmoothed, latency: 49, level: 7, keeping: 0, Self.wide)
        now = now.advanced(by: .seconds(1))
        call(&unsmoothed, latency: 49, level: 7, keeping: 0, Self.wide)
        #expect(abs(unsmoothed.target - 42) < 1e-9)

        var near = Self.control(interval: .milliseconds(100))
        near.adopt(target: 42)
        call(&near, latency: 39, level: 1, Self.wide)
        #expect(near.target == 42)
    }

    @Test(
        "The rate follows the distance from the target, between the limits",
        arguments: [
            (2.0, 1.0, limits(), 1.0), (1.995_001, 1, limits(tolerance: 0.005), 1),
            (2.004_999, 1, limits(tolerance: 0.005), 1), (2.5, 1, limits(factor: 0.01), 1.005),
            (1.5, 1, limits(factor: 0.01), 0.995), (1e9, 1e9, limits(0.97...1.5), 1.5),
            (-1e9, 1, limits(0.5...1.03), 0.5), (1e9, 1e9, limits(0.97...2), 2), (-1e9, 1, limits(0.2...1.03), 0.2),
        ]
    )
    func rate(latency: Double, level: Double, limits: LiveSpeedControl.Limits, expected: Double) {
        var control = Self.control()
        control.adopt(target: 2)
        call(&control, latency: latency, level: level, limits)
        #expect(abs(control.rate - expected) < 1e-9)
    }

    @Test("The rate stays for the interval, except after another target and after a stall")
    mutating func interval() {
        let begun = {
            var control = Self.control(interval: .milliseconds(123))
            control.adopt(target: 2)
            return control
        }
        var control = begun()
        call(&control, latency: 1.5, level: 1, Self.limits())
        let first = control.rate
        now = now.advanced(by: .milliseconds(122))
        call(&control, latency: 2.5, level: 1, Self.limits())
        #expect(control.rate == first)
        now = now.advanced(by: .milliseconds(2))
        call(&control, latency: 2.5, level: 1, Self.limits())
        #expect(control.rate != first)
        for change in [
            { (control: inout LiveSpeedControl) in control.adopt(target: 1) },
            { $0.adopt(target: 2.000_001) }, { $0.stalled(1, increase: 0.5, maximum: nil) },
        ] {
            var control = begun()
            call(&control, latency: 1.5, level: 1, Self.limits())
            let first = control.rate
            change(&control)
            call(&control, latency: 2.5, level: 1, Self.limits())
            #expect(control.rate != first)
        }
    }

    @Test("Between two looks, the buffer that no media reaches comes nearer to its end")
    mutating func looks() {
        // The buffer ends 1 s behind the edge, no media comes for 1 s, and then 1 s of media: it was almost 2 s.
        var control = Self.control()
        control.adopt(target: 0.5)
        control.look(emptyAt: 1, at: now)
        now = now.advanced(by: .seconds(1))
        control.look(emptyAt: 1, at: now)
        control.update(latency: 3, Self.limits(0.9...1.1), at: now)
        #expect(control.target >= 2 && control.target < 2.1, "\(control.target)")
        // What happens while playback stands does not count.
        var standing = Self.control()
        standing.adopt(target: 0.5)
        standing.look(emptyAt: 1, at: now)
        standing.rest()
        now = now.advanced(by: .seconds(10))
        standing.look(emptyAt: 1, at: now)
        standing.update(latency: 3, Self.limits(0.9...1.1), at: now)
        #expect(abs(standing.target - 1) < 0.001, "\(standing.target)")
    }
}
