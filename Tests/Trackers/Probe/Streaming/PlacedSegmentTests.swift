import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Segments on the timeline")
struct PlacedSegmentTests {
    @Test("Frames that arrive at one instant are one arrival, which reaches as far as the last of them")
    func oneArrival() throws {
        let second: Int64 = 1_000_000_000
        let url = try HTTPURL("https://media.test/a.ts")
        let points = (1...4).map { TrackContent.Point(offset: $0 * 1_000, end: Int64($0) * second) }
        var content = SegmentContent()
        content.video = TrackContent(
            start: 0,
            end: 4 * second,
            points: points,
            frameCount: 4,
            startsWithKeyframe: true,
            largestGap: 0,
            codec: "h264"
        )
        let (first, last) = (MonotonicInstant(nanoseconds: 5), MonotonicInstant(nanoseconds: 9))
        var log = ArrivalLog()
        log.add(2_500, at: first)
        log.add(1_500, at: last)
        let placed = PlacedSegment(
            segment: MediaSegment(sequence: 0, start: 0, duration: 4 * second, url: url),
            placement: StreamTimeline.Placement(offset: 7),
            log: log
        )
        var fed: [PlaybackModel.Track: Int64] = [:]
        let arrivals = placed.arrivals(of: content, [.video], isWhole: true, usesPoints: true, fed: &fed)
        #expect(
            arrivals == [
                MediaArrival(track: .video, end: 2 * second + 7, instant: first),
                MediaArrival(track: .video, end: 4 * second + 7, instant: last),
            ]
        )
        #expect(fed == [.video: 4 * second + 7])
        #expect(placed.arrivals(of: content, [.video], isWhole: true, usesPoints: true, fed: &fed).isEmpty)
    }
}
