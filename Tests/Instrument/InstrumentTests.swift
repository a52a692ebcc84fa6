import Instrument
import TestTraits
import Testing

/// Accepts every event except the given ones; may emit while it processes.
struct OpenHub: Hub {
    var rejected: Action?
    var pingsAt: Action?
    var onProcess: (@Sendable (Event) -> Void)?

    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        onProcess?(event)
        if event.action == rejected { return .rejected(.alreadyDone) }
        if event.action == pingsAt { context.startPings(of: event.tracker) }
        return .accepted
    }
}

final class PlainTracker: Tracker {
    let target: String? = "plain"
    private let onBegin: @Sendable (TrackerContext) -> Void
    init(_ onBegin: @escaping @Sendable (TrackerContext) -> Void = { _ in }) { self.onBegin = onBegin }
    func begin(in context: TrackerContext) { onBegin(context) }
}

@Suite("Instrument")
struct InstrumentTests {
    let clock = VirtualClock()
    let backend = ScriptedBackend()

    func events(of instrument: Instrument) async -> [Event] {
        await instrument.queue.flush(timeout: .seconds(1800))
        return backend.delivered.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    @Test("An event carries its sender, its target, getters that pass their filter, and times of accepted actions only")
    func assembly() async {
        let instrument = Instrument(hub: OpenHub(rejected: .stop), metricalc: nil, backends: [backend], clock: clock)
        let id = instrument.add(
            PlainTracker { context in
                context.register(.bitrate) { 5 }
                context.register(.title, when: { $0.action == .end }) { "only at the end" }
            }
        )
        instrument.emit(.start, from: id)
        clock.advance(by: .milliseconds(40))
        instrument.emit(.stop, from: id)
        clock.advance(by: .milliseconds(2))
        instrument.emit(.end, from: id, attributes: ["fps": .double(.nan), "bitrate": 6])
        let events = await events(of: instrument)
        #expect(events.map(\.action) == [.start, .end])
        #expect(events[0][.bitrate] == 5)
        #expect(events[0][.title] == nil)
        #expect(events[0][.trackerTarget] == "plain")
        #expect(events[1][.title] == "only at the end")
        #expect(events[1][.bitrate] == 6)
        #expect(events[1][.fps] == nil)
        #expect(events[1][Action.start.timeKey] == 42)
        #expect(events[1][Action.stop.timeKey] == nil)
        #expect(events[1][.senderId]?.hasSuffix("-0") == true)
        #expect(instrument.rejectedCounts == [.stop: [.alreadyDone: 1]])
    }

    @Test("An event emitted inside a component runs next")
    func reentrancy() async {
        let context = Lock<TrackerContext?>(nil)
        let hub = OpenHub(onProcess: { event in
            if event.action == .start { context.withLock { $0 }?.emit(.ping) }
        })
        let instrument = Instrument(hub: hub, metricalc: nil, backends: [backend], clock: clock)
        let id = instrument.add(PlainTracker { new in context.withLock { $0 = new } })
        instrument.emit(.start, from: id)
        instrument.emit(.end, from: id)
        #expect(await events(of: instrument).map(\.action) == [.start, .ping, .end])
    }

    @Test("Pings are emitted every 30 s until the tracker is removed")
    func pings() async {
        let instrument = Instrument(hub: OpenHub(pingsAt: .start), metricalc: nil, backends: [backend], clock: clock)
        let id = instrument.add(PlainTracker())
        instrument.emit(.start, from: id)
        clock.advance(by: .seconds(95))
        instrument.remove(id)
        clock.advance(by: .seconds(95))
        let pings = await events(of: instrument).filter { $0.action == .ping }
        #expect(pings.map(\.time.instant.milliseconds) == [30_000, 60_000, 90_000])
    }

    @Test("An unknown tracker's emit does nothing, and an instrument without a backend works")
    func unknown() async {
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, clock: clock)
        instrument.emit(.start, from: TrackerID(7))
        let id = instrument.add(PlainTracker())
        instrument.emit(.start, from: id)
        #expect(await instrument.shutdown(timeout: .seconds(1800)))
    }

    @Test("Unknown trackers, rejections and values that are not finite are reported")
    func diagnostics() {
        let said = Lock<[Diagnostic]>([])
        let instrument = Instrument(
            hub: OpenHub(rejected: .stop),
            metricalc: nil,
            clock: clock,
            onDiagnostic: { diagnostic in said.withLock { $0.append(diagnostic) } }
        )
        let id = instrument.add(PlainTracker())
        instrument.emit(.start, from: TrackerID(7))
        instrument.emit(.stop, from: id)
        instrument.emit(.ping, from: id, attributes: ["fps": .double(.nan)])
        let expected: [Diagnostic] = [
            .unknownTracker(TrackerID(7), .start), .rejected(.stop, id, .alreadyDone), .notFinite(["fps"], .ping, id),
        ]
        #expect(said.withLock { $0 } == expected)
    }

    @Test("Four threads that emit at once lose nothing and keep each tracker's order")
    func threads() async {
        let instrument = Instrument(hub: OpenHub(), metricalc: nil, backends: [backend], clock: clock)
        let trackers = (0..<4).map { _ in instrument.add(PlainTracker()) }
        let count = Rounds.of(50_000)
        await withTaskGroup(of: Void.self) { group in
            for id in trackers {
                group.addTask {
                    for number in 0..<count { instrument.emit(.ping, from: id, attributes: ["number": .int(number)]) }
                }
            }
        }
        let events = await events(of: instrument)
        for id in trackers {
            let numbers = events.filter { $0.tracker == id }.map { $0[AttributeKey<Int>("number")] }
            #expect(numbers == Array(0..<count))
        }
    }
}
