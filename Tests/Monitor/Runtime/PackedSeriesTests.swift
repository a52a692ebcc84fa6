import Testing

@testable import InstrumentMonitor

@Suite("Points of a history")
struct PackedSeriesTests {
    @Test("A gap keeps its place, a late point is left out, and behind a gap as long as the series nothing old is left")
    func gaps() {
        func point(_ minute: Int32) -> HistoryPoint {
            var point = HistoryPoint(minute: minute)
            point.playing = UInt32(minute) * 20
            return point
        }
        var series = PackedSeries(limit: 10, unit: 15, scale: 20)
        for minute: Int32 in [15, 30, 75, 60, 82] { series.append(point(minute)) }
        // 82 is in the interval of 75, and replaces it.
        #expect(series.latest(10).map(\.minute) == [15, 30, 75])
        #expect(series.latest(10).map(\.playing) == [300, 600, 1_640])
        #expect(series.latest(2).map(\.minute) == [30, 75])
        #expect(series.points(from: 30).map(\.minute) == [30, 75])
        #expect(series.points(from: 76).isEmpty)
        series.append(point(165))
        #expect(series.points(from: .min).map(\.minute) == [30, 75, 165])
        series.append(point(165 + 150))
        #expect(series.latest(10).map(\.minute) == [315])
        series.append(HistoryPoint(minute: .max))
        #expect(series.latest(10).count == 1)
    }
}
