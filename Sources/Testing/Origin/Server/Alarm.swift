internal import Instrument
internal import NIOCore

/// Calls back on an event loop at an instant of a clock.
struct Alarm {
    private let onCancel: () -> Void

    init(
        at instant: MonotonicInstant,
        on eventLoop: any EventLoop,
        by clock: any SchedulingClock,
        _ action: @escaping @Sendable () -> Void
    ) {
        if clock is SystemClock {
            // The loop's timer needs no other thread; both clocks count the nanoseconds of the same monotonic clock.
            let wait = clock.now.duration(to: instant).nanoseconds
            let deadline = NIODeadline.now() + .nanoseconds(max(0, wait))
            let scheduled = eventLoop.scheduleTask(deadline: deadline, action)
            onCancel = { scheduled.cancel() }
        } else {
            let scheduled = clock.schedule(at: instant) { eventLoop.execute(action) }
            onCancel = { scheduled.cancel() }
        }
    }

    func cancel() { onCancel() }
}
