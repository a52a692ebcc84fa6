#if canImport(SwiftUI)
public import Instrument
public import SwiftUI

private struct AnalyticsEnvironmentKey: EnvironmentKey {
    static var defaultValue: Analytics { Analytics(values: AnalyticsValues()) }
}

extension EnvironmentValues {
    /// Logs app events with the values of the view hierarchy.
    ///
    /// ```swift
    /// struct LibraryView: View {
    ///     @Environment(\.analytics) private var log
    ///
    ///     var body: some View {
    ///         FilmList().onAppear { log(.view) }
    ///     }
    /// }
    /// ```
    ///
    /// Values of the hierarchy (`.analytics(\.source, "app-tabs")`) and of tasks (`AnalyticsValues.with`) merge; where
    /// both have a value, the nearer wins.
    public var analytics: Analytics {
        get { self[AnalyticsEnvironmentKey.self] }
        set { self[AnalyticsEnvironmentKey.self] = newValue }
    }
}

extension View {
    /// Sets a value for the app events of this view and of the views in it; an inner view's value wins, nil removes it.
    ///
    /// ```swift
    /// TabView { … }.analytics(\.source, "app-tabs")
    /// ```
    public func analytics<Value>(
        _ path: WritableKeyPath<AnalyticsValues, Value?>,
        _ value: Value?
    ) -> some View {
        let scoped = AnalyticsValues().setting(path, value)
        return transformEnvironment(\.analytics) { $0 = $0.merging(scoped) }
    }
}
#endif
