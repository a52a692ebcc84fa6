import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentSensors

@Suite("Token bucket")
struct TokenBucketTests {
    /// A simple second computation: the content in sixtieths of a token per second, in steps of a millisecond.
    private struct Naive {
        var level = 60_000
        var last = 0
        mutating func take(at millisecond: Int) -> Bool {
            while last < millisecond {
                last += 1
                level = min(60_000, level + 1)
            }
            if level < 2000 { return false }
            level -= 2000
            return true
        }
    }

    @Test("A full bucket gives thirty tokens, then one every two seconds")
    func burst() {
        var bucket = TokenBucket(30, every: .seconds(60))
        let start = MonotonicInstant(nanoseconds: -5)
        do {
            let count = (0..<40).count { _ in bucket.take(at: start) }
            #expect(count == 30)
        }
        do {
            let isGiven = bucket.take(at: start.advanced(by: .nanoseconds(1_999_999_999)))
            #expect(!isGiven)
        }
        do {
            let isGiven = bucket.take(at: start.advanced(by: .seconds(2)))
            #expect(isGiven)
        }
        do {
            let isGiven = bucket.take(at: start.advanced(by: .seconds(2)))
            #expect(!isGiven)
        }
        do {
            let count = (0..<40).count { _ in bucket.take(at: start.advanced(by: .seconds(1_000_000))) }
            #expect(count == 30)
        }
    }

    @Test("A clock that steps back adds no tokens, and no token twice when it advances again")
    func back() {
        var bucket = TokenBucket(30, every: .seconds(60))
        let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        for _ in 0..<30 { _ = bucket.take(at: start) }
        for _ in 0..<100 {
            do {
                let isGiven = bucket.take(at: start.advanced(by: .seconds(-500)))
                #expect(!isGiven)
            }
            do {
                let isGiven = bucket.take(at: start)
                #expect(!isGiven)
            }
        }
        _ = bucket.take(at: MonotonicInstant(nanoseconds: .min))
        do {
            let isGiven = bucket.take(at: MonotonicInstant(nanoseconds: .max))
            #expect(isGiven)
        }
    }

    @Test("The bucket agrees with a simple model", arguments: UInt64(1)...50)
    func naive(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (bucket, naive, millisecond) = (TokenBucket(30, every: .seconds(60)), Naive(), 0)
        for _ in 0..<300 {
            millisecond += Bool.random(using: &random) ? 0 : Int.random(in: 0...4000, using: &random)
            let instant = MonotonicInstant(nanoseconds: Int64(millisecond) * 1_000_000)
            let (given, expected) = (bucket.take(at: instant), naive.take(at: millisecond))
            #expect(given == expected)
        }
    }
}
