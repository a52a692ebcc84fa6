/// A point on a clock that never goes back, in nanoseconds since an origin that only that clock knows.
///
/// Durations between two instants of the same clock are meaningful, instants of different clocks are not comparable.
/// Arithmetic saturates at the ends of the range (292 years) instead of trapping.
public struct MonotonicInstant: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the origin of the clock that made it.
    public var nanoseconds: Int64

    /// Creates an instant from nanoseconds since the clock's origin.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Whole milliseconds since the origin, rounded down.
    ///
    /// Everything on the wire is a difference of two of these, so that parts always add up to the whole.
    public var milliseconds: Int64 {
        let quotient = nanoseconds / 1_000_000
        return nanoseconds % 1_000_000 < 0 ? quotient - 1 : quotient
    }

    /// The instant that lies `duration` later.
    public func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        if overflow { return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max) }
        return MonotonicInstant(nanoseconds: sum)
    }

    /// The time from this instant to `other`; negative if `other` is earlier.
    public func duration(to other: MonotonicInstant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        if overflow { return .nanoseconds(other < self ? Int64.min : Int64.max) }
        return .nanoseconds(difference)
    }

    /// Whole milliseconds from this instant to `other`, as they are written on the wire.
    public func milliseconds(to other: MonotonicInstant) -> Int { Int(other.milliseconds - milliseconds) }

    /// Earlier on the same clock.
    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Whole nanoseconds, rounded towards zero and saturating.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || carried { return seconds < 0 ? .min : .max }
        return sum
    }

    /// Whole milliseconds, rounded towards zero and saturating.
    package var milliseconds: Int {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        if overflow || carried { return seconds < 0 ? .min : .max }
        return Int(sum)
    }

    /// Seconds as a floating-point number.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
