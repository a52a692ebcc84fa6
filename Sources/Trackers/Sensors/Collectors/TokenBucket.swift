internal import Instrument

/// A rate limit: each event takes a token, and tokens are refilled at a constant rate.
///
/// The bucket starts full and computes in whole nanoseconds, so that the limit is exact. A clock that steps back
/// refills nothing, and refills no time twice when it advances again.
struct TokenBucket: Sendable {
    private let capacity: Int64
    private let cost: Int64
    /// The content, in nanoseconds of refilling.
    private var level: Int64
    private var last: Int64?

    /// Creates a full bucket of `count` tokens, which are refilled in `interval`.
    init(_ count: Int, every interval: Duration) {
        let count = Int64(max(1, count))
        cost = max(1, interval.nanoseconds / count)
        let (capacity, overflow) = cost.multipliedReportingOverflow(by: count)
        self.capacity = overflow ? .max : capacity
        level = self.capacity
    }

    /// Takes a token if there is one.
    mutating func take(at instant: MonotonicInstant) -> Bool {
        refill(at: instant.nanoseconds)
        guard level >= cost else { return false }
        level -= cost
        return true
    }

    private mutating func refill(at now: Int64) {
        guard let before = last else {
            last = now
            return
        }
        guard now > before else { return }
        let (elapsed, overflow) = now.subtractingReportingOverflow(before)
        let grown = overflow ? Int64.max : elapsed
        level = grown >= capacity - level ? capacity : level + grown
        last = now
    }
}
