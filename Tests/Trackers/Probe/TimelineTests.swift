import Testing

@testable import InstrumentProbe

@Suite("Timeline")
struct TimelineTests {
    private func ms(_ milliseconds: Int64) -> Int64 { milliseconds * 1_000_000 }
    private func stamp(_ shown: Int64?, _ duration: Int64 = 40) -> Timeline.Stamp {
        Timeline.Stamp(shown: shown.map(ms), decoded: shown.map(ms), duration: ms(duration))
    }

    @Test(
        "The first timestamp is position zero; packets without a timestamp continue, without a duration take the previous one"
    )
    func ordinary() {
        var timeline = Timeline(origin: ms(5000), mayJump: true)
        #expect(timeline.place(stamp(5000), of: .video) == (0, ms(40)))
        #expect(timeline.place(stamp(nil), of: .video) == (ms(40), ms(80)))
        #expect(timeline.place(stamp(5080, 0), of: .video) == (ms(80), ms(120)))
        #expect(timeline.place(stamp(5010), of: .audio) == (ms(10), ms(50)))
    }

    @Test("After a joint, audio and video have the same shift, also with a gap in one of them")
    func joint() {
        var timeline = Timeline(origin: 0, mayJump: true)
        _ = timeline.place(stamp(3960), of: .video)
        _ = timeline.place(stamp(3800), of: .audio)
        #expect(timeline.place(stamp(0), of: .video).start == ms(4000))
        // The sound's last packet ended at 3.84 s: by itself it would continue there, 160 ms too early.
        #expect(timeline.place(stamp(0), of: .audio).start == ms(4000))
        #expect(timeline.place(stamp(40), of: .audio).start == ms(4040))
    }

    @Test("Timestamp jumps of minutes are corrected where containers may jump; jumps above one hour in every container")
    func gaps() {
        for (mayJump, gap) in [(false, 600_000), (true, 40)] as [(Bool, Int64)] {
            var timeline = Timeline(origin: 0, mayJump: mayJump)
            _ = timeline.place(stamp(0), of: .video)
            #expect(timeline.place(stamp(600_000), of: .video).start == ms(gap))
        }
        var timeline = Timeline(origin: 0, mayJump: false)
        _ = timeline.place(stamp(0), of: .video)
        #expect(timeline.place(Timeline.Stamp(shown: .max, decoded: .max), of: .video).start == ms(40))
        #expect(timeline.place(Timeline.Stamp(shown: .min, decoded: .min, duration: .max), of: .video).start == ms(80))
    }

    @Test("After a seek, positions follow the container's timestamps near the target")
    func seek() {
        var timeline = Timeline(origin: ms(1000), mayJump: true)
        _ = timeline.place(stamp(1000), of: .video)
        timeline.restart(at: ms(60_000))
        #expect(timeline.place(stamp(59_000), of: .video).start == ms(58_000))
        timeline.restart(at: ms(60_000))
        #expect(timeline.place(stamp(90_000_000), of: .video).start == ms(60_000))
    }
}
