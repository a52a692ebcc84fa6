import Testing

@testable import Instrument

@Suite("Bursts of refused samples")
struct RefusalBurstsTests {
    @Test("A burst is reported once per cause and minute, and the next burst again")
    func bursts() {
        var bursts = RefusalBursts()
        var now = MonotonicInstant(nanoseconds: 0)
        var reports = 0
        for _ in 0..<10_000 {
            if bursts.isNews(.diskFull, at: now) { reports += 1 }
            now = now.advanced(by: .milliseconds(10))
        }
        // At the beginning, and after a minute.
        #expect(reports == 2)
        let others: [(QueueError.Code, Duration)] = [(.full, .zero), (.full, .zero), (.diskFull, .zero)]
        var areNews: [Bool] = []
        for (code, delay) in others + [(.diskFull, .seconds(1))] {
            areNews.append(bursts.isNews(code, at: now.advanced(by: delay)))
        }
        #expect(areNews == [true, false, false, true])
    }
}
