#if canImport(UIKit) && !os(watchOS)
internal import Dispatch
internal import Foundation
public import Instrument
internal import UIKit

/// The app's lifecycle by UIKit's notifications, including memory warnings.
///
/// The notifications arrive on the main thread, and the source calls its observer on another one, so that a flush
/// blocks no user interface. The system does not suspend the app before the observer has returned from `background`,
/// or until the time is over that it grants (`performExpiringActivity`, which exists in extensions as well). At the
/// end of the app the main thread waits for the observer, because the process ends when the notification returns: a
/// backend must not need the main thread then.
///
/// Compiled against declarations of UIKit on Linux, with its logic tested there; not run on an Apple platform.
public final class ApplicationLifecycle: LifecycleSource, @unchecked Sendable {
    // Sendable: `tokens` is accessed only under `lock`.
    private let lock = NSLock()
    private let clock: any SchedulingClock
    private var tokens: [any NSObjectProtocol] = []

    /// Creates a source.
    /// - Parameter clock: times the phases; the instrument must have the same clock.
    public init(clock: any SchedulingClock = SystemClock()) { self.clock = clock }

    /// Reports to `observer` from now on; nil ends the reports.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        let center = NotificationCenter.default
        lock.withLock {
            for token in tokens { center.removeObserver(token) }
            tokens = []
            guard let observer else { return }
            let notices = NoticeQueue(clock, observer)
            tokens = Self.phases.map { name, phase in
                center.addObserver(forName: name, object: nil, queue: nil) { _ in Self.enter(phase, notices) }
            }
        }
    }

    private static func enter(_ phase: LifecyclePhase, _ notices: NoticeQueue) {
        switch phase {
        case .background:
            let end = DispatchSemaphore(value: 0)
            // The system calls the block once more, on another thread, when the time is over; and only then if there is
            // no time at all.
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Delivery of samples") { isExpired in
                if isExpired { end.signal() } else { end.wait() }
            }
            notices.report(phase) { end.signal() }
        case .terminating: notices.reportAndWait(phase)
        default: notices.report(phase)
        }
    }

    private static let phases: [(Notification.Name, LifecyclePhase)] = [
        (UIApplication.didBecomeActiveNotification, .active),
        (UIApplication.willResignActiveNotification, .inactive),
        (UIApplication.willEnterForegroundNotification, .foreground),
        (UIApplication.didEnterBackgroundNotification, .background),
        (UIApplication.willTerminateNotification, .terminating),
        (UIApplication.didReceiveMemoryWarningNotification, .memoryPressure),
    ]
}
#endif
