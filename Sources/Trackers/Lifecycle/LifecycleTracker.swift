public import Instrument

/// Reports what happens to the app, and sees to it that samples leave before the app does.
///
/// ```swift
/// let signals = try SignalLifecycle.install()
/// instrument.add(LifecycleTracker(signals, flushing: instrument.queue, telling: [appStateCollector, deviceCollector]))
/// ```
///
/// Each phase becomes an event, then the tracker notifies the observers, on the same thread.
///
/// When the app goes to the background, or ends, the queue is flushed within a deadline, on the source's thread and no task's: an app
/// that blocks the few threads that tasks have, or a backend that hangs, costs the grace and no more.
public final class LifecycleTracker: Tracker {
    /// Sent as `trackerTarget`.
    public let target: String? = "app"
    private let sources: [any LifecycleSource]
    private let queue: BatchQueue
    private let observers: [any LifecycleObserver]
    private let backgroundGrace: Duration
    private let terminationGrace: Duration

    /// Creates a tracker of the app's life.
    ///
    /// - Parameters:
    ///   - sources: tell what happens.
    ///   - queue: the queue of the instrument that the tracker is added to.
    ///   - observers: receive each phase, in order, before the flush.
    ///   - backgroundGrace: how long the flush before a stop may take.
    ///   - terminationGrace: how long the flush before the end may take.
    public init(
        _ sources: any LifecycleSource...,
        flushing queue: BatchQueue,
        telling observers: [any LifecycleObserver] = [],
        backgroundGrace: Duration = .seconds(2),
        terminationGrace: Duration = .seconds(5)
    ) {
        self.sources = sources
        self.queue = queue
        self.observers = observers
        self.backgroundGrace = backgroundGrace
        self.terminationGrace = terminationGrace
    }

    /// Begins to watch.
    public func begin(in context: TrackerContext) {
        let (queue, observers) = (queue, observers)
        let grace = [LifecyclePhase.background: backgroundGrace, .terminating: terminationGrace]
        for source in sources {
            source.report { notice in
                context.emit(notice.phase.action, at: notice.instant, attributes: notice.attributes)
                for observer in observers { observer.enter(notice.phase) }
                if let grace = grace[notice.phase] { queue.flushAndWait(timeout: grace) }
            }
        }
    }

    /// The signal that the process received, and how long the machine slept.
    public var declaredFields: PrivacyCatalogue { .lifecycle }

    /// Watches no more.
    public func end() { for source in sources { source.report(to: nil) } }
}
