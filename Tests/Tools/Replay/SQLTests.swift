import Foundation
import Instrument
import InstrumentAds
import InstrumentBackends
import InstrumentJSON
import InstrumentQuality
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentReplay

/// The queries of `sql/` over files that the file backend wrote, by DuckDB and by ClickHouse (chDB).
@Suite("SQL queries", .ownThread)
struct SQLTests {
    enum Engine: String, CaseIterable {
        case duckdb, clickhouse

        var isInstalled: Bool {
            let name = self == .duckdb ? "duckdb" : "chdb"
            return FileManager.default.fileExists(atPath: SQLTests.environment + "/installed-\(name)")
        }
    }

    static let root = packageRoot.path
    static let environment = ProcessInfo.processInfo.environment["SQL_DIRECTORY"] ?? root + "/.build/sql"
    static let installed = Engine.allCases.filter(\.isInstalled)

    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// The queries of an engine, without its views and without the tables of a fleet, which `ClickHouseTests` fills.
    static func queries(of engine: Engine) -> [String] {
        let directory = root + "/sql/\(engine.rawValue)"
        let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".sql") && $0 != "schema.sql" && !$0.hasPrefix("fleet/") }.sorted()
    }

    /// The rows of each query.
    private func run(_ engine: Engine, _ recordings: String) throws -> [String: [JSONValue]] {
        let (process, output) = (Process(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: Self.environment + "/bin/python")
        process.arguments =
            [Self.root + "/scripts/run-sql.py", engine.rawValue, recordings] + Self.queries(of: engine)
        process.standardOutput = output
        try process.start()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        var rows: [String: [JSONValue]] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let json = try JSONValue(parsing: Array(line))
            if case .array(let values)? = json["rows"], let query = json["query"]?.string { rows[query] = values }
        }
        return rows
    }

    /// Recorded sessions in rotated files, plain or gzip; some samples twice, and some damaged lines.
    private func record(_ ending: String) async throws -> [SampleRecord] {
        var all: [SampleRecord] = []
        for seed in [31, 32] as [UInt64] {
            all += await LiveSessions.record(seed: seed, steps: 900, complete: true, metricalc: QualityMetricalc())
        }
        let configuration = FileConfiguration(
            compression: ending.hasSuffix(".gz") ? .gzip : .none,
            rotation: .init(maxBytes: ending.hasSuffix(".gz") ? 20_000 : 200_000)
        )
        let backend = try FileBackend(path: scratch.file("s" + ending), configuration: configuration)
        for start in stride(from: 0, to: all.count, by: 100) {
            let batch = Batch(records: Array(all[start..<min(all.count, start + 100)]))
            for _ in 0..<(start % 700 == 0 ? 2 : 1) { #expect(await backend.deliver(batch) == .acknowledged) }
        }
        await backend.end()
        #expect(scratch.names.count > 2)
        if !ending.hasSuffix(".gz") {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.file("s" + ending)))
            try handle.seekToEnd()
            try handle.write(
                contentsOf: Data("{\"id\": broken\nnot json at all\n{\"id\":\"x\",\"type\":\"metric\"".utf8)
            )
            try handle.close()
        }
        return all
    }

    private func sessions(of records: [SampleRecord]) -> [QualitySession] {
        var reader = SessionReader()
        var sessions: [QualitySession] = []
        for case .event(let event) in records.map(\.sample) { sessions += reader.observe(event).closed }
        return sessions + reader.finish()
    }

    @Test(
        "Each query gives exactly the values of the library, for each session",
        .enabled(if: !installed.isEmpty, "SKIPPED: no SQL engine is installed (scripts/install-sql-engines.sh)"),
        arguments: installed,
        [".ndjson", ".ndjson.gz"]
    )
    func equal(engine: Engine, ending: String) async throws {
        let records = try await record(ending)
        let sessions = sessions(of: records)
        let rows = try run(engine, scratch.file("s*" + ending))
        for metric in Dialect.instrument.metrics where metric.name != "ConcurrentPlays" {
            let found = Self.table(try #require(rows[metric.name + ".sql"], "\(metric.name)"))
            #expect(found == Self.expected(metric, sessions), "\(metric.name)")
        }
        for metric in Dialect.openavt.metrics {
            let found = Self.table(try #require(rows["from-events/" + metric.name + ".sql"], "\(metric.name)"))
            #expect(found == Self.expected(metric, sessions), "from events: \(metric.name)")
        }
        var plays = ConcurrentPlays()
        for session in sessions { plays.add(session) }
        #expect(try #require(rows["ConcurrentPlays.sql"]).map { $0["value"]?.int } == [plays.peak])
    }

    @Test(
        "Concurrent plays are those of the library: viewers after one another, beside one another, failed and vanished",
        .enabled(if: !installed.isEmpty, "SKIPPED: no SQL engine is installed (scripts/install-sql-engines.sh)"),
        arguments: installed
    )
    func concurrent(engine: Engine) throws {
        // Sender, begin, end, ending, weight; a ping follows each ending.
        let plays: [(String, Int64, Int64, Action, Int)] = [
            ("a", 0, 5000, .end, 1), ("a", 5000, 9000, .stop, 1), ("b", 6000, 7000, .error, 4),
            ("c", 6999, 6999, .end, 1),
            ("d", 7000, 12_000, .ping, 5), ("e", 11_999, 13_000, .next, 1),
        ]
        var events: [Event] = []
        for (number, (sender, begin, end, ending, weight)) in plays.enumerated() {
            let steps = [(Action.mediaRequest, begin), (.start, begin), (ending, end), (.ping, max(end, 12_000))]
            for (action, milliseconds) in steps {
                let time = Timestamp(
                    instant: MonotonicInstant(nanoseconds: milliseconds * 1_000_000 + 999_999),
                    wallTime: WallTime(milliseconds: 1_767_225_600_000 + milliseconds)
                )
                var event = Event(action, tracker: TrackerID(0), time: time)
                (event[.senderId], event[.playbackId]) = (sender, "\(number)")
                (event[.isFatal], event[.sampleWeight]) = (action == .error ? true : nil, weight)
                events.append(event)
            }
        }
        let records = events.enumerated().map { number, event in
            let id = SampleID(log: 8, sequence: UInt64(number))
            return SampleRecord(id: id, sequence: UInt64(number), sample: .event(event))
        }
        try Data(JSONLines.encode(records)).write(to: URL(fileURLWithPath: scratch.file("plays.ndjson")))
        var expected = ConcurrentPlays()
        for session in sessions(of: records) { expected.add(session) }
        #expect(expected.peak == 6)
        let rows = try run(engine, scratch.file("plays.ndjson"))
        #expect(try #require(rows["ConcurrentPlays.sql"]).map { $0["value"]?.int } == [6])
    }

    @Test(
        "A sum with the column of weights is the library's sum of a sample of sessions, of each metric",
        .enabled(if: !installed.isEmpty, "SKIPPED: no SQL engine is installed (scripts/install-sql-engines.sh)"),
        arguments: installed
    )
    func weights(engine: Engine) async throws {
        var records: [SampleRecord] = []
        for (seed, oneIn) in [(41, 2), (42, 3), (43, 1)] as [(UInt64, Int)] {
            records += await LiveSessions.record(
                seed: seed,
                steps: 900,
                complete: true,
                sampling: SessionSampling(oneIn: oneIn),
                metricalc: QualityMetricalc()
            )
        }
        try Data(JSONLines.encode(records)).write(to: URL(fileURLWithPath: scratch.file("w.ndjson")))
        var aggregates = (QualityAggregate(.instrument), QualityAggregate(.openavt))
        for session in sessions(of: records) {
            aggregates.0.add(session)
            aggregates.1.add(session)
        }
        #expect(aggregates.0.sessionCount > aggregates.0.recordedCount)
        let rows = try run(engine, scratch.file("w.ndjson"))
        let ours = Dialect.instrument.metrics.filter { $0.kind == .sum || $0.kind == .distribution }
        for metric in ours where metric.name != "LiveLatency" {
            let summary = aggregates.0.summary(of: metric)
            let found = Self.weighted(try #require(rows[metric.name + ".sql"]))
            let expected = summary.map { $0.labels.isEmpty ? Int($0.values.sum) : $0.labels.values.reduce(0, +) } ?? 0
            #expect(found == expected, "\(metric.name)")
        }
        for metric in Dialect.openavt.metrics {
            let found = Self.weighted(try #require(rows["from-events/" + metric.name + ".sql"]))
            #expect(found == Int(aggregates.1.summary(of: metric)?.values.sum ?? 0), "from events: \(metric.name)")
        }
    }

    @Test(
        "A recording that misses events, and is in no order, gives the values of the library, which heals its sessions",
        .enabled(if: !installed.isEmpty, "SKIPPED: no SQL engine is installed (scripts/install-sql-engines.sh)"),
        arguments: installed
    )
    func gaps(engine: Engine) async throws {
        var generator = SeededGenerator(seed: 31)
        let all = await LiveSessions.record(seed: 31, steps: 900, complete: true, metricalc: CoreMetricalc())
        let lossy: Set<Action> = [
            .bufferBegin, .bufferFinish, .seekBegin, .seekFinish, .pauseBegin, .pauseFinish, .ping,
        ]
        let records = all.filter { record in
            guard case .event(let event) = record.sample else { return false }
            return !lossy.contains(event.action) || Int.random(in: 0..<5, using: &generator) > 0
        }
        let sessions = sessions(of: records)
        #expect(sessions.contains { $0.lostEvents[.bufferFinish] != nil })
        let written = records.shuffled(using: &generator) + records.prefix(7)
        try Data(JSONLines.encode(written)).write(to: URL(fileURLWithPath: scratch.file("g.ndjson")))
        let rows = try run(engine, scratch.file("g.ndjson"))
        for metric in Dialect.openavt.metrics {
            let found = Self.table(try #require(rows["from-events/" + metric.name + ".sql"], "\(metric.name)"))
            #expect(found == Self.expected(metric, sessions), "\(metric.name)")
        }
        let numbers = records.map(\.sequence)
        let span = try #require(numbers.max()) - (try #require(numbers.min())) + 1
        let samples = try #require(rows["recording/Samples.sql"]?.first)
        #expect(samples["samples"]?.int == records.count && samples["copies"]?.int == 7)
        #expect(samples["missing"]?.int == Int(span) - records.count)
    }

    /// The sum over the rows, each with its weight.
    private static func weighted(_ rows: [JSONValue]) -> Int {
        rows.reduce(0) { $0 + ($1["value"]?.int ?? $1["sum"]?.int ?? 0) * ($1["weight"]?.int ?? 0) }
    }

    @Test(
        "The queries of ads give the sums of the recorded metrics",
        .enabled(if: !installed.isEmpty, "SKIPPED: no SQL engine is installed (scripts/install-sql-engines.sh)"),
        arguments: installed
    )
    func ads(engine: Engine) async throws {
        let backend = try FileBackend(path: scratch.file("ads.ndjson"))
        let values: [(String, Metric.Value, Int?)] = [
            ("AdTime", 4000, nil), ("AdTime", 6000, nil), ("NumAds", 1, nil), ("NumAds", 1, nil),
            ("NumAdBreaks", 1, nil), ("AdFillRate", .double(1), nil), ("AdFillRate", .double(0.5), nil),
            ("NumAdErrors", 1, 402), ("NumAdErrors", 1, 402), ("NumAdErrors", 1, 301), ("AdRebufferTime", 300, nil),
            ("AdExits", 1, nil), ("AdStartTime", 100, nil), ("AdStartTime", 300, nil),
        ]
        let names = Dictionary(uniqueKeysWithValues: MetricName.adMetrics.map { ($0.spelling, $0) })
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
        var event = Event(.ping, tracker: TrackerID(1), time: time)
        (event[.senderId], event[.playbackId]) = ("S-1", "P")
        var metrics = try values.map { value in
            var metric = Metric(try #require(names[value.0]), value.1, of: event)
            metric.attributes[.adErrorCode] = value.2
            return metric
        }
        var ofPlayer = Metric(.numAdErrors, 1, of: event)
        ofPlayer.attributes[.errorCode] = "decode"
        metrics.append(ofPlayer)
        let records = metrics.enumerated().map { number, metric in
            SampleRecord(
                id: SampleID(log: 9, sequence: UInt64(number)),
                sequence: UInt64(number),
                sample: .metric(metric)
            )
        }
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        await backend.end()
        let rows = try run(engine, scratch.file("ads.ndjson"))
        let expected: [String: [String: String]] = [
            "AdTime": ["S-1/P/": "10000.0"], "NumAds": ["S-1/P/": "2.0"], "NumAdBreaks": ["S-1/P/": "1.0"],
            "AdFillRate": ["S-1/P/": "0.75"],
            "NumAdErrors": ["S-1/P/402": "2.0", "S-1/P/301": "1.0", "S-1/P/decode": "1.0"],
            "AdRebufferTime": ["S-1/P/": "300.0"], "AdExits": ["S-1/P/": "1.0"], "AdStartTime": ["S-1/P/": "200.0"],
        ]
        for (name, table) in expected {
            #expect(Self.table(try #require(rows["ads/" + name + ".sql"])) == table, "\(name)")
        }
    }

    @Test("Both engines have a query for every metric, and no other")
    func complete() {
        let quality = Set(Dialect.instrument.metrics.map { $0.name + ".sql" })
        let core = Set(MetricName.coreMetrics.map { $0.spelling + ".sql" })
        let ads = Set(MetricName.adMetrics.map { "ads/" + $0.spelling + ".sql" })
        for engine in Engine.allCases {
            let queries = Self.queries(of: engine)
            #expect(Set(queries.filter { !$0.contains("/") }) == quality.union(core))
            let others = Set(core.map { "from-events/" + $0 }).union(ads).union(["recording/Samples.sql"])
            #expect(Set(queries.filter { $0.contains("/") }) == others)
        }
    }

    private static func metrics(_ name: String, _ records: [SampleRecord]) -> [Metric] {
        records.compactMap { record in
            guard case .metric(let metric) = record.sample, metric.name.spelling == name else { return nil }
            return metric
        }
    }

    /// The rows by session and label. Zeros are left out: of a sum of zero nothing was recorded.
    private static func table(_ rows: [JSONValue]) -> [String: String] {
        var table: [String: String] = [:]
        for row in rows {
            let key = [row["sender"]?.string, row["playback"]?.string, row["label"]?.string].map { $0 ?? "" }
            let value = row["value"] ?? .object(["sum": row["sum"] ?? .null, "count": row["count"] ?? .null])
            table[key.joined(separator: "/")] = number(value)
        }
        return table.filter { $0.value != "0.0" }
    }

    /// The library's values in the same form.
    private static func expected(_ metric: QualityMetric, _ sessions: [QualitySession]) -> [String: String] {
        var table: [String: String] = [:]
        for session in sessions {
            let key = "\(session.senderId ?? "")/\(session.playbackId ?? "")/"
            if metric.name == "LiveLatency" {
                // The recorded readings of the latency are those of pings and ends; the latest one counts.
                table[key] = session.picture.lastLatency.map { number(.int($0)) }
                continue
            }
            switch metric.value(of: session) {
            case .record, nil: break
            case .integer(let value): table[key] = number(.int(value))
            case .ratio(let ratio): table[key] = number(.double(ratio.double))
            case .real(let value): table[key] = number(.double(value))
            case .labelled(let sums):
                for (label, sum) in sums { table[key + label] = number(.int(sum)) }
            case .distribution(let values):
                table[key] = number(.object(["sum": .int(Int(values.sum)), "count": .int(values.count)]))
            }
        }
        return table.filter { $0.value != "0.0" }
    }

    /// All digits; `2.0` and `2` are the same value in SQL.
    private static func number(_ value: JSONValue) -> String {
        if case .int(let number) = value { return JSONValue.double(Double(number)).description }
        return value.description
    }
}
