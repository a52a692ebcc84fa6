internal import Instrument

/// How long system calls may wait.
package struct Patience {
    /// A cancelled task is noticed this often, in milliseconds.
    private static let slice = 50

    private let clock = SystemClock()
    private let deadline: MonotonicInstant
    private let cancellation: () -> Bool

    package init(_ timeout: Duration, _ isCancelled: @escaping () -> Bool) {
        deadline = clock.now.advanced(by: timeout)
        cancellation = isCancelled
    }

    /// Whether the task was cancelled.
    package var isCancelled: Bool { cancellation() }

    /// Milliseconds for the next wait, at most `limit`; nil once the time is up or the task was cancelled.
    package func next(atMost limit: Int? = nil) -> Int32? {
        let left = clock.now.duration(to: deadline)
        if isCancelled || left <= .zero { return nil }
        return Int32(max(1, min(limit ?? Self.slice, left.milliseconds)))
    }
}
