/// Something that happened in the app. Offered in dot syntax through `extension AnalyticsEvent where Self == …`.
public protocol AnalyticsEvent: Sendable {
    /// The name; the event's action has the same.
    var name: String { get }
}

/// Receives each app event. ``Instrument`` is the usual observer.
public protocol AnalyticsObserver: AnyObject, Sendable {
    /// An app event was logged, with the values that it carries. Called on the thread that logged it.
    func didLog(_ event: any AnalyticsEvent, values: AnalyticsValues)
}

/// Logs app events with the values in scope: `log(.view)`.
public struct Analytics: Sendable {
    private struct WeakObserver { weak var observer: (any AnalyticsObserver)? }
    private static let observers = Lock([WeakObserver]())

    private let scoped: AnalyticsValues?

    /// Creates a log that takes the values in force where it is called.
    public init() { scoped = nil }

    /// Creates a log that carries a scope with it, as an environment does.
    ///
    /// The values in force where it is called count, too. Where both have a value, the nearer wins: that of the scope
    /// that was opened later.
    public init(values: AnalyticsValues) { scoped = values }

    /// The same log with further values in its scope, which win.
    package func merging(_ values: AnalyticsValues) -> Analytics {
        Analytics(values: (scoped ?? AnalyticsValues()).merging(values))
    }

    /// Logs an event with the values in scope.
    public func callAsFunction(_ event: some AnalyticsEvent) { Self.tell(event, scope) }

    /// Logs an event with the values in scope and `values`, which win, for this event only.
    public func callAsFunction(_ event: some AnalyticsEvent, appending values: AnalyticsValues) {
        Self.tell(event, scope.merging(values))
    }

    /// Logs an event with exactly `values`, for this event only.
    public func callAsFunction(_ event: some AnalyticsEvent, replacing values: AnalyticsValues) {
        Self.tell(event, values)
    }

    /// Tells `observer` of events from now on, once each. It is held weakly.
    public static func register(_ observer: any AnalyticsObserver) {
        observers.withLock { observers in
            observers.removeAll { $0.observer == nil || $0.observer === observer }
            observers.append(WeakObserver(observer: observer))
        }
    }

    /// Tells `observer` of events no more.
    public static func unregister(_ observer: any AnalyticsObserver) {
        observers.withLock { $0.removeAll { $0.observer == nil || $0.observer === observer } }
    }

    private var scope: AnalyticsValues {
        scoped.map { $0.mergingNearer(AnalyticsValues.current) } ?? AnalyticsValues.current
    }

    private static func tell(_ event: any AnalyticsEvent, _ values: AnalyticsValues) {
        let living = observers.withLock { observers in
            observers.removeAll { $0.observer == nil }
            return observers.compactMap(\.observer)
        }
        for observer in living { observer.didLog(event, values: values) }
    }
}
