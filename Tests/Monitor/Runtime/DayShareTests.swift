import Instrument
import InstrumentJSON
import InstrumentWatch
import Testing

@testable import InstrumentMonitor

@Suite("Share of a day")
struct DayShareTests {
    private func time(_ seconds: Double) -> WallTime { WallTime(milliseconds: Int64(seconds * 1_000)) }

    @Test("A day begins at midnight of UTC, and a step back of the clock continues the latest day")
    func midnight() {
        var share = DayShare()
        share.add(up: 30, of: 30, at: time(86_390))
        #expect(share.value == nil)
        share.add(up: 0, of: 60, at: time(86_401))
        #expect(share.value == 0)
        share.add(up: 60, of: 60, at: time(86_399))
        #expect(share.value == 0.5)
        var sum = DayShare()
        sum.add(share, at: time(86_500))
        #expect(sum.value == 0.5)
        // Nothing is known of the day after yet.
        sum = DayShare()
        sum.add(share, at: time(200_000))
        #expect(sum.value == nil)
    }

    @Test("The share of all streams is in the document without an objective, and continues after a restart")
    func document() throws {
        let streams = configuration([try stream("up"), try stream("down")])
        let behaviours: [String: Drive.Behaviour] = ["down": .fails(after: .milliseconds(1), code: "httpStatus")]
        var first = Drive(streams, behaviours)
        first.run(for: .seconds(3_600))
        let value = try #require(first.documents.overview(MonitorFacts())["upToday"]?.number)
        #expect(abs(value - 0.5) < 0.01, "\(value)")
        let detail = first.documents.detail(of: "down")
        #expect(detail?["upToday"]?.number.map { $0 < 0.01 } == true)
        let saved = first.model.savedHistory(at: first.now.wallTime).bytes
        var second = Drive(streams, behaviours, at: 3_700_000)
        let reading = second.model.restoreHistory(saved, at: second.now.wallTime)
        #expect(reading?.damages == 0)
        let kept = try #require(second.documents.upToday)
        #expect(abs(kept - 0.5) < 0.03, "\(kept)")
    }
}
