#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The machine's clocks.
///
/// Instants come from the monotonic clock that stops while the machine sleeps (`CLOCK_MONOTONIC` on Linux,
/// `CLOCK_UPTIME_RAW` on Apple platforms), because nobody watches a sleeping machine. Wall time is `CLOCK_REALTIME`.
public struct SystemClock: SchedulingClock {
    /// Creates the clock; all instances tell the same time.
    public init() {}

    /// The monotonic clock's reading.
    public var now: MonotonicInstant {
        #if canImport(Darwin)
        MonotonicInstant(nanoseconds: Int64(clamping: clock_gettime_nsec_np(CLOCK_UPTIME_RAW)))
        #else
        MonotonicInstant(nanoseconds: Self.read(CLOCK_MONOTONIC))
        #endif
    }

    /// The calendar clock's reading.
    public var wallTime: WallTime { WallTime(milliseconds: Self.read(CLOCK_REALTIME) / 1_000_000) }

    /// Both readings of this moment.
    public var timestamp: Timestamp { Timestamp(instant: now, wallTime: wallTime) }

    /// Both readings of `instant`. Computed in nanoseconds, so that one instant always has the same wall time.
    public func timestamp(of instant: MonotonicInstant) -> Timestamp {
        let elapsed = instant.duration(to: now).nanoseconds
        let (wall, overflow) = Self.read(CLOCK_REALTIME).subtractingReportingOverflow(elapsed)
        return Timestamp(instant: instant, wallTime: overflow ? wallTime : WallTime(milliseconds: wall / 1_000_000))
    }

    /// The clocks count nanoseconds.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Suspends the current task until `deadline`; throws `CancellationError` if the task is cancelled meanwhile.
    ///
    /// Unlike `Task.sleep`, keeps to its time while tasks block or busy every thread that they share.
    public func sleep(until deadline: MonotonicInstant, tolerance: Duration? = nil) async throws {
        try await sleepUntilAlarm(at: deadline)
    }

    /// Calls `action` at `deadline` on a thread of the clock; at once if that has passed.
    ///
    /// Neither the app's tasks nor its blocks on Dispatch's queues delay it, and another action that blocks only by
    /// some milliseconds: actions share a few threads, and the clock starts further ones while actions block.
    public func schedule(
        at deadline: MonotonicInstant,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction {
        schedule(at: deadline, tolerance: .zero, action)
    }

    /// Calls `action` as ``schedule(at:_:)`` does, or up to `tolerance` later together with another action.
    public func schedule(
        at deadline: MonotonicInstant,
        tolerance: Duration,
        _ action: @escaping @Sendable () -> Void
    ) -> ScheduledAction {
        let alarm = AlarmThreads.shared.schedule(at: deadline, tolerance: tolerance, action)
        return ScheduledAction { AlarmThreads.shared.cancel(alarm) }
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

extension SchedulingClock where Self == SystemClock {
    /// The machine's clocks.
    public static var system: SystemClock { SystemClock() }
}
