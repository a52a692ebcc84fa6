#if canImport(UIKit) && !os(watchOS)
internal import Foundation
internal import Instrument
internal import UIKit

/// The app's lifecycle by UIKit's notifications, including memory warnings. They arrive on the main thread.
///
/// Compiled against declarations of UIKit on Linux, with its logic tested there; not run on an Apple platform.
public final class ApplicationLifecycle: LifecycleSource, @unchecked Sendable {
    // Sendable: `tokens` is accessed only under `lock`.
    private let lock = NSLock()
    private var tokens: [any NSObjectProtocol] = []

    /// Creates a source.
    public init() {}

    /// Reports to `observer` from now on; nil ends the reports.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        let center = NotificationCenter.default
        lock.withLock {
            for token in tokens { center.removeObserver(token) }
            tokens = []
            guard let observer else { return }
            tokens = Self.phases.map { name, phase in
                center.addObserver(forName: name, object: nil, queue: nil) { _ in observer(LifecycleNotice(phase)) }
            }
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
