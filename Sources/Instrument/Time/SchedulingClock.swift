/// The clock that an instrument runs by: it tells the time, sleeps, and calls back at an instant.
///
/// ``SystemClock`` is the real one. ``VirtualClock`` moves only when told to, so that a day's session takes
/// milliseconds and gives the same result every time.
public protocol SchedulingClock: Clock, Sendable where Instant == MonotonicInstant {
    /// The calendar time now.
    var wallTime: WallTime { get }

    /// Both readings of this moment.
    var timestamp: Timestamp { get }

    /// Both readings of `instant`, a moment that may already be past.
    func timestamp(of instant: MonotonicInstant) -> Timestamp

    /// Calls `action` once, at `deadline` or as soon afterwards as the clock can; at once if it has passed.
    ///
    /// The action runs on a thread of the clock's choice and should be short. Cancelling the result before it runs
    /// means that it never runs; dropping the result does not cancel.
    func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction

    /// Calls `action` once, as ``schedule(at:_:)`` does, but up to `tolerance` later, so that the clock can wake a
    /// thread once for many actions.
    ///
    /// A clock that does not implement it, for example ``VirtualClock``, has no tolerance.
    func schedule(
        at deadline: MonotonicInstant,
        tolerance: Duration,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction
}

extension SchedulingClock {
    /// Calls `action` at `deadline`, whatever the tolerance.
    public func schedule(
        at deadline: MonotonicInstant,
        tolerance: Duration,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction {
        schedule(at: deadline, action)
    }

    /// Both readings of this moment.
    public var timestamp: Timestamp { Timestamp(instant: now, wallTime: wallTime) }

    /// Both readings of `instant`, a moment that may already be past: its wall time is now's, less what has gone by.
    public func timestamp(of instant: MonotonicInstant) -> Timestamp {
        let now = timestamp
        let elapsed = Int64(instant.milliseconds(to: now.instant))
        return Timestamp(
            instant: instant,
            wallTime: WallTime(milliseconds: now.wallTime.milliseconds &- elapsed)
        )
    }
}

/// An action that waits for its time, and the way to call it off.
public struct ScheduledAction: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates a handle whose ``cancel()`` calls `onCancel`, which must be safe to call more than once.
    public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Calls the action off; does nothing if it has run or was called off before.
    public func cancel() { onCancel() }
}
