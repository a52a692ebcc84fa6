import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentCheck

@Suite("Which segments a check fetches")
struct SegmentPlanTests {
    private func window(_ numbers: ClosedRange<Int64>) throws -> [MediaSegment] {
        let url = try HTTPURL("http://example.org/s.ts")
        return numbers.map { MediaSegment(sequence: $0, start: $0 * 2_000_000_000, duration: 2_000_000_000, url: url) }
    }

    @Test("The oldest segment of a live window is looked at again after a minute, unless it is fetched anyway")
    func oldest() throws {
        var plan = SegmentPlan()
        let begin = MonotonicInstant(nanoseconds: 5_000_000_000)
        func oldest(_ first: Int64, after seconds: Int64, besides: [MediaSegment] = [], isLive: Bool = true) throws
            -> Int64?
        {
            let (segments, now) = (try window(first...first + 5), begin.advanced(by: .seconds(seconds)))
            return plan.oldest(of: segments, besides: besides, isLive: isLive, at: now)?.sequence
        }
        #expect(try oldest(0, after: 0, isLive: false) == nil)
        // Fetched anyway: it is looked at next time.
        #expect(try oldest(0, after: 0, besides: try window(0...1)) == nil)
        #expect(try oldest(1, after: 2) == 1)
        #expect(try oldest(2, after: 4) == nil)
        #expect(try oldest(30, after: 61) == nil)
        #expect(try oldest(31, after: 62) == 31)
        #expect(try oldest(32, after: 64) == nil)
    }

    @Test("The last segment on demand is looked at once, unless it is fetched anyway")
    func ending() throws {
        let segments = try window(0...9)
        var plan = SegmentPlan()
        #expect(plan.ending(of: segments, besides: [], isLive: true) == nil)
        #expect(plan.ending(of: segments, besides: [], isLive: false)?.sequence == 9)
        #expect(plan.ending(of: segments, besides: [], isLive: false) == nil)
        plan = SegmentPlan()
        #expect(plan.ending(of: segments, besides: segments, isLive: false) == nil)
        plan = SegmentPlan()
        #expect(plan.ending(of: segments, besides: Array(segments.prefix(3)), isLive: false)?.sequence == 9)
    }
}
