import Foundation
import Instrument
import InstrumentBackends
import InstrumentCompression
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

// Serialized, because a process that starts at the same time would inherit these pipes and keep them open.
@Suite("player-monitor replay, report and explain", .earlyOnOwnThread, .serialized)
struct ReplayCommandTests {
    static let golden = Sample.root + "/Tests/Tools/PlayerMonitor/Golden/three-renditions.ndjson"

    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.file(name)))
        return scratch.file(name)
    }

    private func golden() throws -> String { try String(contentsOfFile: Self.golden, encoding: .utf8) }

    private func records(_ path: String) throws -> [SampleRecord] {
        var reader = try SampleFileReader(path: path)
        var records: [SampleRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    @Test("Replay prints the metrics of each session and a summary, as text and as JSON")
    func metrics() throws {
        let text = try Run.playerMonitor("replay", Self.golden)
        #expect(text.status == 0)
        #expect(
            text.output.contains("PlayTime") && text.output.contains("12010 ms") && text.output.contains("1 session,")
        )
        let json = try Run.playerMonitor("replay", "--dialect", "all", "--format", "json", Self.golden)
        let value = try JSONValue(parsing: Array(json.output.utf8))
        guard case .array(let sessions)? = value["sessions"] else { return #expect(Bool(false), "no sessions") }
        #expect(sessions.count == 1)
        #expect(sessions.first?["metrics"]?["openavt"]?["NumPlays"]?.int == 1)
        #expect(value["summary"]?["count"]?.int == 1)
        let lines = try Run.playerMonitor("replay", "--format", "ndjson", Self.golden).output.split(separator: "\n")
        #expect(try lines.map { try JSONValue(parsing: String($0))["type"]?.string } == ["session", "summary"])
    }

    @Test("Standard input, gzip and plain files give the same output")
    func inputs() throws {
        let packed = scratch.file("s.ndjson.gz")
        try Data(try #require(Gzip.compress(Array(golden().utf8)))).write(to: URL(fileURLWithPath: packed))
        let plain = try Run.playerMonitor("replay", "--format", "ndjson", Self.golden)
        #expect(try Run.playerMonitor("replay", "--format", "ndjson", packed).output == plain.output)
        let (process, output) = (Process(), Pipe.forChild())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "cat \"$1\" | \"$0\" replay --format ndjson -", Sample.playerMonitor, packed]
        process.standardOutput = output
        try process.start()
        let piped = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(piped == plain.output)
    }

    @Test("Lines in another order, twice, in an array or behind a byte order mark give the same sessions, and a note")
    func forms() throws {
        let lines = try golden().split(separator: "\n")
        let sessions = { (path: String) in
            try Run.playerMonitor("replay", "--dialect", "all", "--format", "ndjson", path).output.split(
                separator: "\n"
            )
        }
        let expected = try sessions(Self.golden)
        let reversed = try write(
            (lines.reversed() + lines.prefix(2)).joined(separator: "\n") + "\n",
            to: "reversed.ndjson"
        )
        let found = try sessions(reversed)
        #expect(found.dropLast() == expected.dropLast())
        let summary = try JSONValue(parsing: String(try #require(found.last)))
        #expect(summary["reordered"]?.int == lines.count - 1 && summary["duplicates"]?.int == 2)
        #expect(summary["missing"]?.int == 0 && summary["late"]?.int == 0 && summary["healed"]?.int == 0)
        let run = try Run.playerMonitor("replay", reversed)
        #expect(run.status == 0)
        #expect(run.errors.contains("\(lines.count - 1) samples out of order: ordered by sequence number"))
        #expect(try sessions(write("\u{FEFF}[" + lines.joined(separator: ",") + "]", to: "array.json")) == expected)
        #expect(try Run.playerMonitor("report", "--text", reversed).output.contains("put in order"))
    }

    @Test("A session that misses an event has the metrics of the whole session, and says what is missing")
    func healed() throws {
        let lines = try golden().split(separator: "\n")
        let left = lines.filter { !$0.contains("\"action\":\"Start\"") }
        #expect(left.count == lines.count - 1)
        let path = try write(left.joined(separator: "\n") + "\n", to: "lossy.ndjson")
        let run = try Run.playerMonitor("replay", "--format", "ndjson", path)
        let session = try JSONValue(parsing: String(try #require(run.output.split(separator: "\n").first)))
        #expect(session["lostEvents"]?["Start"]?.int == 1)
        #expect(session["metrics"]?["instrument"]?["StartTime"]?.int != nil)
        #expect(run.errors.contains("1 sequence number missing"))
        let text = try Run.playerMonitor("replay", path).output.split(separator: "\n")
        #expect(text.contains { $0.contains("missing events") && $0.contains(" Start") })
        #expect(try Run.playerMonitor("report", "--text", path).output.contains("1 session healed"))
    }

    @Test("Damaged lines are noted with file and number; --strict and a recording without samples give exit code 1")
    func damaged() throws {
        let path = try write(
            try golden().replacing("\"PlayerSet\"", with: "\"Player\u{1}Set\"") + "{torn",
            to: "s.ndjson"
        )
        let run = try Run.playerMonitor("replay", path)
        #expect(run.status == 0)
        #expect(run.errors.contains("\(path), line 2: not valid JSON"))
        #expect(run.errors.contains("skipped 2 parts"))
        #expect(try Run.playerMonitor("replay", "--strict", path).status == 1)
        #expect(try Run.playerMonitor("replay", write("x\ny\n", to: "none.ndjson")).status == 1)
        #expect(try Run.playerMonitor("replay", scratch.file("missing")).status == 2)
        #expect(try Run.playerMonitor("replay", scratch.path).status == 2)
    }

    @Test("A backfill keeps identifiers; repeating it, or delivering recomputed metrics twice, adds no new sample")
    func backfill() throws {
        let copy = scratch.file("copy.ndjson")
        for _ in 0..<2 {
            #expect(try Run.playerMonitor("replay", "-q", "--backend", "file:" + copy, Self.golden).status == 0)
        }
        #expect(try Set(records(copy)) == Set(records(Self.golden)))
        #expect(try records(copy).count == 2 * records(Self.golden).count)
        let computed = scratch.file("computed.ndjson")
        for _ in 0..<2 {
            let arguments = ["replay", "-q", "--recompute", "--backend", "file:" + computed, Self.golden]
            #expect(try Run.playerMonitor(arguments).status == 0)
        }
        let ids = try records(computed).map(\.id)
        #expect(Set(ids).count * 2 == ids.count)
        #expect(try Run.playerMonitor("replay", "--backend", "file:" + copy, copy).status == 2)
    }

    /// The golden session as that of a monitored stream.
    private func monitored(_ stream: String, cdn: String) throws -> String {
        let records = try records(Self.golden).map { record -> SampleRecord in
            guard case .event(var event) = record.sample else { return record }
            event.attributes.merge([
                "monitorStream": .string(stream), "monitorLocation": "oslo", "monitorLabels": ["cdn": .string(cdn)],
            ])
            return SampleRecord(id: record.id, sequence: record.sequence, sample: .event(event))
        }
        return try write(String(decoding: JSONLines.encode(records), as: UTF8.self), to: stream + ".ndjson")
    }

    @Test("Recomputed metrics carry the stream, the labels and the location of their events")
    func recomputedLabels() throws {
        let computed = scratch.file("computed.ndjson")
        let path = try monitored("news", cdn: "alpha")
        let run = try Run.playerMonitor("replay", "-q", "--recompute", "--backend", "file:" + computed, path)
        #expect(run.status == 0)
        let samples = try records(computed).map(\.sample)
        #expect(samples.contains { if case .metric = $0 { true } else { false } })
        for sample in samples {
            #expect(sample.attributes["monitorStream"] == "news" && sample.attributes["monitorLocation"] == "oslo")
            #expect(sample.attributes["monitorLabels"] == ["cdn": "alpha"])
        }
    }

    @Test("A report selects and groups sessions by stream and label, and names what there is when it selects none")
    func selectedReport() throws {
        let news = try monitored("news", cdn: "alpha")
        let run = try Run.playerMonitor("report", "--text", "--where", "cdn=alpha", "--group-by", "cdn", news)
        #expect(run.status == 0 && run.output.contains("Sessions by cdn") && run.output.contains("  alpha"))
        let none = try Run.playerMonitor("report", "--text", "--where", "stream=nwes", news)
        #expect(none.errors.contains("--where selects none of 1 session (found streams news; labels cdn)"))
        for arguments in [["--where", "cdn"], ["--group-by", ""], ["--group-by", "cdn", "--group-by", "cdn"]] {
            #expect(try Run.playerMonitor(["report", "--text"] + arguments + [news]).status == 2)
        }
    }

    @Test("Samples that a backend does not receive give exit code 3 and the advice to repeat the command")
    func undelivered() throws {
        let arguments = [
            "replay", "--backend", "clickstream:http://127.0.0.1:9/events", "--timeout", "0.5", Self.golden,
        ]
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 3)
        #expect(run.errors.contains("samples were not delivered to"))
        #expect(run.errors.contains("Run the command again"))
    }

    @Test("A report is a page, text, a table, or several of them")
    func report() throws {
        let hostile = try golden().replacing(
            "three-renditions.ts",
            with: #"</script><img src=x onerror=alert(1)>\u001b[31m\u202e"#
        )
        let path = try write(hostile, to: "s.ndjson")
        let (page, table) = (scratch.file("r.html"), scratch.file("r.csv"))
        let arguments = ["report", path, "--against", Self.golden, "-o", page, "--csv", table, "--text"]
        let run = try Run.playerMonitor(arguments)
        #expect(run.status == 0)
        #expect(run.output.contains("1 session ") && run.output.contains("Comparison"))
        #expect(!run.output.contains("\u{1B}") && !run.output.contains("\u{202E}"))
        let html = try String(contentsOfFile: page, encoding: .utf8)
        #expect(html.hasPrefix("<!DOCTYPE html>") && html.contains("&lt;/script&gt;&lt;img"))
        #expect(!html.contains("<img") && !html.contains("\u{1B}") && !html.contains("\u{202E}"))
        #expect(try String(contentsOfFile: table, encoding: .utf8).components(separatedBy: "\r\n").count == 3)
        #expect(try Run.playerMonitor("report", path).status == 2)
        #expect(try Run.playerMonitor("report", path, "-o", "-").output.hasPrefix("<!DOCTYPE html>"))
    }

    @Test("Explain lists all metrics, shows one in every dialect, and suggests names")
    func explain() throws {
        let list = try Run.playerMonitor("explain")
        #expect(list.status == 0)
        #expect(list.output.contains("RebufferRatio") && list.output.contains("exoplayer"))
        let one = try Run.playerMonitor("explain", "rebufferratio")
        #expect(one.status == 0)
        for dialect in ["instrument", "openavt", "mux", "exoplayer", "newrelic", "cta2066", "3gpp26247"] {
            #expect(
                one.output.contains("\(dialect), version ") || one.output.contains("\(dialect): no metric"),
                "\(dialect)"
            )
        }
        #expect(one.output.contains("difference  "))
        let wrong = try Run.playerMonitor("explain", "RebuferRatio")
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("did you mean RebufferRatio"))
        #expect(try Run.playerMonitor("replay", "--dialect", "muxx", Self.golden).status == 2)
    }

    @Test(
        "A time is a date, RFC 3339 or milliseconds; anything else gives exit code 2",
        arguments: [
            ("2026-11-22", 0), ("2026-11-22T08:00:00Z", 0), ("2026-11-22T08:00:00.5+01:30", 0), ("1795353396964", 0),
            ("yesterday", 2), ("2026-13-01", 2), ("2026-11-22T25:00", 2), ("", 2),
        ]
    )
    func times(text: String, status: Int32) throws {
        #expect(try Run.playerMonitor("replay", "--until", text, Self.golden).status == status)
    }
}
