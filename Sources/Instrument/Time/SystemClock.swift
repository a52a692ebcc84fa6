internal import Dispatch

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
        // A serial queue, because Dispatch gives serial queues threads beyond the number of processors. A concurrent
        // queue shares its threads with Swift's tasks and gets another one only when Dispatch finds, once a second,
        // that all are blocked.
        let timer = Timer(source: DispatchSource.makeTimerSource(queue: Self.alarms))
        timer.source.schedule(deadline: .now() + .nanoseconds(Int(max(.zero, now.duration(to: deadline)).nanoseconds)))
        let isCancelled = Flag()
        timer.source.setEventHandler {
            // The handler keeps the timer alive until then.
            timer.source.cancel()
            AlarmThreads.shared.run { if !isCancelled.isSet { action() } }
        }
        timer.source.resume()
        return ScheduledAction {
            isCancelled.set()
            timer.source.cancel()
        }
    }

    /// The queue on which timers fire; no action runs here.
    private static let alarms = DispatchQueue(label: "instrument.alarm")

    /// Whether an alarm was cancelled while its action waited for a thread.
    private final class Flag: Sendable {
        private let state = Lock(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    /// `@unchecked Sendable`, because Dispatch's objects may be used from any thread; only Linux does not say so.
    private struct Timer: @unchecked Sendable { let source: any DispatchSourceTimer }

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
