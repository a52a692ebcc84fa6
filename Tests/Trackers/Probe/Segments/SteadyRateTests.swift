import Testing

@testable import InstrumentProbe

@Suite("The frame rate of a segment")
struct SteadyRateTests {
    /// The rate of frames at these decoding times, in milliseconds.
    private func rate(_ times: [Double], untimed: Int = 0) -> Double? {
        var summary = TrackSummary()
        for time in times {
            let nanoseconds = Int64(time * 1_000_000)
            var frame = SegmentFrame(isKeyframe: true, offset: 0)
            frame.times = SegmentFrame.Times(decoded: nanoseconds, shown: nanoseconds)
            summary.add(frame, lasting: 0)
            for _ in 0..<untimed { summary.add(SegmentFrame(isKeyframe: false, offset: 0), lasting: 0) }
        }
        return summary.steadyRate
    }

    @Test("Frames at equal distances have a rate, also where times are rounded or every second frame has none")
    func steady() throws {
        #expect(rate((0..<50).map { Double($0) * 40 }) == 25)
        let rounded = try #require(rate((0..<60).map { (Double($0) * 1_001 / 30).rounded() }))
        #expect(abs(rounded - 29.97) < 0.02)
        #expect(rate((0..<25).map { Double($0) * 80 }, untimed: 1) == 25)
    }

    @Test("Frames at other distances, and fewer than a second of them, have no rate")
    func unsteady() {
        #expect(rate((0..<20).map { Double($0) * 40 }) == nil)
        #expect(rate((0..<30).map { Double($0) * 40 } + [1_400, 1_500]) == nil)
        #expect(rate([0]) == nil && rate([]) == nil)
    }
}
