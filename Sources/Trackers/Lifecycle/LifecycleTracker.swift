public import Instrument

/// Reports the app's lifecycle, and delivers samples before the app is stopped or ends.
///
/// ```swift
/// let signals = try SignalLifecycle.install()
/// instrument.add(LifecycleTracker(signals, flushing: instrument.queue, telling: [appStateCollector, deviceCollector]))
/// ```
///
/// Each phase becomes an event, then the tracker notifies the observers, on the same thread.
///
/// When the app enters the background or ends, the tracker flushes the queue within a deadline, on the source's
/// thread and not in a task: an app that blocks the threads of Swift's pool, or a backend that hangs, costs at most
/// the grace time.
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
    ///   - sources: the sources of phases.
    ///   - queue: the queue of the instrument that the tracker is added to.
    ///   - observers: receive each phase, in order, before the flush.
    ///   - backgroundGrace: the time limit of the flush before a stop.
    ///   - terminationGrace: the time limit of the flush before the end.
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

    /// Starts observing the sources.
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

    /// The signal that the process received, and the duration of the machine's sleep.
    public var declaredFields: PrivacyCatalogue { .lifecycle }

    /// Stops observing the sources.
    public func end() { for source in sources { source.report(to: nil) } }
}
