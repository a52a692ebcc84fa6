import Foundation
import Instrument
import InstrumentBackends
import InstrumentJSON
import InstrumentKafka
import InstrumentQuality
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

/// Where chDB is.
private enum Engine {
    static let root = packageRoot.path
    static let environment = ProcessInfo.processInfo.environment["SQL_DIRECTORY"] ?? root + "/.build/sql"
    static let isInstalled = FileManager.default.fileExists(atPath: environment + "/installed-chdb")
}

/// From the backend through brokers into the tables of `sql/clickhouse/fleet`, by ClickHouse's own Kafka engine (chDB).
@Suite(
    "Kafka into ClickHouse",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: Engine.isInstalled, "SKIPPED: chDB is not installed (scripts/install-sql-engines.sh)")
)
struct ClickHouseTests {
    /// All but those over the lines of a recording.
    private static var queries: [String] {
        let directory = Engine.root + "/sql/clickhouse"
        let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        let others = ["schema.sql", "fleet/", "recording/"]
        return names.filter { name in name.hasSuffix(".sql") && !others.contains { name.hasPrefix($0) } }.sorted()
    }

    /// The rows of each query.
    private func run(_ engine: String, _ recordings: String, _ queries: [String]) async throws -> [String: JSONValue] {
        let program = [Engine.environment + "/bin/python", Engine.root + "/scripts/run-sql.py", engine, recordings]
        let result = try await command(program + queries)
        try #require(result.status == 0, "\(result.errors)")
        var rows: [String: JSONValue] = [:]
        for line in result.output.split(separator: "\n") {
            let json = try JSONValue(parsing: String(line))
            if let query = json["query"]?.string { rows[query] = json["rows"] }
        }
        return rows
    }

    /// Sessions of viewers with every metric of quality.
    ///
    /// - Parameter hasFailure: whether a further viewer's session fails before its first picture.
    private func sessions(_ count: Int, hasFailure: Bool = false) async -> [SampleRecord] {
        let (clock, collecting) = (VirtualClock(), CollectingBackend())
        let instrument = Instrument(metricalc: QualityMetricalc(), backends: [collecting], clock: clock)
        let actions: [Action] = [
            .mediaRequest, .streamLoad, .start, .bufferBegin, .bufferFinish, .pauseBegin, .pauseFinish, .seekBegin,
            .seekFinish, .ping, .end,
        ]
        for viewer in 0..<3 {
            let player = instrument.add(SilentTracker())
            for action in [Action.trackerInit, .playerSet, .playerReady] { instrument.emit(action, from: player) }
            for session in 0..<count {
                for (step, action) in actions.enumerated() {
                    clock.advance(by: .milliseconds(100 + 37 * ((step + viewer + session) % 11)))
                    instrument.emit(action, from: player)
                }
            }
        }
        if hasFailure {
            let player = instrument.add(SilentTracker())
            instrument.emit(.mediaRequest, from: player)
            instrument.emit(.error, from: player, attributes: ["errorCode": "notFound", "isFatal": true])
        }
        await instrument.shutdown(timeout: .seconds(60))
        return collecting.batches.flatMap(\.records)
    }

    @Test("The queries give the same rows over a fleet's tables as over a recording, with copies and broken messages")
    func equal() async throws {
        let (cluster, scratch) = (try MockCluster(), try Scratch())
        let records = await sessions(5)
        #expect(records.count > 300)
        let file = scratch.file("samples.ndjson")
        #expect(FileManager.default.createFile(atPath: file, contents: Data(JSONLines.encode(records))))
        let broken = try KafkaBackend(
            cluster.endpoint(),
            configuration: KafkaConfiguration { record in
                let texts = ["no json", "{\"id\":\"x\",\"type\":\"event\"}", "{}", "[1]"]
                return KafkaMessage(key: nil, value: Array(texts[Int(record.sequence) % texts.count].utf8))
            }
        )
        #expect(await broken.deliver(SessionSamples.batch(0..<8)) == .acknowledged)
        // A process that was killed before it could note what had arrived.
        for part in [records[...], records[100..<250]] {
            let backend = try KafkaBackend(cluster.endpoint())
            #expect(await backend.deliver(Batch(records: Array(part))) == .acknowledged)
            await backend.end()
        }
        let copies = "=SELECT count() AS rows, uniqExact(id) AS samples FROM (SELECT id FROM samples FINAL)"
        let broke = "=SELECT count() AS rows FROM broken_lines"
        let starts =
            "=SELECT sender, playback, toInt64(value) AS value, weight FROM session_metrics WHERE name = 'StartTime' ORDER BY ALL"
        let plays =
            "=SELECT sender, playback, toInt64(value) AS value, weight FROM session_metrics WHERE name = 'PlayTime' ORDER BY ALL"
        let hours = "=SELECT toInt64(sum(sessions)) AS value FROM metrics_by_hour WHERE name = 'StartTime'"
        let topic = "kafka:\(cluster.brokers.joined(separator: ","))/\(MockCluster.topic)#\(records.count)"
        let fleet = try await run("clickhouse-fleet", topic, Self.queries + [copies, broke, starts, plays, hours])
        let expected = try await run("clickhouse", file, Self.queries)
        #expect(expected.count == Self.queries.count)
        for (query, rows) in expected { #expect(fleet[query] == rows, "\(query)") }
        for query in ["StartTime.sql", "PlayTime.sql", "RebufferTime.sql", "NumSeeks.sql"] {
            #expect(expected[query] != .array([]), "\(query)")
        }
        #expect(fleet[copies] == [["rows": .int(records.count), "samples": .int(records.count)]])
        #expect(fleet[broke] == [["rows": 8]])
        #expect(fleet[starts] == expected["StartTime.sql"] && fleet[plays] == expected["PlayTime.sql"])
        #expect(fleet[hours] == [["value": 15]])
    }

    @Test("The labels of metrics stay separate in the tables")
    func labels() async throws {
        let scratch = try Scratch()
        let values: [(MetricName, Int, AttributeName, AttributeValue)] = [
            (MetricName("TimeInQuality", .counter, unit: .milliseconds), 1000, "rendition", "640x360"),
            (MetricName("TimeInQuality", .counter, unit: .milliseconds), 2000, "rendition", "1280x720"),
            (MetricName("PlaybackRateTime", .counter, unit: .milliseconds), 300, "rate", "fast"),
            (MetricName("NumAdErrors", .counter), 1, "adErrorCode", 402),
            (MetricName("NumAdErrors", .counter), 2, "errorCode", "decode"),
        ]
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: 0),
            wallTime: WallTime(milliseconds: 1_767_225_600_000)
        )
        let records = values.enumerated().map { number, value in
            let metric = Metric(
                value.0,
                .int(value.1),
                tracker: TrackerID(0),
                time: time,
                attributes: [value.2: value.3]
            )
            let id = SampleID(log: 6, sequence: UInt64(number))
            return SampleRecord(id: id, sequence: UInt64(number), sample: .metric(metric))
        }
        let file = scratch.file("labels.ndjson")
        #expect(FileManager.default.createFile(atPath: file, contents: Data(JSONLines.encode(records))))
        let query = "=SELECT label, toInt64(value) AS value FROM session_metrics ORDER BY label"
        let rows = try await run("clickhouse-fleet", file, [query])
        #expect(
            rows[query] == [
                ["label": "1280x720", "value": 2000], ["label": "402", "value": 1],
                ["label": "640x360", "value": 1000],
                ["label": "decode", "value": 2], ["label": "fast", "value": 300],
            ]
        )
    }

    /// Metrics of two streams of a monitor, and one of no monitor.
    private func streamLines(_ scratch: Scratch) -> String {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: 0),
            wallTime: WallTime(milliseconds: 1_767_225_600_000)
        )
        let records = [("a", "alpha", 5), ("b", "beta", 7), (nil, "", 9)].enumerated().map { number, values in
            var attributes: Attributes = ["senderId": "s", "playbackId": .string("p\(number)")]
            if let stream = values.0 {
                attributes["monitorStream"] = .string(stream)
                attributes["monitorLocation"] = "oslo"
                attributes["monitorLabels"] = ["cdn": .string(values.1)]
            }
            let metric = Metric(
                .startTime,
                .int(values.2),
                tracker: TrackerID(0),
                time: time,
                attributes: attributes
            )
            let sequence = UInt64(number)
            return SampleRecord(id: SampleID(log: 8, sequence: sequence), sequence: sequence, sample: .metric(metric))
        }
        let file = scratch.file("streams.ndjson")
        #expect(FileManager.default.createFile(atPath: file, contents: Data(JSONLines.encode(records))))
        return file
    }

    @Test("Stream, location and labels are columns of the tables and of the views over recordings")
    func streams() async throws {
        let scratch = try Scratch()
        let file = streamLines(scratch)
        defer { withExtendedLifetime(scratch) {} }
        let metrics =
            "=SELECT stream, location, labels['cdn'] AS cdn, toInt64(value) AS value FROM metrics ORDER BY value"
        let expected: JSONValue = [
            ["stream": "a", "location": "oslo", "cdn": "alpha", "value": 5],
            ["stream": "b", "location": "oslo", "cdn": "beta", "value": 7],
            ["stream": "", "location": "", "cdn": "", "value": 9],
        ]
        let hours =
            "=SELECT stream, location, labels['cdn'] AS cdn, toInt64(mean) AS value FROM metrics_by_stream ORDER BY value"
        let fleet = try await run("clickhouse-fleet", file, [metrics, hours])
        #expect(fleet[metrics] == expected)
        #expect(
            fleet[hours] == [
                ["stream": "a", "location": "oslo", "cdn": "alpha", "value": 5],
                ["stream": "b", "location": "oslo", "cdn": "beta", "value": 7],
            ]
        )
        #expect(try await run("clickhouse", file, [metrics])[metrics] == expected)
        guard FileManager.default.fileExists(atPath: Engine.environment + "/installed-duckdb") else { return }
        let duckdb =
            "=SELECT coalesce(stream, '') AS stream, coalesce(location, '') AS location, "
            + "coalesce(labels->>'cdn', '') AS cdn, CAST(value AS BIGINT) AS value FROM metrics ORDER BY value"
        #expect(try await run("duckdb", file, [duckdb])[duckdb] == expected)
    }

    @Test("Each query of the dashboard for Grafana answers over a fleet's tables, with the library's figures")
    func dashboard() async throws {
        let scratch = try Scratch()
        let records = await sessions(5, hasFailure: true)
        let file = scratch.file("samples.ndjson")
        // Samples that arrive twice are counted once.
        let lines = JSONLines.encode(records) + JSONLines.encode(Array(records.prefix(100)))
        #expect(FileManager.default.createFile(atPath: file, contents: Data(lines + Array("no sample\n".utf8))))
        let text = try String(
            contentsOfFile: Engine.root + "/sql/clickhouse/fleet/grafana-dashboard.json",
            encoding: .utf8
        )
        let dashboard = try GrafanaDashboard(JSONValue(parsing: text), records)
        #expect(dashboard.queries.count >= 18)
        let rows = try await run("clickhouse-fleet", file, dashboard.queries.map { "=" + $0.text })
        defer { withExtendedLifetime(scratch) {} }
        for query in dashboard.queries {
            #expect(rows["=" + query.text]?.elements?.isEmpty == false, "\(query.title)")
        }
        let first = { (title: String) -> JSONValue? in
            dashboard.queries.first { $0.title == title }.flatMap { rows["=" + $0.text]?.elements?.first }
        }
        let values = { (name: String) -> [Double] in
            records.compactMap { record -> Double? in
                guard case .metric(let metric) = record.sample, metric.name.spelling == name else { return nil }
                switch metric.value {
                case .int(let value): return Double(value)
                case .double(let value): return value
                }
            }
        }
        let starts = values("StartTime").sorted()
        let (stalled, played) = (values("RebufferTime").reduce(0, +), values("PlayTime").reduce(0, +))
        #expect(first("Starts")?["starts"]?.int == 15 && starts.count == 15)
        #expect(first("Start time, median")?["median"]?.number == starts[7])
        let ratio = try #require(first("Rebuffer ratio")?["ratio"]?.number)
        #expect(stalled > 0 && abs(ratio - stalled / (stalled + played)) < 1e-9)
        #expect(first("Start failures")?["share"]?.number == 1.0 / 16)
        #expect(first("Causes of failures")?["Code"] == "notFound")
        #expect(first("Sessions, the worst first")?["Failures"]?.number == 1)
        #expect(first("From the request to a play without a stall")?["sessions"]?.int == 16)
        #expect(first("Lines that are no samples")?["lines"]?.int == 1)
    }

    @Test("Tables without the columns of a monitor are upgraded: the same columns, and old samples have them")
    func upgrade() async throws {
        let scratch = try Scratch()
        let file = streamLines(scratch)
        defer { withExtendedLifetime(scratch) {} }
        let script = """
            import pathlib, re, sys
            from chdb import session
            folder = pathlib.Path(sys.argv[1]) / "sql/clickhouse/fleet"
            tables, upgrade = [(folder / name).read_text(encoding="utf-8") for name in ("tables.sql", "upgrade.sql")]
            # The tables as they were: without the three columns, and without the view of them.
            old = re.sub(r",\\n    (stream|location|labels) (LowCardinality|Map)[^\\n]*?(?=,?\\n)", "", tables)
            old = re.sub(r",\\n    (any\\(stream\\)[^\\n]*|stream, location, labels)(?=\\nFROM)", "", old)
            old = re.sub(r" stream, location,\\s+labels,", "", old)
            old = old[: old.index("CREATE OR REPLACE VIEW metrics_by_stream")]
            def statements(text):
                lines = [line for line in text.splitlines() if not line.startswith("--")]
                return [part.strip() for part in "\\n".join(lines).split(";") if part.strip()]
            def columns(connection):
                return str(connection.query("SELECT table, name, type, default_expression FROM system.columns "
                    "WHERE database = currentDatabase() ORDER BY table, name", "JSONCompactEachRow"))
            fresh = session.Session()
            for statement in statements(tables):
                fresh.query(statement)
            expected = columns(fresh)
            fresh.close()
            connection = session.Session()
            for statement in statements(old):
                connection.query(statement)
            before = columns(connection)
            insert = "INSERT INTO sample_lines SELECT line FROM file('" + sys.argv[2] + "', 'LineAsString', 'line String')"
            connection.query(insert)
            for statement in 2 * statements(upgrade + tables):
                connection.query(statement)
            print(before != expected and '"stream"' not in before, columns(connection) == expected)
            print(str(connection.query("SELECT stream, labels['cdn'] FROM samples ORDER BY sequence", "CSV")).split())
            connection.query(insert)
            print(str(connection.query("SELECT DISTINCT stream, labels['cdn'] FROM metric_values ORDER BY ALL", "CSV")).split())
            """
        let python = Engine.environment + "/bin/python"
        let result = try await command([python, "-c", script, Engine.root, file])
        #expect(
            result.output == """
                True True
                ['"a","alpha"', '"b","beta"', '"",""']
                ['"",""', '"a","alpha"', '"b","beta"']

                """,
            "\(result.errors)"
        )
    }

    @Test("Damaged lines, wrong clocks and lines that arrive twice leave the tables readable")
    func lines() async throws {
        let scratch = try Scratch()
        var generator = SeededGenerator(seed: 5)
        // Times from far before 1970 to far after 2100.
        let records = (0..<UInt64(400)).map { number in
            SampleRecord(
                id: SampleID(log: 7, sequence: number),
                sequence: number,
                sample: RandomSamples.sample(&generator)
            )
        }
        let text = JSONLines.encode(records) + JSONLines.encode(Array(records.prefix(50)))
        let file = scratch.file("samples.ndjson")
        #expect(FileManager.default.createFile(atPath: file, contents: Data(text + Array("\n{\"id\n".utf8))))
        let count = "=SELECT count() AS rows FROM samples FINAL"
        let parts = "=SELECT count() AS rows FROM (SELECT * FROM session_metrics) WHERE value IS NULL"
        let rows = try await run("clickhouse-fleet", file, [count, parts])
        #expect(rows[count] == [["rows": 400]] && rows[parts] == [["rows": 0]])
    }
}

private final class SilentTracker: Tracker {
    func begin(in context: TrackerContext) {}
}

/// The queries of a dashboard for Grafana, with the variables and macros of its ClickHouse data source (version 4)
/// replaced.
private struct GrafanaDashboard {
    let queries: [(title: String, text: String)]

    /// - Parameter records: the samples whose time the dashboard shows.
    init(_ json: JSONValue, _ records: [SampleRecord]) {
        let times = records.map(\.sample.time.wallTime.milliseconds)
        // Samples arrive now, and broken lines have no other time.
        let (begin, end) = (
            (times.min() ?? 0) - 1_000, max(times.max() ?? 0, SystemClock().wallTime.milliseconds) + 60_000
        )
        let session = records.lazy.compactMap { $0.sample.attributes[.playbackId] }.first ?? ""
        let panels = (json["panels"]?.elements ?? []).map { panel in
            (panel["title"]?.string ?? "", panel["targets"]?.elements?.first?["rawSql"]?.string ?? "")
        }
        let variables = (json["templating"]?["list"]?.elements ?? []).compactMap { variable in
            variable["type"] == "query" ? (variable["name"]?.string ?? "", variable["query"]?.string ?? "") : nil
        }
        queries = (panels + variables).map { title, query in
            var text = query.replacing(#/\$__timeInterval\(((?:[^()]|\([^()]*\))*)\)/#) { match in
                "toStartOfInterval(toDateTime(\(match.1)), INTERVAL 20 second)"
            }
            text = text.replacing(#/\$__conditionalAll\((.*?\)), \$stream\)/#) { match in String(match.1) }
            for (name, value) in [
                ("$__fromTime", "toDateTime(\(begin / 1000))"), ("$__toTime", "toDateTime(\(end / 1000))"),
                ("$__interval_s", "20"), ("$__from", "\(begin)"), ("$__to", "\(end)"),
                ("${stream:sqlstring}", "'','a'"),
                ("${by:sqlstring}", "'cdn'"), ("${session:sqlstring}", "'\(session)'"),
            ] {
                text = text.replacing(name, with: value)
            }
            return (title, text)
        }
    }
}
