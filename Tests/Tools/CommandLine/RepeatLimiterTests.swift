import Instrument
import Testing

@testable import InstrumentCommandLine

@Suite("Repeated messages")
struct RepeatLimiterTests {
    @Test("A message is shown once, and after a minute again with the number of hidden ones")
    func limit() {
        let clock = VirtualClock()
        let limiter = RepeatLimiter(clock: clock)
        #expect((0..<29).map { _ in limiter.admit("a") } == [0] + [Int?](repeating: nil, count: 28))
        #expect(limiter.admit("b") == 0)
        clock.advance(by: .seconds(60))
        #expect(limiter.admit("a") == 28)
        #expect(limiter.admit("a") == nil)
    }

    @Test("Diagnostics differ by backend and reason, and not by sample or back-off")
    func diagnostics() {
        let limiter = RepeatLimiter(clock: VirtualClock())
        let dead = (1...3).map { number in
            Diagnostic.deadLetter("xapi", SampleID(log: 1, sequence: UInt64(number)), reason: "HTTP 404")
        }
        let other: [Diagnostic] = [
            .deadLetter("seer", SampleID(log: 1, sequence: 1), reason: "HTTP 404"),
            .retrying("xapi", after: .seconds(1), reason: "HTTP 404"),
            .retrying("xapi", after: .seconds(2), reason: "HTTP 404"),
            .retrying("xapi", after: .seconds(4), reason: "HTTP 503"),
        ]
        #expect((dead + other).map { $0.line(limiter) != nil } == [true, false, false, true, true, false, true])
    }
}
