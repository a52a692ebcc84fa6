import InstrumentTestKit
import Testing

@testable import Instrument

@Suite("Field admission")
struct CollectedFieldsTests {
    private let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .zero))
    private let reports = Lock([Diagnostic]())

    private func instrument(_ privacy: PrivacyRules = PrivacyRules()) -> Instrument {
        let reports = reports
        return Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], clock: VirtualClock(), privacy: privacy)
        { diagnostic in
            reports.withLock { $0.append(diagnostic) }
        }
    }

    /// The names of the attributes of what arrived, without those that every event has.
    private func arrived(_ instrument: Instrument) async -> [[String]] {
        await instrument.queue.flush(timeout: .seconds(1800))
        let everywhere: Set<AttributeName> = ["senderId", "trackerTarget"]
        return backend.events.map { event in
            event.attributes.map(\.name).filter { !everywhere.contains($0) }.map(\.spelling).sorted()
        }
    }

    private var reported: [Diagnostic] { reports.withLock { $0 } }

    @Test("What the app says is the app's to say: emitted, set, in scope, and typed events")
    func app() async {
        let instrument = instrument()
        let id = instrument.add(FieldTracker())
        instrument.set(AttributeKey<String>("set"), to: "by the app")
        AnalyticsValues.with(\.scoped, "yes") {
            instrument.emit(Action("Tapped"), from: id, attributes: ["emitted": 1])
            instrument.didLog(Opened(), values: .current)
        }
        #expect(await arrived(instrument) == [["emitted", "scoped", "set"], ["scoped", "set"]])
        #expect(reported.isEmpty)
    }

    @Test(
        "What a tracker emits has to be declared by it, the vocabulary or the app; the rest is left out and said once"
    )
    func emitted() async {
        let instrument = instrument(PrivacyRules(declaring: [FieldDeclaration("apps", .text, "The app's")]))
        let tracker = FieldTracker([FieldDeclaration("own", .integer, "Its own")])
        let other = FieldTracker([FieldDeclaration("others", .integer, "Another's")])
        instrument.add(tracker)
        instrument.add(other)
        let attributes: Attributes = [
            "own": 1, "others": 2, "apps": "3", "title": "Film", "timeSinceMenuOpen": 5, "secret": "x",
        ]
        for _ in 0..<2 { tracker.emit(attributes) }
        other.emit(["secret": "y", "others": 1])
        #expect(
            await arrived(instrument).map { $0.filter { $0 != "timeSinceSaid" } } == [
                ["apps", "own", "timeSinceMenuOpen", "title"], ["apps", "own", "timeSinceMenuOpen", "title"],
                ["others"],
            ]
        )
        #expect(Set(reported) == [.undeclared("secret"), .undeclared("others")])
        #expect(reported.count == 2)
    }

    @Test("What scopes and instrument say stays the app's, also in events that a tracker emits")
    func scoped() async {
        let instrument = instrument()
        let tracker = FieldTracker()
        instrument.add(tracker)
        instrument.set(AttributeKey<String>("set"), to: "by the app")
        AnalyticsValues.with(\.scoped, "yes") { tracker.emit(["secret": 1]) }
        #expect(await arrived(instrument) == [["scoped", "set"]])
    }

    @Test("A getter of a field that is not declared is asked by name alone, until the app declares it")
    func getters() async {
        let instrument = instrument()
        let id = instrument.add(
            FieldTracker([FieldDeclaration("own", .integer, "Its own")], getters: ["own", "secret"])
        )
        instrument.emit(Action("Said"), from: id)
        #expect(instrument.value(of: AttributeKey<Int>("secret"), from: id) == 7)
        instrument.declare([FieldDeclaration("secret", .integer, "None any more")])
        instrument.emit(Action("Told"), from: id)
        #expect(await arrived(instrument) == [["own"], ["own", "secret", "timeSinceSaid"]])
        #expect(reported == [.undeclared("secret")])
    }

    @Test("What a tracker's look at an event adds has to be declared, too; what it changes of the app's stays")
    func hook() async {
        let instrument = instrument()
        let id = instrument.add(
            FieldTracker { event in
                event.attributes["apps"] = "changed"
                event.attributes["secret"] = 1
                event.attributes["title"] = "Film"
            }
        )
        instrument.emit(Action("Said"), from: id, attributes: ["apps": "said"])
        #expect(await arrived(instrument) == [["apps", "title"]])
        #expect(backend.events.first?.attributes["apps"] == "changed")
        #expect(reported == [.undeclared("secret")])
    }

    @Test("The app's declaration counts where a tracker has another; a tracker may declare again which fields are on")
    func precedence() async {
        let off = FieldDeclaration("apps", .integer, "The app does not want it", isOn: false)
        let instrument = instrument(PrivacyRules(declaring: [off]))
        let choice = FieldDeclaration("choice", .integer, "Off until the person chose", isOn: false)
        let tracker = FieldTracker([off.turned(on: true), choice])
        instrument.add(tracker)
        let strange = FieldDeclaration("strange", .integer, "Declared too late")
        tracker.emit(["apps": 1, "choice": 1, "strange": 1])
        tracker.redeclare([choice.turned(on: true), strange, off.turned(on: true)])
        tracker.emit(["apps": 1, "choice": 2, "strange": 1])
        tracker.redeclare([choice])
        tracker.emit(["apps": 1, "choice": 3, "strange": 1])
        #expect(await arrived(instrument).map { $0.filter { $0 != "timeSinceSaid" } } == [[], ["choice"], []])
        #expect(instrument.catalogue["apps"]?.isOn == false)
        #expect(instrument.catalogue["strange"] == nil)
    }

    @Test("Where nothing has to be declared, nothing is looked at")
    func open() async {
        let instrument = instrument(PrivacyRules(admission: .open))
        let tracker = FieldTracker(getters: ["read"]) { $0.attributes["added"] = 1 }
        instrument.add(tracker)
        tracker.emit(["emitted": 1])
        #expect(await arrived(instrument) == [["added", "emitted", "read"]])
        #expect(reported.isEmpty)
    }
}

private struct Opened: AnalyticsEvent { let name = "Opened" }

private enum ScopedKey: AnalyticsKey { static let key = "scoped" }

extension AnalyticsValues {
    fileprivate var scoped: String? {
        get { self[ScopedKey.self] }
        set { self[ScopedKey.self] = newValue }
    }
}

/// Collects the given fields.
private final class FieldTracker: Tracker {
    let declaredFields: PrivacyCatalogue
    private let getters: [String]
    private let hook: @Sendable (inout Event) -> Void
    private let context = Lock<TrackerContext?>(nil)

    init(
        _ declared: PrivacyCatalogue = [],
        getters: [String] = [],
        hook: @escaping @Sendable (inout Event) -> Void = { _ in }
    ) {
        (declaredFields, self.getters, self.hook) = (declared, getters, hook)
    }

    func begin(in context: TrackerContext) {
        self.context.withLock { $0 = context }
        for getter in getters { context.register(AttributeKey<Int>(getter)) { 7 } }
    }

    func process(_ event: inout Event) -> Verdict {
        hook(&event)
        return .accepted
    }

    func emit(_ attributes: Attributes) {
        context.withLock { $0 }?.emit(Action("Said"), attributes: attributes)
    }

    func redeclare(_ fields: PrivacyCatalogue) { context.withLock { $0 }?.redeclare(fields) }
}
