import Foundation
import Instrument
import InstrumentBackends
import InstrumentQuality
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentReplay

@Suite("Replay of live sessions", .ownThread)
struct LiveReplayTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func write(_ records: [SampleRecord], to name: String) throws -> String {
        try Data(JSONLines.encode(records)).write(to: URL(fileURLWithPath: scratch.file(name)))
        return scratch.file(name)
    }

    private func read(_ paths: [String], order: ReplayReader.Order) throws -> [SampleRecord] {
        let reader = ReplayReader(try ReplayInput.all(named: paths), order: order)
        var records: [SampleRecord] = []
        while let sample = try reader.next() { records.append(sample.record) }
        return records
    }

    /// The samples as lines, without identifiers and numbers: equal bytes are equal bits.
    private func lines(_ records: [SampleRecord]) -> [String] {
        records.map { record in
            let plain = SampleRecord(id: SampleID(log: 0, sequence: 0), sequence: 0, sample: record.sample)
            return String(decoding: JSONLines.encode([plain]), as: UTF8.self)
        }
    }

    private func recomputed(_ records: [SampleRecord], by metricalc: @escaping @Sendable () -> any Metricalc)
        -> [SampleRecord]
    {
        var recomputation = Recomputation(metricalc)
        return records.flatMap { recomputation.records(for: $0) } + recomputation.finish()
    }

    @Test(
        "Metrics computed from a recording are those computed live, bit for bit and in the same order",
        arguments: 1...5
    )
    func liveIsReplay(seed: UInt64) async throws {
        let live = await LiveSessions.record(seed: seed, metricalc: QualityMetricalc())
        #expect(live.contains { if case .metric = $0.sample { true } else { false } })
        let replayed = recomputed(try read([write(live, to: "s.ndjson")], order: .input)) { QualityMetricalc() }
        #expect(lines(replayed) == lines(live))
        let core = await LiveSessions.record(seed: seed, metricalc: CoreMetricalc())
        #expect(
            lines(recomputed(try read([write(core, to: "c.ndjson")], order: .input)) { CoreMetricalc() }) == lines(core)
        )
    }

    @Test(
        "A replay gives the last metrics of a removed tracker, bit for bit, at the end: also an exit before the start",
        arguments: 1...5
    )
    func removedTrackers(seed: UInt64) async throws {
        let live = await LiveSessions.record(seed: seed, removing: true, metricalc: QualityMetricalc())
        let replayed = recomputed(live) { QualityMetricalc() }
        // A recording does not tell when a tracker was removed: its session counts among the concurrent plays until the
        // end.
        let isComparable = { (record: SampleRecord) in
            if case .metric(let metric) = record.sample { metric.name != .concurrentPlays } else { true }
        }
        #expect(lines(replayed.filter(isComparable)).sorted() == lines(live.filter(isComparable)).sorted())
        let expected = sessions(of: live)
        let outcomes: [(MetricName, (QualitySession) -> Bool)] = [
            (.exitBeforeStart, { $0.isExitBeforeStart }), (.playbackFailure, { $0.failures.isPlaybackFailure }),
        ]
        for (name, isMeant) in outcomes {
            let reported = live.filter { record in
                if case .metric(let metric) = record.sample { metric.name == name } else { false }
            }
            #expect(reported.count == expected.count(where: isMeant), "\(name)")
            #expect(!reported.isEmpty, "\(name)")
        }
        #expect(Set(replayed.map(\.id)).count == replayed.count)
        #expect(recomputed(live) { QualityMetricalc() }.map(\.id) == replayed.map(\.id))
    }

    @Test("Recomputed metrics name the person whom the event names, so that an erasure finds them")
    func person() async throws {
        let live = await LiveSessions.record(seed: 1, metricalc: CoreMetricalc())
        let named = live.map { record -> SampleRecord in
            guard case .event(var event) = record.sample else { return record }
            event[.userId] = "person"
            return SampleRecord(id: record.id, sequence: record.sequence, sample: .event(event))
        }
        let metrics = recomputed(named) { CoreMetricalc() }.filter {
            if case .metric = $0.sample { true } else { false }
        }
        #expect(!metrics.isEmpty && metrics.allSatisfy { $0.sample.attributes[.userId] == "person" })
    }

    @Test("A recording that was split into parts gives the same metrics once the parts are merged", arguments: 1...3)
    func splitAndMerged(seed: UInt64) async throws {
        let live = await LiveSessions.record(seed: seed, metricalc: QualityMetricalc())
        var generator = SeededGenerator(seed: seed)
        var parts = [[SampleRecord]](repeating: [], count: 5)
        for record in live { parts[Int.random(in: 0..<5, using: &generator)].append(record) }
        let paths = try parts.enumerated().map { try write($1, to: "part-\($0).ndjson") }
        let replayed = recomputed(try read(paths.shuffled(using: &generator), order: .time)) { QualityMetricalc() }
        #expect(lines(replayed) == lines(live))
    }

    @Test("Recordings of several instruments with the same tracker numbers do not influence each other")
    func instruments() async throws {
        let logs = await [1, 2, 3].asyncMap { await LiveSessions.record(seed: $0, metricalc: QualityMetricalc()) }
        let paths = try logs.enumerated().map { try write($1, to: "log-\($0).ndjson") }
        let merged = recomputed(try read(paths, order: .time)) { QualityMetricalc() }
        for log in logs {
            let senders = Set(log.compactMap { $0.sample.attributes[.senderId] })
            let own = merged.filter { senders.contains($0.sample.attributes[.senderId] ?? "") }
            #expect(lines(own) == lines(log))
        }
    }

    @Test("Every dialect gives the same values from a recording as from the live events", arguments: [21, 22, 23])
    func dialects(seed: UInt64) async throws {
        let live = await LiveSessions.record(seed: seed, metricalc: QualityMetricalc())
        let replayed = try read([write(live, to: "s.ndjson")], order: .input)
        let (expected, found) = (sessions(of: live), sessions(of: replayed))
        #expect(expected == found)
        #expect(!expected.isEmpty)
        for dialect in Dialect.all {
            for (one, other) in zip(expected, found) {
                #expect(dialect.readings(of: one).map(\.value) == dialect.readings(of: other).map(\.value))
            }
        }
    }

    private func sessions(of records: [SampleRecord]) -> [QualitySession] {
        var reader = SessionReader()
        var closed: [QualitySession] = []
        for record in records {
            if case .event(let event) = record.sample { closed += reader.observe(event).closed }
        }
        return closed + reader.finish()
    }

    @Test(
        "Computed metrics have the same identifiers at every replay, different ones each, in the form of a UUID of version 4"
    )
    func identifiers() async throws {
        let live = await LiveSessions.record(seed: 5, metricalc: QualityMetricalc())
        let (once, again) = (recomputed(live) { QualityMetricalc() }, recomputed(live) { QualityMetricalc() })
        #expect(once.map(\.id) == again.map(\.id))
        #expect(Set(once.map(\.id)).count == once.count)
        for record in once {
            let text = Array(record.id.description)
            #expect(text[14] == "4" && "89AB".contains(text[19]))
        }
    }

    @Test("A filter selects whole sessions by their beginning or their identifiers")
    func filter() async throws {
        let live = await LiveSessions.record(seed: 9, metricalc: QualityMetricalc())
        let all = sessions(of: live)
        let middle = all[all.count / 2]
        func selected(_ filter: SessionFilter) -> [QualitySession] {
            var filter = filter
            return sessions(of: live.filter { filter.selects($0.sample) })
        }
        let playback = try #require(middle.playbackId)
        let one = selected(SessionFilter(identifiers: [playback]))
        #expect(one.map(\.playbackId) == [playback])
        #expect(one.first?.times == middle.times)
        let (early, late) = (
            selected(SessionFilter(until: middle.begin.wallTime)), selected(SessionFilter(since: middle.begin.wallTime))
        )
        #expect(Set((early + late).map(\.playbackId)) == Set(all.map(\.playbackId)))
        #expect(early.count + late.count == all.count)
        #expect(early.allSatisfy { $0.begin.wallTime.milliseconds < middle.begin.wallTime.milliseconds })
        #expect(SessionFilter().isOpen)
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
