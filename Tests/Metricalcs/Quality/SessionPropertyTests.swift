import Instrument
import InstrumentBackends
import InstrumentQuality
import InstrumentTestKit
import TestTraits
import Testing

@Suite("Properties of sessions")
struct SessionPropertyTests {
    static let seeds = Array(Rounds.seeds(40))

    @Test("The states tile a session, and their times add up to its length", arguments: seeds)
    func tiling(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for session in sessions(of: RandomSessions.device("a", 400, &generator)) {
            #expect(session.times.total == session.length)
            var place = session.begin.instant
            for interval in session.intervals {
                #expect(interval.begin == place)
                #expect(interval.end > interval.begin)
                place = interval.end
            }
            #expect(place == session.end.instant)
            for (interval, next) in zip(session.intervals, session.intervals.dropFirst()) {
                #expect(interval.state != next.state)
            }
            for state in SessionState.allCases {
                let sum = session.intervals.filter { $0.state == state }.reduce(0) { $0 + $1.milliseconds }
                #expect(sum == session.times[state])
            }
            #expect(session.state.isTerminal)
            #expect(session.picture.renditions.values.reduce(0, +) <= session.times[.playing])
        }
    }

    @Test("Recording intervals changes no sum", arguments: seeds.prefix(10))
    func recording(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let events = RandomSessions.device("a", 400, &generator)
        let recorded = sessions(of: events, recording: .trace).map { session in
            Dialect.all.filter { $0.name != "3gpp26247" }.map { values($0, of: session) }
        }
        let sums = sessions(of: events, recording: .sums).map { session in
            Dialect.all.filter { $0.name != "3gpp26247" }.map { values($0, of: session) }
        }
        #expect(recorded == sums)
        #expect(sessions(of: events, recording: .sums).allSatisfy { $0.intervals.isEmpty })
    }

    @Test("Metrics of a replay of the recorded lines equal the live metrics, bit for bit", arguments: seeds)
    func replay(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let events = RandomSessions.device("a", 600, &generator)
        var live = QualityMetricalc()
        var metrics: [Metric] = []
        for event in events { live.process(event, into: &metrics) }
        #expect(!metrics.isEmpty)

        let lines = JSONLines.encode(
            events.enumerated().map {
                SampleRecord(
                    id: SampleID(log: 1, sequence: UInt64($0.offset)),
                    sequence: UInt64($0.offset),
                    sample: .event($0.element)
                )
            }
        )
        var replayed = QualityMetricalc()
        var again: [Metric] = []
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            guard case .event(let event) = try JSONLines.decode(Array(line)).sample else { continue }
            replayed.process(event, into: &again)
        }
        #expect(again.count == metrics.count)
        for (found, expected) in zip(again, metrics) {
            #expect(found == expected)
            #expect(bits(of: found) == bits(of: expected))
        }
    }

    @Test("Mixed logs of devices give the sessions that each log alone gives", arguments: seeds.prefix(20))
    func mixing(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let logs = ["a", "b", "c"].map { RandomSessions.device($0, 200, &generator) }
        let alone = logs.flatMap { sessions(of: $0) }.sorted { $0.key < $1.key }
        let mixed = sessions(of: RandomSessions.mixed(logs, &generator)).sorted { $0.key < $1.key }
        #expect(mixed == alone)
    }

    @Test("Aggregates of parts, merged in any order, equal the aggregate of the whole", arguments: seeds.prefix(10))
    func merging(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let all = (0..<6).flatMap { sessions(of: RandomSessions.device("\($0)", 200, &generator)) }
        for dialect in Dialect.all {
            var whole = QualityAggregate(dialect)
            for session in all { whole.add(session) }
            for _ in 0..<4 {
                var parts = (0..<5).map { _ in QualityAggregate(dialect) }
                for session in all.shuffled(using: &generator) {
                    parts[Int.random(in: 0..<5, using: &generator)].add(session)
                }
                parts.shuffle(using: &generator)
                var merged = QualityAggregate(dialect)
                for part in parts { merged.merge(part) }
                #expect(merged.summaries == whole.summaries)
                #expect(merged.sessionCount == whole.sessionCount)
            }
        }
    }

    @Test("Concurrent plays of parts, merged in any order, equal those of the whole", arguments: seeds.prefix(5))
    func concurrent(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let all = (0..<6).flatMap { sessions(of: RandomSessions.device("\($0)", 100, &generator)) }
        var (whole, left, right) = (ConcurrentPlays(), ConcurrentPlays(), ConcurrentPlays())
        for session in all {
            whole.add(session)
            if Bool.random(using: &generator) { left.add(session) } else { right.add(session) }
        }
        right.merge(left)
        #expect(right.series.map(\.plays) == whole.series.map(\.plays))
        #expect(right.peak == whole.peak)
        #expect(whole.series.last?.plays == 0)
    }

    @Test("The values of a session's live sums add up to the session's", arguments: seeds)
    func increments(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var events = RandomSessions.device("a", 300, &generator)
        guard let last = events.last else { return }
        // A further playback closes the last one, so that all of it is reported.
        let id = "closing"
        events.append(
            Event(
                .mediaRequest,
                tracker: last.tracker,
                time: last.time,
                attributes: ["senderId": "a-0", "playbackId": .string(id)]
            )
        )
        var metricalc = QualityMetricalc()
        var metrics: [Metric] = []
        for event in events { metricalc.process(event, into: &metrics) }
        let closed = sessions(of: events).filter { $0.playbackId != id }
        let sums: [(MetricName, String)] = [
            (.playTime, "PlayTime"), (.watchTime, "WatchTime"), (.rebufferTime, "RebufferTime"),
            (.numRebuffers, "NumRebuffers"), (.seekTime, "SeekTime"), (.numSeeks, "NumSeeks"),
            (.bitrateSwitchesUp, "BitrateSwitchesUp"), (.bitrateSwitchesDown, "BitrateSwitchesDown"),
            (.startFailure, "StartFailure"), (.exitBeforeStart, "ExitBeforeStart"),
            (.playbackFailure, "PlaybackFailure"), (.exitDuringRebuffer, "ExitDuringRebuffer"),
            (.requestErrors, "RequestErrors"),
        ]
        for (name, metric) in sums {
            let live = metrics.filter { $0.name == name }.reduce(0) { $0 + $1.value.integer }
            let whole = closed.reduce(0) { sum, session in
                if case .integer(let value)? = Dialect.instrument.value(metric, of: session) {
                    sum + value
                } else {
                    sum
                }
            }
            #expect(live == whole, "\(name)")
        }
        let inQuality = metrics.filter { $0.name == .timeInQuality }.reduce(0) { $0 + $1.value.integer }
        #expect(inQuality == closed.reduce(0) { $0 + $1.picture.renditions.values.reduce(0, +) })
        let starts = metrics.filter { $0.name == .startTime }.map(\.value.integer)
        #expect(
            starts
                == closed.compactMap {
                    if case .integer(let time)? = Dialect.instrument.value("StartTime", of: $0) { time } else { nil }
                }
        )
    }

    @Test("The dialect openavt of all sessions has the sums of the live core metrics", arguments: seeds)
    func core(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let events = RandomSessions.device("a", 400, &generator)
        var metricalc = CoreMetricalc()
        var metrics: [Metric] = []
        for event in events where event[.isAdsTracker] != true { metricalc.process(event, into: &metrics) }
        let all = sessions(of: events)
        for metric in Dialect.openavt.metrics {
            let live = metrics.filter { $0.name.spelling == metric.name }.map(\.value.integer)
            let found = all.compactMap { session -> Int? in
                if case .integer(let value)? = metric.value(of: session) { value } else { nil }
            }
            #expect(found.reduce(0, +) == live.reduce(0, +), "\(metric.name)")
            if metric.name == "StartTime" { #expect(found == live) }
        }
    }

    private func values(_ dialect: Dialect, of session: QualitySession) -> [String: QualityValue] {
        Dictionary(uniqueKeysWithValues: dialect.readings(of: session).map { ($0.metric.name, $0.value) })
    }

    private func bits(of metric: Metric) -> UInt64 {
        switch metric.value {
        case .int(let value): UInt64(bitPattern: Int64(value))
        case .double(let value): value.bitPattern
        }
    }
}

extension Metric.Value {
    var integer: Int {
        switch self {
        case .int(let value): value
        case .double(let value): Int(value)
        }
    }
}
