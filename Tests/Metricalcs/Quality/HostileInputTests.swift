import CostMeasurement
import Instrument
import InstrumentQuality
import InstrumentTestKit
import Testing

@Suite("Hostile events")
struct HostileInputTests {
    private func event(
        _ action: Action,
        _ nanoseconds: Int64,
        _ attributes: Attributes = ["senderId": "a"],
        from tracker: Int = 0
    ) -> Event {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: nanoseconds),
            wallTime: WallTime(milliseconds: nanoseconds)
        )
        return Event(action, tracker: TrackerID(tracker), time: time, attributes: attributes)
    }

    @Test("Instants that go back count as no time")
    func backwards() {
        let second: Int64 = 1_000_000_000
        let found = sessions(of: [
            event(.mediaRequest, 10 * second), event(.start, 12 * second), event(.ping, 3 * second),
            event(.ping, 20 * second), event(.end, 15 * second),
        ])
        #expect(found.count == 1)
        #expect(found[0].times[.joining] == 2000)
        #expect(found[0].times[.playing] == 8000)
        #expect(found[0].times.total == found[0].length)
    }

    @Test("Events without a start belong to a session whose start was not observed")
    func missingStart() {
        let base: Attributes = ["senderId": "a", "playbackId": "p", "inPlaybackBlock": true]
        let found = sessions(of: [
            event(.ping, 0, base.merged(["inPauseBlock": true])), event(.pauseFinish, 1_000_000_000, base),
            event(.bufferBegin, 3_000_000_000, base), event(.bufferFinish, 4_000_000_000, base),
            event(.end, 5_000_000_000, ["senderId": "a", "playbackId": "p"]),
        ])
        #expect(found.count == 1)
        #expect(found[0].times[.paused] == 1000)
        #expect(found[0].times[.playing] == 3000)
        #expect(found[0].times[.rebuffering] == 1000)
        #expect(Dialect.instrument.value("StartTime", of: found[0]) == nil)
        #expect(Dialect.instrument.value("ExitBeforeStart", of: found[0]) == .integer(0))
    }

    @Test("A second Start changes nothing, and events after the end belong to no session")
    func repeated() {
        let found = sessions(of: [
            event(.mediaRequest, 0), event(.start, 1_000_000), event(.start, 5_000_000),
            event(.mediaRequest, 6_000_000),
            event(.end, 9_000_000), event(.end, 10_000_000), event(.error, 11_000_000), event(.ping, 12_000_000),
        ])
        #expect(found.count == 1)
        #expect(Dialect.instrument.value("StartTime", of: found[0]) == .integer(1))
        #expect(found[0].times[.playing] == 8)
        #expect(found[0].failures.errorCount == 0)
    }

    @Test("The ratio of nothing is 0 of 1")
    func nothing() { #expect(Ratio.zero == Ratio(0, over: 1)) }

    @Test("After the end, an event inside a playback opens a session only with another playbackId")
    func afterTheEnd() {
        let base: Attributes = ["senderId": "a", "inPlaybackBlock": true]
        let (first, second) = (base.merged(["playbackId": "p"]), base.merged(["playbackId": "q"]))
        let events = [event(.mediaRequest, 0, first), event(.start, 1_000_000, first), event(.end, 9_000_000, first)]
        let late = [event(.ping, 10_000_000, base), event(.ping, 11_000_000, first)]
        #expect(sessions(of: events + late).map(\.playbackId) == ["p"])
        #expect(sessions(of: events + late + [event(.ping, 12_000_000, second)]).map(\.playbackId) == ["p", "q"])
    }

    @Test("The ends of time and of numbers trap nowhere", arguments: [1, 2, 3, 4] as [UInt64])
    func extremes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let names: [AttributeName] = [
            "bitrate", "resolutionWidth", "resolutionHeight", "displayWidth", "displayHeight", "liveLatency",
            "bufferLevel",
            "requestTime", "requestBytes", "timeToFirstByte", "countRequests", "countFailedRequests", "throughput",
            "position", "playbackRate", "sampleWeight", "deltaPlayTime", "timeSinceBufferBegin",
            "timeSinceMediaRequest",
        ]
        let values: [AttributeValue] = [
            .int(.min), .int(.max), -1, 0, 1, .double(.nan), .double(.infinity), .double(1e300), .double(-1e-300), "x",
            true,
        ]
        let instants: [Int64] = [.min, -1, 0, 1, 1_000_000_000, .max]
        var aggregates = Dialect.all.map { QualityAggregate($0) }
        var plays = ConcurrentPlays()
        for round in 0..<200 {
            var events: [Event] = []
            for _ in 0..<30 {
                var attributes: Attributes = ["senderId": "a", "inPlaybackBlock": .bool(round % 2 == 0)]
                for name in names where Bool.random(using: &generator) {
                    attributes[name] = values.randomElement(using: &generator)
                }
                let action =
                    (Action.playerActions + Action.adActions + [.requestFinish]).randomElement(using: &generator)
                    ?? .ping
                events.append(event(action, instants.randomElement(using: &generator) ?? 0, attributes))
            }
            for session in sessions(of: events) {
                #expect(session.times.total == session.length)
                plays.add(session)
                for index in aggregates.indices { aggregates[index].add(session) }
            }
        }
        for index in aggregates.indices {
            let copy = aggregates[index]
            aggregates[index].merge(copy)
            for summary in aggregates[index].summaries.values {
                _ = (summary.mean, summary.total, summary.pooled, summary.quantile(0.5))
            }
        }
        #expect(plays.peak > 0)
    }

    @Test("A session of 24 hours keeps exact sums in constant memory")
    func longSession() {
        var model = SessionModel(opening: event(.mediaRequest, 0))
        model.observe(event(.start, 2_000_000_000))
        let second: Int64 = 1_000_000_000
        for ping in 1...2880 { model.observe(event(.ping, 2 * second + Int64(ping) * 30 * second)) }
        #expect(model.session.times[.playing] == 86_400_000)
        #expect(model.session.intervals.isEmpty)
    }

    @Test("A trace stops at its limit, and says so")
    func traceLimit() {
        var model = SessionModel(opening: event(.mediaRequest, 0), recording: .trace(limit: 10))
        model.observe(event(.start, 1_000_000))
        for number in 1...50 {
            model.observe(event(number % 2 == 0 ? .pauseFinish : .pauseBegin, Int64(number) * 1_000_000_000))
        }
        #expect(model.session.intervals.count == 10)
        #expect(model.session.trace.isTruncated)
        #expect(model.session.times.total == model.session.length)
    }

    @Test("A reader closes the sessions of the senders that were silent for the longest time when there are too many")
    func senderLimit() {
        var reader = SessionReader(senderLimit: 100)
        var closed: [QualitySession] = []
        for number in 0..<250 {
            closed += reader.observe(event(.start, Int64(number), ["senderId": .string("s-\(number)")])).closed
        }
        #expect(closed.count == 150)
        #expect(Set(closed.map(\.key.sender)) == Set((0..<150).map { "s-\($0)" }))
        #expect(closed.allSatisfy { $0.state == .stopped })
        #expect(reader.concurrentPlays == 100)
        #expect(reader.finish().count == 100)
        #expect(reader.concurrentPlays == 0)
    }

    @Test("The trackers of senders that stay can be forgotten after others were dropped")
    func forgottenAfterDrop() {
        var reader = SessionReader(senderLimit: 10)
        for number in 0..<11 {
            _ = reader.observe(event(.start, Int64(number), ["senderId": .string("s-\(number)")], from: number))
        }
        #expect(reader.concurrentPlays == 10)
        reader.forget(TrackerID(5))
        #expect(reader.concurrentPlays == 9)
        reader.forget(TrackerID(0))
        #expect(reader.concurrentPlays == 9)
    }

    @Test("A display without width or height scales no picture", arguments: [(0, 1080), (1920, 0), (0, 0)])
    func displayWithoutSize(display: (width: Int, height: Int)) {
        let sizes: Attributes = [
            "senderId": "a", "resolutionWidth": 640, "resolutionHeight": 360, "displayWidth": .int(display.width),
            "displayHeight": .int(display.height),
        ]
        let found = sessions(of: [
            event(.mediaRequest, 0), event(.start, 1_000_000, sizes), event(.end, 9_000_000_000),
        ])
        #expect(found.map(\.picture.scaledTime) == [0])
    }

    @Test("The cost of events grows with their number")
    func cost() {
        let growth = CostGrowth.measure(from: 2000) { count -> [Event] in
            var generator = SeededGenerator(seed: 7)
            return RandomSessions.device("a", count, &generator)
        } _: { events in
            var reader = SessionReader()
            for event in events { _ = reader.observe(event) }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("The cost of many senders grows with their number")
    func costOfSenders() {
        let growth = CostGrowth.measure(from: 1000) { count -> [Event] in
            (0..<count).map { event(.start, Int64($0), ["senderId": .string("s-\($0)")]) }
        } _: { events in
            var reader = SessionReader(senderLimit: 500)
            for event in events { _ = reader.observe(event) }
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
