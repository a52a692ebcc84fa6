import Instrument

/// The app's events.
struct AppEvent: AnalyticsEvent {
    let name: String
}

extension AnalyticsEvent where Self == AppEvent {
    static var view: Self { AppEvent(name: "View") }
    static var playTapped: Self { AppEvent(name: "PlayTapped") }
    static var stopTapped: Self { AppEvent(name: "StopTapped") }
}

/// The screen on which something happens.
enum ScreenKey: AnalyticsKey { static let key = "screen" }

extension AnalyticsValues {
    var screen: String? {
        get { self[ScreenKey.self] }
        set { self[ScreenKey.self] = newValue }
    }
}
