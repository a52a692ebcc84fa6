import Instrument
import Testing

/// Accepts or rejects by a list, writes an attribute, asks for pings, and counts what it has accepted.
private struct MarkingHub: Hub {
    let name: String
    var rejected: Set<Action> = []
    let journal: ComponentJournal
    private var count = 0

    init(_ name: String, rejecting rejected: Set<Action> = [], _ journal: ComponentJournal) {
        (self.name, self.rejected, self.journal) = (name, rejected, journal)
    }

    mutating func process(_ event: inout Event, in context: inout HubContext) -> Verdict {
        if rejected.contains(event.action) { return .rejected(Rejection(name)) }
        count += 1
        event.attributes[AttributeName(name)] = .int(count)
        event.attributes["seenBy"] = .string((event[AttributeKey<String>("seenBy")] ?? "") + name)
        if event.action == .start { context.startPings(of: TrackerID(count)) }
        return .accepted
    }

    mutating func forget(_ tracker: TrackerID) { journal.note(name, "forget \(tracker)") }
    mutating func ready() { journal.note(name, "ready") }
    mutating func end() { journal.note(name, "end") }
}

@Suite("Multiplex hub")
struct MultiplexHubTests {
    let journal = ComponentJournal()
    let environment = RecordedEnvironment(firstIdentifier: 0, positions: [:])

    private func process(_ action: Action, by hub: inout MultiplexHub) -> (Verdict, Event, [HubContext.PingChange]) {
        var event = Event(action, tracker: TrackerID(0), time: .zero, attributes: ["given": 1])
        var context = HubContext(content: TrackerID(0), environment: environment)
        let verdict = hub.process(&event, in: &context)
        return (verdict, event, context.pingChanges)
    }

    @Test("An accepted event carries what each hub adds, in the order of the hubs, and all their pings")
    func accepted() {
        var hub = MultiplexHub([MarkingHub("a", journal), MarkingHub("b", journal)])
        let (verdict, event, pings) = process(.start, by: &hub)
        #expect(verdict == .accepted)
        #expect(event.attributes == ["given": 1, "a": 1, "b": 1, "seenBy": "ab"])
        #expect(pings == [.start(TrackerID(1)), .start(TrackerID(1))])
    }

    @Test("A rejection by any hub leaves the event, the pings and all hubs as they were", arguments: [0, 1, 2])
    func rejected(index: Int) {
        let hubs = ["a", "b", "c"].enumerated().map { number, name in
            MarkingHub(name, rejecting: number == index ? [.stop] : [], journal)
        }
        var hub = MultiplexHub(hubs)
        let (verdict, event, pings) = process(.stop, by: &hub)
        #expect(verdict == .rejected(Rejection(["a", "b", "c"][index])))
        #expect(event.attributes == ["given": 1])
        #expect(pings.isEmpty)
        #expect(process(.start, by: &hub).1.attributes == ["given": 1, "a": 1, "b": 1, "c": 1, "seenBy": "abc"])
    }

    @Test("The first rejection counts when several hubs reject")
    func firstRejection() {
        var hub = MultiplexHub([
            MarkingHub("a", journal), MarkingHub("b", rejecting: [.end], journal),
            MarkingHub("c", rejecting: [.end], journal),
        ])
        #expect(process(.end, by: &hub).0 == .rejected(Rejection("b")))
    }

    @Test("Ready, end and forgotten trackers reach every hub, in order")
    func life() {
        var hub = MultiplexHub([MarkingHub("a", journal), MarkingHub("b", journal)])
        hub.ready()
        hub.forget(TrackerID(7))
        hub.end()
        journal.expectWholeLife()
    }

    @Test("A multiplex hub without hubs accepts every event unchanged")
    func empty() {
        var hub = MultiplexHub([])
        let (verdict, event, pings) = process(.stop, by: &hub)
        #expect(verdict == .accepted)
        #expect(event.attributes == ["given": 1])
        #expect(pings.isEmpty)
    }

    @Test("A core hub in nested multiplex hubs gives the same verdicts as alone")
    func nested() {
        var hub = MultiplexHub([MultiplexHub([CoreHub()]), MarkingHub("a", rejecting: [.streamLoad], journal)])
        #expect(process(.streamLoad, by: &hub).0 == .rejected(Rejection("a")))
        // The core hub inside has not taken the load that its neighbour rejected.
        #expect(process(.start, by: &hub).0 == .accepted)
        #expect(process(.start, by: &hub).0 == .rejected(.alreadyDone))
        #expect(process(.end, by: &hub).1[.countStarts] == 1)
    }
}
