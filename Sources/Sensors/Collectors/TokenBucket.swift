internal import Instrument

/// Limits how often something may happen: each time takes a token, and tokens grow back evenly.
///
/// The bucket starts full and computes in whole nanoseconds, so that the limit is exact; a clock that goes back gives nothing, and nothing
/// twice once it goes forward again.
struct TokenBucket: Sendable {
    private let capacity: Int64
    private let cost: Int64
    /// What is there, in nanoseconds of growing.
    private var level: Int64
    private var last: Int64?

    /// Creates a full bucket of `count` tokens that grow back in `interval`.
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
