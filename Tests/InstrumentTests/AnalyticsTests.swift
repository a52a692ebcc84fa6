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

    @Test("Inner scopes win over outer ones, child tasks inherit, and a log may append or replace")
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

    @Test("An instrument sends app events through the chain, and scoped values reach what trackers emit")
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
