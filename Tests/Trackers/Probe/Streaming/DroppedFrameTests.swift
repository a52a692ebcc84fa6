import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// Pictures that arrive too late, as Chromium drops them, and what Shaka makes of them.
@Suite("Dropped frames")
struct DroppedFrameTests {
    private func at(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }

    /// A model of a browser with 25 pictures a second, which has two seconds of both, and 8 s of sound.
    private func model() -> PlaybackModel {
        var policy = BufferPolicy(startThreshold: .zero, resumeThreshold: .zero, maximum: .seconds(30))
        policy.sound.alone = .seconds(3)
        var model = PlaybackModel(tracks: [.video, .audio], policy: policy, now: at(0))
        model.setFrameRate(25)
        model.append(.video, end: 2_000_000_000, now: at(0))
        model.append(.audio, end: 8_000_000_000, now: at(0))
        return model
    }

    /// A watch that expectations may ask.
    private final class Watch {
        var watch = DroppedFrameWatch(
            DroppedFramePolicy(limit: 0.15, interval: .seconds(2), exclusion: .seconds(30)),
            from: MonotonicInstant(nanoseconds: 0)
        )

        func looks(at model: PlaybackModel?, _ now: MonotonicInstant) -> Bool { watch.looks(at: model, now) }
    }

    @Test("Pictures are dropped that ended 15 ms before the playhead or earlier, and in a stall the one that stood")
    func dropped() {
        var model = model()
        #expect(model.latePictures.dropped == 0)
        model.append(.video, end: 4_000_000_000, now: at(3))
        #expect(model.latePictures.dropped == 960_000_000)
        // A segment that is wholly behind the playhead.
        var late = self.model()
        late.append(.video, end: 4_000_000_000, now: at(4.5))
        #expect(late.latePictures.dropped == 2_000_000_000)
        // In a stall, the playhead is at 5 s.
        var stalled = self.model()
        stalled.append(.video, end: 8_000_000_000, now: at(6))
        #expect(stalled.latePictures.dropped == 3_000_000_000)
        // Pictures in time.
        var early = self.model()
        early.append(.video, end: 4_000_000_000, now: at(1))
        #expect(early.latePictures.dropped == 0)
    }

    @Test("A frame rate that no video has harms nothing", arguments: [1e-300, 1e-12, 1e300, 0, -1, .infinity, .nan])
    func rates(framesPerSecond: Double) {
        var model = model()
        model.setFrameRate(framesPerSecond)
        model.append(.video, end: 4_000_000_000, now: at(3))
        #expect((0...2_000_000_000).contains(model.latePictures.dropped))
        #expect(model.decodedEnd(at: at(3)).map { (3_000_000_000...4_000_000_000).contains($0) } == true)
    }

    @Test("A look compares the dropped pictures with those that were decoded since the look before")
    func looks() {
        var model = model()
        let watch = Watch()
        // The first second of the second segment is late: 24 of 54 pictures.
        _ = model.advance(to: at(2))
        #expect(!watch.looks(at: model, at(2)))
        #expect(watch.watch.next == at(4))
        model.append(.video, end: 8_000_000_000, now: at(3))
        #expect(!watch.looks(at: model, at(3.9)))
        #expect(watch.looks(at: model, at(4)))
        // Afterwards, nothing is late.
        #expect(!watch.looks(at: model, at(6)))
    }

    @Test("Another rung, a decision for the same rung, and pictures of another size restart the count")
    func follow() {
        for (rung, width, decision) in [(0, 320, 0.5), (1, 640, 0.5), (0, 640, 2.9), (0, 640, 0.5)] {
            var model = model()
            let watch = Watch()
            watch.watch.follow(rung: 0, width: 640, decision: at(0.5), model, at(1))
            model.append(.video, end: 8_000_000_000, now: at(3))
            watch.watch.follow(rung: rung, width: width, decision: at(decision), model, at(3))
            #expect(watch.looks(at: model, at(4)) == (rung == 0 && width == 640 && decision == 0.5))
        }
    }

    @Test("Few dropped pictures, a pause, a faster rate and looks that came late are no reason to leave a rung")
    func noReason() {
        var few = model()
        let fewWatch = Watch()
        few.append(.video, end: 8_000_000_000, now: at(2.2))
        #expect(!fewWatch.looks(at: few, at(4)))

        var paused = model()
        let pausedWatch = Watch()
        paused.append(.video, end: 8_000_000_000, now: at(3))
        paused.pause(now: at(3.5))
        #expect(!pausedWatch.looks(at: paused, at(4)))
        paused.resume(now: at(4.5))
        // The look after the pause counts what it missed.
        #expect(pausedWatch.looks(at: paused, at(6)))

        var fast = model()
        let fastWatch = Watch()
        fast.append(.video, end: 8_000_000_000, now: at(3))
        fast.setRate(1.5, now: at(3))
        #expect(!fastWatch.looks(at: fast, at(4)))
        #expect(!fastWatch.looks(at: fast, at(6)))
        #expect(!fastWatch.looks(at: nil, at(60)))
        #expect(fastWatch.watch.next == at(62))
    }
}
