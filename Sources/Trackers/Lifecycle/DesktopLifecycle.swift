#if canImport(AppKit) && !targetEnvironment(macCatalyst)
internal import AppKit
internal import Dispatch
internal import Foundation
public import Instrument

/// The app's lifecycle on a Mac by AppKit's notifications, with sleep and memory pressure.
///
/// The source calls its observer on a separate queue, so that a flush blocks no user interface. A hidden app is in the
/// background; the system does not stop it there. At the end of the app the main thread waits for the observer: a
/// backend must not need the main thread then. Memory pressure concerns the whole system.
///
/// Compiled against declarations of AppKit on Linux, with its logic tested there; not run on an Apple platform.
public final class DesktopLifecycle: LifecycleSource, @unchecked Sendable {
    // Sendable: both variables are accessed only under `lock`.
    private let lock = NSLock()
    private let clock: any SchedulingClock
    private var tokens: [(NotificationCenter, any NSObjectProtocol)] = []
    private var pressure: (any DispatchSourceMemoryPressure)?

    /// Creates a source.
    /// - Parameter clock: times the phases; the instrument must have the same clock.
    public init(clock: any SchedulingClock = SystemClock()) { self.clock = clock }

    /// Reports to `observer` from now on; nil ends the reports.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        lock.withLock {
            for (center, token) in tokens { center.removeObserver(token) }
            pressure?.cancel()
            (tokens, pressure) = ([], nil)
            guard let observer else { return }
            let notices = NoticeQueue(clock, observer)
            tokens = Self.phases.map { name, phase in Self.observe(name, phase, in: .default, notices) }
            let workspace = NSWorkspace.shared.notificationCenter
            tokens.append(Self.observe(NSWorkspace.didWakeNotification, .resumed, in: workspace, notices))
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: nil)
            source.setEventHandler { notices.report(.memoryPressure) }
            source.activate()
            pressure = source
        }
    }

    private static func observe(
        _ name: Notification.Name,
        _ phase: LifecyclePhase,
        in center: NotificationCenter,
        _ notices: NoticeQueue
    ) -> (NotificationCenter, any NSObjectProtocol) {
        let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            if phase == .terminating { notices.reportAndWait(phase) } else { notices.report(phase) }
        }
        return (center, token)
    }

    // The values of AppKit's constants: `NSApplication.didBecomeActiveNotification` and the others belong to the main
    // actor, and reports may begin on any thread.
    private static let phases: [(Notification.Name, LifecyclePhase)] = [
        (Notification.Name("NSApplicationDidBecomeActiveNotification"), .active),
        (Notification.Name("NSApplicationDidResignActiveNotification"), .inactive),
        (Notification.Name("NSApplicationDidUnhideNotification"), .foreground),
        (Notification.Name("NSApplicationDidHideNotification"), .background),
        (Notification.Name("NSApplicationWillTerminateNotification"), .terminating),
    ]
}
#endif
