package import Instrument

/// Lets each message through once, and again when it still comes after a minute, so that a service that refuses every
/// sample gives one line and not one for each sample. Safe from any thread.
package final class RepeatLimiter: Sendable {
    private struct Entry {
        var shown: MonotonicInstant
        var hidden = 0
    }

    /// The time after which a message is shown again.
    private static let interval = Duration.seconds(60)
    /// The largest number of messages that are remembered; one more makes the limiter forget all of them.
    private static let mostEntries = 500

    private let clock: any SchedulingClock
    private let entries = Lock([String: Entry]())

    package init(clock: any SchedulingClock = SystemClock()) { self.clock = clock }

    /// Returns nil for a message to hide, otherwise the number of times that it was hidden since it was shown last.
    ///
    /// - Parameter key: what equal messages have in common.
    package func admit(_ key: String) -> Int? {
        let now = clock.now
        return entries.withLock { entries in
            if var known = entries[key] {
                guard known.shown.duration(to: now) >= Self.interval else {
                    known.hidden += 1
                    entries[key] = known
                    return nil
                }
                entries[key] = Entry(shown: now)
                return known.hidden
            }
            if entries.count >= Self.mostEntries { entries = [:] }
            entries[key] = Entry(shown: now)
            return 0
        }
    }
}

extension Diagnostic {
    /// What diagnostics about one thing have in common: not the sample, and not the length of a back-off.
    private var repeatKey: String {
        guard let cause = reason ?? dropReason?.rawValue else { return description }
        return "\(kind) \(backend?.description ?? "") \(cause)"
    }

    /// The line of the diagnostic, with the number of equal ones that were hidden before; nil if it is hidden.
    package func line(_ limiter: RepeatLimiter) -> String? {
        limiter.admit(repeatKey).map { $0 == 0 ? description : "\(description) (\($0) more times in the meantime)" }
    }
}
