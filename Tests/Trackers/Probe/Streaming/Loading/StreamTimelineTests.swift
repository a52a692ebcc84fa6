import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Places of segments on the timeline")
struct StreamTimelineTests {
    private let content: SegmentContent = {
        var content = SegmentContent()
        content.hasTimeline = true
        return content
    }()

    private func expected(
        _ start: Double,
        offset: Double?,
        in discontinuity: Int64 = 0,
        after previousEnd: Double? = nil
    ) -> StreamTimeline.Expectation {
        StreamTimeline.Expectation(
            discontinuity: discontinuity,
            start: Loading.nanoseconds(start),
            duration: Loading.nanoseconds(6),
            offset: offset.map(Loading.nanoseconds),
            previousEnd: previousEnd.map(Loading.nanoseconds)
        )
    }

    private func place(
        _ timeline: inout StreamTimeline,
        _ first: Double,
        _ expected: StreamTimeline.Expectation
    ) -> StreamTimeline.Placement {
        timeline.place(Loading.nanoseconds(first), of: content, expected: expected)
    }

    @Test("Tracks of one period with different presentation time offsets have different places")
    func offsetsOfTracks() {
        var timeline = StreamTimeline()
        #expect(place(&timeline, 5.04, expected(0, offset: -5)).offset == Loading.nanoseconds(-5))
        let sound = place(&timeline, 0.02, expected(0, offset: 0))
        #expect(sound == StreamTimeline.Placement(offset: 0))
        #expect(place(&timeline, 11, expected(6, offset: -5)).offset == Loading.nanoseconds(-5))
    }

    @Test("Media that begins before its period is placed before the period")
    func mediaBeforeThePeriod() {
        var timeline = StreamTimeline()
        let placement = place(&timeline, 300, expected(-2, offset: -302))
        #expect(placement == StreamTimeline.Placement(offset: Loading.nanoseconds(-302)))
    }

    @Test("Segments whose durations differ from the declared ones keep the declared offset, also without a jump")
    func drift() {
        var timeline = StreamTimeline()
        _ = place(&timeline, 0, expected(0, offset: 0))
        let late = place(&timeline, 61.5, expected(60, offset: 0, after: 61.5))
        #expect(late == StreamTimeline.Placement(offset: 0))
    }

    @Test("Timestamps that the manifest does not declare are placed by the first segment, and jumps are reported")
    func wrongDeclaration() {
        var timeline = StreamTimeline()
        #expect(place(&timeline, 1000, expected(0, offset: 0)).offset == Loading.nanoseconds(-1000))
        #expect(place(&timeline, 1006, expected(6, offset: 0, after: 6)).jump == nil)
        #expect(place(&timeline, 1100, expected(12, offset: 0, after: 12)).jump == Loading.nanoseconds(88))
    }

    @Test("Media at a boundary of periods is not too long, whether it is cut there or not")
    func durationAtBoundary() throws {
        var segment = MediaSegment(
            sequence: 0,
            start: Loading.nanoseconds(302),
            duration: Loading.nanoseconds(4),
            url: try Loading.url("51.m4s")
        )
        segment.trimmedStart = Loading.nanoseconds(2)
        for seconds in [4.0, 6, 9] {
            var content = Loading.content([.video], from: 300)
            content.video?.end = Loading.nanoseconds(300 + seconds)
            let findings = SegmentCheck(content, segment, nil, isFirst: false).findings
            #expect(findings.contains { $0.kind == .wrongDuration } == (seconds == 9), "\(seconds)")
        }
    }
}
