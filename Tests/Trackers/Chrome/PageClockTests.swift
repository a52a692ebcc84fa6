import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentChrome

@Suite("The clock of a page")
struct PageClockTests {
    @Test("An instant is as exact as the quickest answer, and never later than its message", arguments: 0..<100)
    func property(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var clock = PageClock()
        let offset = Int64.random(in: 0...1_000_000_000_000, using: &generator)
        var (now, quickest) = (Int64(5_000_000_000), Int64.max)
        for _ in 0..<20 {
            let sent = now
            let (way, back) = (
                Int64.random(in: 0...80_000_000, using: &generator), Int64.random(in: 0...80_000_000, using: &generator)
            )
            let page = Double(sent + way + offset) / 1e6
            now += way + back
            quickest = min(quickest, way + back)
            clock.sample(page: page, between: .init(nanoseconds: sent), and: .init(nanoseconds: now))
            now += 10_000_000
        }
        let received = MonotonicInstant(nanoseconds: now)
        let happened = now - 50_000_000
        let mapped = clock.instant(page: Double(happened + offset) / 1e6, received: received)
        // Half of the quickest answer, and what a millisecond's fraction and the widening leave.
        #expect(abs(mapped.nanoseconds - happened) <= quickest / 2 + 1_000_000)
        #expect(clock.instant(page: Double(now + offset) / 1e6 + 1000, received: received) == received)
    }

    @Test("A clock that was set, and impossible times, are survived")
    func jumps() {
        var clock = PageClock()
        let first = MonotonicInstant(nanoseconds: 1_000_000_000)
        #expect(clock.instant(page: 5, received: first) == first)
        clock.sample(page: 0, between: first, and: first)
        clock.sample(page: 1e9, between: first, and: first)
        #expect(clock.instant(page: 1e9, received: first) == first)
        for time in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            clock.sample(page: time, between: first, and: first)
            #expect(clock.instant(page: time, received: first) == first)
        }
    }
}
