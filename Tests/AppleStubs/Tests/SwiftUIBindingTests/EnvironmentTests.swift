import Instrument
import InstrumentSwiftUI
import SwiftUI
import Testing

private struct AppEvent: AnalyticsEvent {
    let name: String
}
extension AnalyticsEvent where Self == AppEvent {
    fileprivate static var view: Self { AppEvent(name: "View") }
}

private enum SourceKey: AnalyticsKey { static let key = "source" }
private enum ScreenKey: AnalyticsKey { static let key = "screen" }
extension AnalyticsValues {
    fileprivate var source: String? {
        get { self[SourceKey.self] }
        set { self[SourceKey.self] = newValue }
    }
    fileprivate var screen: String? {
        get { self[ScreenKey.self] }
        set { self[ScreenKey.self] = newValue }
    }
}

private final class Listener: AnalyticsObserver {
    private let heard = Lock<[String]>([])
    var all: [String] { heard.withLock { $0 } }
    func didLog(_ event: any AnalyticsEvent, values: AnalyticsValues) { heard.withLock { $0.append("\(values)") } }
}

/// Logs when it appears, in the way that the test wants.
private struct LoggingView: View {
    var how: (Analytics) -> Void = { $0(.view) }
    @Environment(\.analytics) private var log

    var body: some View {
        let (log, how) = (log, how)
        return Text("film").onAppear { how(log) }
    }
}

@MainActor
@Suite("The analytics of a view hierarchy", .serialized)
struct EnvironmentTests {
    private let listener = Listener()

    /// Renders, and lets every view appear.
    private func show(_ view: some View) -> [String] {
        Analytics.register(listener)
        defer { Analytics.unregister(listener) }
        for element in Renderer.render(view) { if case .appear(let action) = element { action() } }
        return listener.all
    }

    @Test("A view without values logs none")
    func empty() { #expect(show(LoggingView()) == [""]) }

    @Test("Values of the hierarchy merge, the inner one wins, and siblings see nothing of each other")
    func hierarchy() {
        let view = VStack {
            LoggingView().analytics(\.source, "inner")
            LoggingView().analytics(\.screen, "film")
            LoggingView().analytics(\.source, nil)
        }.analytics(\.source, "app-tabs")
        #expect(show(view) == ["source: inner", "screen: film | source: app-tabs", ""])
    }

    @Test("A log can append and replace for one event")
    func appendingAndReplacing() {
        let view = LoggingView { log in
            var values = AnalyticsValues()
            values.screen = "film"
            log(.view, appending: values)
            values.source = "other"
            log(.view, appending: values)
            log(.view, replacing: AnalyticsValues())
            log(.view)
        }
        #expect(
            show(view.analytics(\.source, "app-tabs")) == [
                "screen: film | source: app-tabs", "screen: film | source: other", "", "source: app-tabs",
            ]
        )
    }

    @Test("Values of a task that surrounds the call are nearer than those of the hierarchy")
    func innerTask() {
        let view = LoggingView { log in
            AnalyticsValues.with(\.source, "task") {
                log(.view)
                AnalyticsValues.with(\.source, nil) { log(.view) }
            }
            AnalyticsValues.with(\.screen, "film") { log(.view) }
        }
        #expect(show(view.analytics(\.source, "app-tabs")) == ["source: task", "", "screen: film | source: app-tabs"])
    }

    @Test("Values of a task that surrounds the whole hierarchy are farther than those of the hierarchy")
    func outerTask() {
        let heard = AnalyticsValues.with(\.source, "app") {
            AnalyticsValues.with(\.screen, "launch") { show(LoggingView().analytics(\.source, "app-tabs")) }
        }
        #expect(heard == ["screen: launch | source: app-tabs"])
    }
}
