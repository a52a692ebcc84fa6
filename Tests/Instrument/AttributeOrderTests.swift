import Instrument
import InstrumentTestKit
import Testing

private enum ScopedTitle: AnalyticsKey { static let key = "title" }
private enum ScopedScreen: AnalyticsKey { static let key = "screen" }
extension AnalyticsValues {
    fileprivate var title: String? {
        get { self[ScopedTitle.self] }
        set { self[ScopedTitle.self] = newValue }
    }
    fileprivate var screen: String? {
        get { self[ScopedScreen.self] }
        set { self[ScopedScreen.self] = newValue }
    }
}

@Suite("Precedence of attribute values")
struct AttributeOrderTests {
    let clock = VirtualClock()
    let backend = CollectingBackend()
    let player = ScriptedPlayer()

    private func events(of instrument: Instrument) async -> [Event] {
        await instrument.queue.flush(timeout: .seconds(10))
        return backend.events
    }

    @Test("An explicit position overrides the content's and the player's, by emit and by signal, with every hub")
    func position() async {
        for hub in [AdsHub(), CoreHub(), NoOpHub(), MultiplexHub([AdsHub(), NoOpHub()])] as [any Hub] {
            let (backend, content, ad) = (CollectingBackend(), ScriptedPlayer(), ScriptedPlayer())
            let instrument = Instrument(hub: MultiplexHub([hub]), metricalc: nil, backends: [backend], clock: clock)
            content.set(\.position, to: .milliseconds(12_345))
            let id = instrument.add(PlayerTracker(content))
            let adID = instrument.add(PlayerTracker(ad), adsOf: id)
            instrument.emit(.ping, from: id, attributes: ["position": 777])
            instrument.emit(.adClick, from: adID, attributes: ["position": 777])
            content.signal(.ping, attributes: ["position": 777])
            ad.signal(.adClick, attributes: ["position": 777])
            await instrument.queue.flush(timeout: .seconds(10))
            let found = backend.events.filter { [.ping, .adClick].contains($0.action) }
            #expect(found.map { $0.attributes["position"] } == Array(repeating: 777, count: 4))
        }
    }

    @Test("With the ads hub, an ad's event without a position gets the content's")
    func contentPosition() async {
        let instrument = Instrument(hub: AdsHub(), metricalc: nil, backends: [backend], clock: clock)
        player.set(\.position, to: .milliseconds(12_345))
        let id = instrument.add(PlayerTracker(player))
        let adID = instrument.add(PlayerTracker(ScriptedPlayer()), adsOf: id)
        instrument.emit(.adClick, from: adID)
        #expect(await events(of: instrument).last?.attributes["position"] == 12_345)
    }

    @Test(
        "The order of precedence is emit, getters, scoped values, times, attributes of the instrument"
    )
    func order() async {
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], clock: clock)
        let id = instrument.add(PlayerTracker(player))
        instrument.set(.title, to: "instrument", in: .trackerAction(id, .ping))
        instrument.set(Action.start.timeKey, to: -1)
        instrument.emit(.start, from: id)
        instrument.emit(.ping, from: id)
        AnalyticsValues.with(\.title, "scope") {
            instrument.emit(.ping, from: id)
            player.set(\.title, to: "player")
            instrument.emit(.ping, from: id)
            instrument.emit(.ping, from: id, attributes: ["title": "emit", "timeSinceStart": 99])
        }
        let pings = await events(of: instrument).filter { $0.action == .ping }
        #expect(pings.map { $0[.title] } == ["instrument", "scope", "player", "emit"])
        #expect(pings.map { $0[Action.start.timeKey] } == [0, 0, 0, 99])
    }

    @Test("A given value of a time attribute stays, also when another event overtakes its event")
    func overtaken() async {
        let instrument = Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], clock: clock)
        let isFirst = Lock(true)
        let tracker = PlainTracker { context in
            // Runs once, after the creation of an event and before the chain processes it.
            context.register(.title) {
                let now = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if now { context.emit(.start) }
                return "title"
            }
            context.register(Action("Read").timeKey) { 5 }
        }
        let id = instrument.add(tracker)
        clock.advance(by: .seconds(1))
        AnalyticsValues.with(\.screen, "first") {
            _ = instrument.emit(.ping, from: id, attributes: ["timeSinceStart": 99, "timeSinceRead": 98])
        }
        isFirst.withLock { $0 = true }
        instrument.emit(Action("Read"), from: id)
        isFirst.withLock { $0 = true }
        clock.advance(by: .seconds(3))
        instrument.emit(.end, from: id)
        let events = await events(of: instrument)
        #expect(events.map(\.action) == [.start, .ping, .start, Action("Read"), .start, .end])
        #expect(events[1].attributes["timeSinceStart"] == 99)
        #expect(events[1].attributes["timeSinceRead"] == 98)
        #expect(events[1].attributes["screen"] == "first")
        // Attributes that no caller gave are updated, and a getter's values stay.
        #expect(events[5].attributes["timeSinceStart"] == 0)
        #expect(events[5].attributes["timeSinceRead"] == 5)
    }
}
