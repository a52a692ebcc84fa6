#if canImport(UIKit) && !os(watchOS)
internal import Foundation
internal import UIKit

/// The app's life as UIKit's notifications tell it, memory warnings among them. They come on the main thread.
///
/// Not verified: written from Apple's documentation, never compiled or run.
public final class ApplicationLifecycle: LifecycleSource, @unchecked Sendable {
    // Sendable: `tokens` is touched under `lock` only.
    private let lock = NSLock()
    private var tokens: [any NSObjectProtocol] = []

    /// Creates a source.
    public init() {}

    /// Reports to `observer` from now on; nil reports to nobody.
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
