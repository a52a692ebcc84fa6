import Instrument
import InstrumentQuality
import InstrumentTestKit
import TestTraits
import Testing

/// Sessions that miss events, beside the same sessions without a loss.
@Suite("Healing of sessions that miss events")
struct HealingTests {
    /// A viewing with every kind of interruption, whose times all differ.
    private static var viewing: Viewing {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(110, .streamLoad)
        viewing.add(900, .start)
        viewing.add(4000, .bufferBegin)
        viewing.add(1300, .bufferFinish)
        viewing.add(26_000, .ping)
        viewing.add(1000, .pauseBegin)
        viewing.add(7000, .pauseFinish)
        viewing.add(17_000, .ping)
        viewing.add(2000, .seekBegin)
        viewing.add(300, .bufferBegin)
        viewing.add(800, .bufferFinish)
        viewing.add(40, .seekFinish)
        viewing.add(26_000, .ping)
        viewing.add(100, .adBreakBegin)
        viewing.add(200, .adBegin)
        viewing.add(5000, .adFinish)
        viewing.add(300, .adBreakFinish)
        viewing.add(9000, .ping)
        viewing.add(3000, .end)
        return viewing
    }

    private func values(_ session: QualitySession) -> [String: String] {
        var values: [String: String] = [:]
        for dialect in Dialect.all where dialect.name != "3gpp26247" {
            for reading in dialect.readings(of: session) {
                values["\(dialect.name).\(reading.metric.name)"] = "\(reading.value)"
            }
        }
        return values
    }

    private func heal(without lost: [Int], from events: [Event]) -> QualitySession? {
        let left = events.enumerated().filter { !lost.contains($0.offset) }.map(\.element)
        let found = sessions(of: left)
        #expect(found.count == 1)
        return found.first
    }

    @Test("A session that misses one event has the metrics of the whole session in every dialect", arguments: 0..<20)
    func one(place: Int) throws {
        let events = Self.viewing.events
        #expect(events.count == 20)
        let lost = events[place].action
        let whole = try #require(sessions(of: events).first)
        #expect(whole.lostEvents.isEmpty)
        let healed = try #require(heal(without: [place], from: events))
        if lost == .ping {
            #expect(healed.lostEvents.isEmpty)
        } else if lost != .end {
            #expect(healed.lostEvents == [lost: 1])
            #expect(healed.times == whole.times)
            #expect(values(healed) == values(whole))
        }
    }

    @Test(
        "A session that misses the begin and the finish of an interruption has the metrics of the whole session",
        arguments: [[3, 4], [6, 7], [9, 12], [14, 17], [15, 16]]
    )
    func pairs(places: [Int]) throws {
        let events = Self.viewing.events
        let whole = try #require(sessions(of: events).first)
        let healed = try #require(heal(without: places, from: events))
        #expect(healed.times == whole.times)
        #expect(values(healed) == values(whole))
        #expect(healed.lostEvents == [events[places[0]].action: 1, events[places[1]].action: 1])
    }

    /// A viewing with a pre-roll and a pod of three mid-rolls, of one tracker or of two.
    private static func adViewing(_ tracker: TrackerID) -> Viewing {
        var viewing = Viewing()
        let pod: [(Int, Action)] = [
            (0, .adBreakBegin), (210, .adBegin), (5000, .adFinish), (20, .adBegin), (3000, .adFinish), (30, .adBegin),
            (4000, .adSkip), (0, .adFinish), (310, .adBreakFinish),
        ]
        viewing.add(0, .mediaRequest)
        viewing.add(110, .streamLoad)
        if tracker != Viewing.content { viewing.add(0, .trackerInit, from: tracker) }
        viewing.add(40, .adBreakBegin, from: tracker)
        viewing.add(200, .adBegin, from: tracker)
        viewing.add(6000, .adFinish, from: tracker)
        viewing.add(50, .adBreakFinish, from: tracker)
        viewing.add(900, .start)
        viewing.add(20_000, .ping)
        for (pause, action) in pod { viewing.add(pause, action, from: tracker) }
        viewing.add(9000, .ping)
        viewing.add(3000, .end)
        return viewing
    }

    @Test(
        "An ad, a skip or a break between two events of one tracker is healed in whole",
        arguments: [
            [.adBreakBegin, .adBegin, .adFinish, .adBreakFinish], [.adBegin, .adFinish], [.adSkip, .adFinish],
        ]
            as [[Action]]
    )
    func unseenAds(actions: [Action]) throws {
        let events = Self.adViewing(Viewing.content).events
        let whole = try #require(sessions(of: events).first)
        #expect(whole.lostEvents.isEmpty && whole.interruptions.adCount == 4)
        var found = 0
        for first in events.indices where events[first...].prefix(actions.count).map(\.action) == actions {
            found += 1
            let healed = try #require(heal(without: Array(first..<first + actions.count), from: events))
            #expect(healed.times == whole.times, "from \(first)")
            #expect(values(healed) == values(whole), "from \(first)")
            let lost = Dictionary(actions.filter { $0 != .adSkip }.map { ($0, 1) }, uniquingKeysWith: +)
            #expect(healed.lostEvents == lost, "from \(first)")
        }
        #expect(found > 0)
    }

    @Test("The end of an ad and the begin of the next one, both unseen, are two ads")
    func unseenChange() throws {
        var viewing = Self.adViewing(Viewing.content)
        viewing.add(100, .ping)
        let events = viewing.events
        let whole = try #require(sessions(of: events).first)
        let place = try #require(
            events.indices.first { index in
                events[index].action == .adFinish && events[index + 1].action == .adBegin
            }
        )
        let healed = try #require(heal(without: [place, place + 1], from: events))
        #expect(healed.times == whole.times && values(healed) == values(whole))
        #expect(healed.lostEvents == [.adFinish: 1, .adBegin: 1])
    }

    @Test("A break of a separate tracker that no event reports counts by the hub's number of ads")
    func unseenTracker() throws {
        let events = Self.adViewing(Viewing.ads).events
        let whole = try #require(sessions(of: events).first)
        #expect(whole.lostEvents.isEmpty && whole.interruptions.adCount == 4)
        let healed = try #require(sessions(of: events.filter { $0.tracker == Viewing.content }).first)
        #expect(healed.interruptions.adCount == 4)
        #expect(healed.lostEvents == [.adBegin: 4, .adFinish: 4])
        #expect(healed.times.total == healed.length)
        // The last ad of the pod alone: its break is known.
        let pod = try #require(events.lastIndex { $0.action == .adBegin })
        let part = try #require(heal(without: Array(pod...pod + 2), from: events))
        #expect(part.interruptions.adCount == 4 && part.times == whole.times)
    }

    @Test("Random interruptions without one event: the times are those of the whole session", arguments: 1...60)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(100, .streamLoad)
        viewing.add(700, .start)
        let actions: [Action] = [
            .bufferBegin, .bufferFinish, .pauseBegin, .pauseFinish, .seekBegin, .seekFinish, .ping,
        ]
        for _ in 0..<40 {
            let pause = Int.random(in: 1...20_000, using: &generator)
            viewing.add(pause, actions.randomElement(using: &generator) ?? .ping)
        }
        for action in [Action.ping, .stop] { viewing.add(5000, action) }
        let whole = try #require(sessions(of: viewing.events).first)
        #expect(whole.lostEvents.isEmpty)
        let place = Int.random(in: 3..<viewing.events.count - 2, using: &generator)
        let healed = try #require(heal(without: [place], from: viewing.events))
        #expect(healed.times == whole.times)
        #expect(healed.core == whole.core)
        let lost = viewing.events[place].action
        #expect(healed.lostEvents == (lost == .ping ? [:] : [lost: 1]))
    }

    @Test("Random logs of whole sessions, with ads: nothing counts as missing", arguments: SessionPropertyTests.seeds)
    func whole(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let events = RandomSessions.device("a", 500, &generator)
        // An ad tracker's break can be older than a session; the first event of the log is the beginning of the first.
        for session in sessions(of: events) { #expect(session.lostEvents.isEmpty, "\(session.lostEvents)") }
    }

    @Test("Logs without any of their events remain sessions whose times add up", arguments: SessionPropertyTests.seeds)
    func gaps(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let events = RandomSessions.device("a", 500, &generator).filter { _ in
            Int.random(in: 0..<4, using: &generator) > 0
        }
        for session in sessions(of: events) {
            #expect(session.times.total == session.length)
            #expect(session.times.total >= 0 && session.core.rebufferTime >= 0 && session.core.playTime >= 0)
        }
    }

    @Test("Without time attributes, the sums of the hub give the length of a stall whose finish is missing")
    func sums() throws {
        let events = Self.viewing.events.map { event in
            var event = event
            for action in [Action.bufferBegin, .bufferFinish] { event[action.timeKey] = nil }
            return event
        }
        let healed = try #require(heal(without: [4], from: events))
        #expect(healed.times[.rebuffering] == 1300)
        #expect(healed.core.rebufferTime == 1300)
    }

    @Test("With blocks alone, a stall whose finish is missing ends with the first event that reports its end")
    func blocks() throws {
        let events = Self.viewing.events.map { event in
            var event = event
            for action in [Action.bufferBegin, .bufferFinish] { event[action.timeKey] = nil }
            event.attributes.remove("accumBufferTime")
            return event
        }
        let healed = try #require(heal(without: [4], from: events))
        #expect(healed.times[.rebuffering] == 27_300)
        #expect(healed.lostEvents == [.bufferFinish: 1])
    }

    @Test("A stall that is open at the end is not a loss, although the hub clears its block with the end")
    func openAtEnd() throws {
        var events = sessionsOfStall()
        events[events.count - 1].attributes["inBufferBlock"] = false
        let session = try #require(sessions(of: events).first)
        #expect(session.lostEvents.isEmpty)
        #expect(session.times[.rebuffering] == 3000)
    }

    private func sessionsOfStall() -> [Event] {
        var viewing = Viewing()
        viewing.add(0, .mediaRequest)
        viewing.add(500, .start)
        viewing.add(2000, .bufferBegin)
        viewing.add(3000, .stop)
        return viewing.events
    }

    @Test("The first event of the next playback heals a missing end")
    func end() throws {
        var viewing = Viewing()
        for _ in 0..<2 {
            viewing.add(5000, .mediaRequest)
            viewing.add(100, .start)
            viewing.add(9000, .end)
        }
        let whole = sessions(of: viewing.events)
        let healed = sessions(of: viewing.events.enumerated().filter { $0.offset != 2 }.map(\.element))
        #expect(healed.count == 2)
        let first = try #require(healed.first)
        #expect(first.state == .ended && first.length == 9100 && first.lostEvents == [.end: 1])
        #expect(healed.map(values) == whole.map(values))
    }

    @Test("Events without the blocks of a hub are taken as they are")
    func foreign() throws {
        let events = Self.viewing.events.map { event in
            var event = event
            for name: AttributeName in [
                "inPlaybackBlock", "inBufferBlock", "inSeekBlock", "inPauseBlock", "inAdBreakBlock", "inAdBlock",
            ] { event.attributes.remove(name) }
            return event
        }
        #expect(try #require(heal(without: [4], from: events)).lostEvents.isEmpty)
    }

    @Test(
        "Live metrics add up to those of the whole session, and the last ones say what is missing",
        arguments: [3, 4, 7, 12]
    )
    func live(place: Int) throws {
        let events = Self.viewing.events
        func metrics(_ events: [Event], _ metricalc: some Metricalc) -> [Metric] {
            var (metricalc, metrics) = (metricalc, [Metric]())
            for event in events { metricalc.process(event, into: &metrics) }
            return metrics
        }
        func sums(_ metrics: [Metric], _ names: [MetricName]) -> [Int] {
            names.map { name in
                metrics.filter { $0.name == name }.reduce(0) { sum, metric in
                    if case .int(let value) = metric.value { sum + value } else { sum }
                }
            }
        }
        let left = events.enumerated().filter { $0.offset != place }.map(\.element)
        let names: [MetricName] = [.rebufferTime, .numRebuffers, .playTime, .watchTime, .seekTime, .numSeeks]
        let healed = metrics(left, QualityMetricalc())
        #expect(sums(healed, names) == sums(metrics(events, QualityMetricalc()), names))
        #expect(healed.last?.attributes[.lostEvents] == events[place].action.name)
        #expect(metrics(events, QualityMetricalc()).allSatisfy { $0.attributes[.lostEvents] == nil })
        let core: [MetricName] = [.rebufferTime, .numRebuffers, .playTime]
        #expect(sums(metrics(left, CoreMetricalc()), core) == sums(metrics(events, CoreMetricalc()), core))
    }
}
