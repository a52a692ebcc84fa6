#if canImport(AppKit) && !targetEnvironment(macCatalyst)
internal import AppKit
internal import Dispatch
internal import Foundation
internal import Instrument

/// The app's lifecycle on a Mac by AppKit's notifications, with sleep and memory pressure.
///
/// A hidden app is in the background; the system does not stop it there, so the observer may take its time on a queue
/// of the source. The system reports the end on the main thread, which waits. Memory pressure concerns the whole
/// system.
///
/// Compiled against declarations of AppKit on Linux, with its logic tested there; not run on an Apple platform.
public final class DesktopLifecycle: LifecycleSource, @unchecked Sendable {
    // Sendable: both variables are accessed only under `lock`.
    private let lock = NSLock()
    private static let queue = DispatchQueue(label: "instrument.lifecycle")
    private var tokens: [(NotificationCenter, any NSObjectProtocol)] = []
    private var pressure: (any DispatchSourceMemoryPressure)?

    /// Creates a source.
    public init() {}

    /// Reports to `observer` from now on; nil ends the reports.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        lock.withLock {
            for (center, token) in tokens { center.removeObserver(token) }
            pressure?.cancel()
            (tokens, pressure) = ([], nil)
            guard let observer else { return }
            tokens = Self.phases.map { name, phase in Self.observe(name, phase, in: .default, observer) }
            let workspace = NSWorkspace.shared.notificationCenter
            tokens.append(Self.observe(NSWorkspace.didWakeNotification, .resumed, in: workspace, observer))
            let source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: Self.queue)
            source.setEventHandler { observer(LifecycleNotice(.memoryPressure)) }
            source.activate()
            pressure = source
        }
    }

    private static func observe(
        _ name: Notification.Name,
        _ phase: LifecyclePhase,
        in center: NotificationCenter,
        _ observer: @escaping @Sendable (LifecycleNotice) -> Void
    ) -> (NotificationCenter, any NSObjectProtocol) {
        let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            if phase == .terminating { return observer(LifecycleNotice(phase)) }
            queue.async { observer(LifecycleNotice(phase)) }
        }
        return (center, token)
    }

    private static let phases: [(Notification.Name, LifecyclePhase)] = [
        (NSApplication.didBecomeActiveNotification, .active),
        (NSApplication.didResignActiveNotification, .inactive),
        (NSApplication.didUnhideNotification, .foreground),
        (NSApplication.didHideNotification, .background),
        (NSApplication.willTerminateNotification, .terminating),
    ]
}
#endif
