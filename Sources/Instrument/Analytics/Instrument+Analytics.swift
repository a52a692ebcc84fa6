extension Instrument: AnalyticsObserver {
    /// Emits an app event through the chain, from a separate tracker that is added with the first one.
    public func didLog(_ event: any AnalyticsEvent, values: AnalyticsValues) {
        submit(Action(event.name), from: appTracker, at: nil, scoped: values, attributes: [:])
    }
}

/// Stands for the app itself, which reports typed events.
final class AppTracker: Tracker {
    let target: String? = "app"
    func begin(in context: TrackerContext) {}
}
