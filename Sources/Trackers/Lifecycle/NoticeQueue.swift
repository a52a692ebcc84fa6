#if (canImport(UIKit) && !os(watchOS)) || (canImport(AppKit) && !targetEnvironment(macCatalyst))
internal import Dispatch
internal import Instrument

/// Calls the observer of a lifecycle source away from the thread on which the system notifies, one notice at a time, in
/// order. An observer may block.
struct NoticeQueue: Sendable {
    private let queue = DispatchQueue(label: "instrument.lifecycle", qos: .userInitiated)
    private let clock: any SchedulingClock
    private let observer: @Sendable (LifecycleNotice) -> Void

    init(_ clock: any SchedulingClock, _ observer: @escaping @Sendable (LifecycleNotice) -> Void) {
        (self.clock, self.observer) = (clock, observer)
    }

    /// Reports a phase that begins now, and calls `end` once the observer has returned.
    func report(_ phase: LifecyclePhase, then end: @escaping @Sendable () -> Void = {}) {
        let (observer, notice) = (observer, LifecycleNotice(phase, at: clock.now))
        queue.async {
            observer(notice)
            end()
        }
    }

    /// Reports a phase that begins now. Returns once the observer has returned: the process ends after this call.
    func reportAndWait(_ phase: LifecyclePhase) {
        // Not `sync`, which would call the observer on this thread.
        let end = DispatchSemaphore(value: 0)
        report(phase) { end.signal() }
        end.wait()
    }
}
#endif
