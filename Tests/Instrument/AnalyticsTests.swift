import Instrument
import Testing

private struct AppEvent: AnalyticsEvent {
    let name: String
}
extension AnalyticsEvent where Self == AppEvent {
    fileprivate static var view: Self { AppEvent(name: "View") }
}

private enum SourceKey: AnalyticsKey { static let key = "source" }
private enum CountKey: AnalyticsKey {
    typealias Value = Int
    static let key = "source"
}
extension AnalyticsValues {
    fileprivate var source: String? {
        get { self[SourceKey.self] }
        set { self[SourceKey.self] = newValue }
    }
}

private final class Listener: AnalyticsObserver {
    let heard = Lock<[String]>([])
    func didLog(_ event: any AnalyticsEvent, values: AnalyticsValues) {
        heard.withLock { $0.append("\(event.name) \(values)") }
    }
}

@Suite("App events and scoped values", .serialized)
struct AnalyticsTests {
    let log = Analytics()

    @Test("Absent is nil, nil removes, and another type under the same name reads as nil")
    func slots() {
        var values = AnalyticsValues()
        #expect(values.source == nil)
        values.source = "tabs"
        #expect(values[CountKey.self] == nil)
        values[CountKey.self] = 3
        #expect(values.source == nil)
        #expect(values.description == "source: 3")
        #expect(values.debugDescription == "- source: 3")
        values[CountKey.self] = nil
        #expect(values.description == "")
    }

    @Test("Inner scopes override outer scopes, child tasks inherit values, and a log appends or replaces")
    func scopes() async {
        let listener = Listener()
        Analytics.register(listener)
        Analytics.register(listener)
        var other = AnalyticsValues()
        other.source = "other"
        await AnalyticsValues.with(\.source, "outer") {
            AnalyticsValues.with(\.source, "inner") { log(.view) }
            await Task { log(.view) }.value
            log(.view, appending: other)
            log(.view, replacing: AnalyticsValues())
        }
        Analytics.unregister(listener)
        log(.view)
        let expected = ["View source: inner", "View source: outer", "View source: other", "View "]
        #expect(listener.heard.withLock { $0 } == expected)
    }

    @Test("A log with a scope merges it with the task's values, and the scope that was opened later wins")
    func carriedScopes() {
        let listener = Listener()
        Analytics.register(listener)
        defer { Analytics.unregister(listener) }
        AnalyticsValues.with(\.source, "outer") {
            // Like an environment: without the task's values, in a scope that is opened here.
            let log = Analytics(values: AnalyticsValues().setting(\.source, "carried"))
            log(.view)
            AnalyticsValues.with(\.source, "inner") { log(.view) }
            AnalyticsValues.with(\.source, nil) { log(.view) }
            Analytics(values: AnalyticsValues().setting(\.source, nil))(.view)
            Analytics(values: AnalyticsValues())(.view)
        }
        log(.view)
        #expect(
            listener.heard.withLock { $0 } == [
                "View source: carried", "View source: inner", "View ", "View ", "View source: outer", "View ",
            ]
        )
    }

    @Test("A scope that removes a value leaves nothing to see")
    func removal() {
        AnalyticsValues.with(\.source, "outer") {
            AnalyticsValues.with(\.source, nil) {
                #expect(AnalyticsValues.current.isEmpty)
                #expect(AnalyticsValues.current.attributes.isEmpty)
                #expect(AnalyticsValues.current.debugDescription == "")
            }
        }
    }

    @Test("Observers are held weakly")
    func weakness() {
        weak var gone: Listener?
        do {
            let listener = Listener()
            gone = listener
            Analytics.register(listener)
        }
        log(.view)
        #expect(gone == nil)
    }

    @Test("App events pass the chain, and scoped values reach the events of trackers")
    func instrument() async {
        let backend = ScriptedBackend()
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [backend], clock: VirtualClock())
        let id = instrument.add(PlainTracker())
        instrument.set(AttributeKey<String>("app"), to: "demo")
        instrument.set(AttributeKey<String>("app"), to: "narrow", in: .trackerAction(id, .start))
        instrument.set(AttributeKey<String>("app"), to: "broad", in: .tracker(id))
        Analytics.register(instrument)
        AnalyticsValues.with(\.source, "tabs") {
            log(.view)
            instrument.emit(.start, from: id)
        }
        Analytics.unregister(instrument)
        instrument.emit(.end, from: id)
        await instrument.queue.flush(timeout: .seconds(1800))
        let attributes = backend.delivered.map(\.attributes)
        #expect(attributes.map { $0["source"] } == ["tabs", "tabs", nil])
        #expect(attributes.map { $0["app"] } == ["demo", "narrow", "broad"])
        #expect(attributes.first?["trackerTarget"] == "app")
    }
}
