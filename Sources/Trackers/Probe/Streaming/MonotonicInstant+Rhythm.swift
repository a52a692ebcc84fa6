internal import Instrument

extension MonotonicInstant {
    /// The first instant after `now` in a rhythm of which this is an instant.
    ///
    /// - Parameter interval: above zero.
    func next(after now: MonotonicInstant, every interval: Duration) -> MonotonicInstant {
        if self > now { return self }
        let rounds = duration(to: now).nanoseconds / interval.nanoseconds + 1
        return advanced(by: interval * Int(clamping: rounds))
    }
}
