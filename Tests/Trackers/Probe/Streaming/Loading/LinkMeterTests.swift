import Instrument
import Testing

@testable import InstrumentProbe

/// Media3's `DefaultBandwidthMeter`.
@Suite("Downloads that are measured together")
struct LinkMeterTests {
    /// A download with the seconds at which each next thousand bytes arrive.
    private func transfer(_ number: Int, _ seconds: Double...) -> LinkMeter.Transfer {
        var log = ArrivalLog()
        for second in seconds { log.add(1000, at: Loading.instant(second)) }
        return LinkMeter.Transfer(number: number, begun: Loading.instant(seconds[0] - 0.1), arrivals: log)
    }

    private func figures(_ sample: ThroughputSample?) -> [Double]? {
        sample.map { [Double($0.bytes), $0.transferTime.seconds] }
    }

    @Test("A sample has the bytes of both downloads, since the end of the one before")
    func overlapping() {
        var meter = LinkMeter()
        let audio = transfer(1, 1, 2)
        // Two thousand bytes of video have come by second 2, four thousand follow.
        let video = transfer(2, 1.5, 2, 3, 4, 5, 6)
        #expect(figures(meter.sample(endOf: audio, beside: [video])) == [4000, 1])
        #expect(figures(meter.sample(endOf: video, beside: [])) == [4000, 4])
    }

    @Test("The time in which nothing was under way does not count")
    func pause() {
        var meter = LinkMeter()
        #expect(figures(meter.sample(endOf: transfer(1, 1, 2), beside: [])) == [2000, 1])
        #expect(figures(meter.sample(endOf: transfer(2, 10, 12), beside: [])) == [2000, 2])
        // A download that has not begun is not under way.
        #expect(figures(meter.sample(endOf: transfer(3, 20, 22), beside: [transfer(4, 23)])) == [2000, 2])
        #expect(figures(meter.sample(endOf: transfer(4, 23, 24), beside: [])) == [2000, 1])
    }

    @Test("A download that took no time counts with the next one")
    func noTime() {
        var meter = LinkMeter()
        #expect(meter.sample(endOf: transfer(1, 1), beside: []) == nil)
        #expect(figures(meter.sample(endOf: transfer(2, 2, 3), beside: [])) == [3000, 1])
    }

    @Test("Two tracks that share a link are measured as the whole link")
    func wholeLink() {
        let choice = { (meter: inout LinkMeter) -> [Double] in
            // A thousand bytes a second, in turn for both tracks.
            let (first, second) = (transfer(1, 1, 3, 5), transfer(2, 2, 4, 6))
            let samples = [
                meter.sample(endOf: first, beside: [second]), meter.sample(endOf: second, beside: []),
            ]
            return samples.compactMap(\.self).map { Double($0.bytes) / $0.transferTime.seconds }
        }
        var meter = LinkMeter()
        #expect(choice(&meter) == [1250, 1000])
    }
}
