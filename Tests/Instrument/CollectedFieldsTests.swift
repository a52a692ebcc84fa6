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

    /// The names of the received attributes, without those of every event.
    private func arrived(_ instrument: Instrument) async -> [[String]] {
        await instrument.queue.flush(timeout: .seconds(1800))
        let everywhere: Set<AttributeName> = ["senderId", "trackerTarget"]
        return backend.events.map { event in
            event.attributes.map(\.name).filter { !everywhere.contains($0) }.map(\.spelling).sorted()
        }
    }

    private var reported: [Diagnostic] { reports.withLock { $0 } }

    @Test("Attributes of the app need no declaration: emitted, set, in scope, and in typed events")
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
        "An undeclared attribute that a tracker emits is left out, and its name is reported once"
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

    @Test("Scoped values and attributes of the instrument need no declaration in events that a tracker emits")
    func scoped() async {
        let instrument = instrument()
        let tracker = FieldTracker()
        instrument.add(tracker)
        instrument.set(AttributeKey<String>("set"), to: "by the app")
        AnalyticsValues.with(\.scoped, "yes") { tracker.emit(["secret": 1]) }
        #expect(await arrived(instrument) == [["scoped", "set"]])
    }

    @Test("A field that the app declares later, through instrument or queue, may be collected by every tracker")
    func declaredLater() async {
        let instrument = instrument()
        let tracker = FieldTracker()
        instrument.add(tracker)
        instrument.declare([FieldDeclaration("first", .integer, "Declared through the instrument")])
        instrument.queue.declare([FieldDeclaration("second", .integer, "Declared through the queue")])
        tracker.emit(["first": 1, "second": 2, "third": 3])
        #expect(await arrived(instrument) == [["first", "second"]])
        #expect(instrument.catalogue == instrument.queue.catalogue)
        #expect(reported == [.undeclared("third")])
    }

    @Test("A field of one tracker does not become a field of all trackers, whichever is added first")
    func separateTrackers() async {
        let instrument = instrument()
        let plain = FieldTracker()
        instrument.add(plain)
        instrument.add(FieldTracker([FieldDeclaration("own", .integer, "Its own")]))
        let later = FieldTracker()
        instrument.add(later)
        plain.emit(["own": 1])
        later.emit(["own": 1])
        #expect(await arrived(instrument) == [[], []])
        #expect(instrument.catalogue["own"] != nil)
    }

    @Test("A getter of an undeclared field is read only by name until the app declares the field")
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

    @Test("A tracker's hook may change attributes of the app, and may add only declared attributes")
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

    @Test("The app's declaration overrides a tracker's, and a tracker may redeclare which of its fields are on")
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

    @Test("Open admission leaves out nothing that a tracker collects")
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
