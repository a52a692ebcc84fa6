import Instrument
import InstrumentJSON
import InstrumentMonitor
import InstrumentTerminal
import InstrumentWatch
import Testing

@Suite("The terminal view of the monitor")
struct StreamTableTests {
    private func table(_ names: [String], isColored: Bool = false) throws -> StreamTable {
        let streams = try names.map { try stream($0, labels: ["cdn": $0.hasPrefix("a") ? "one" : "two"]) }
        var drive = Drive(configuration(streams), ["a2": .fails(after: .seconds(1), code: "httpStatus")])
        drive.run(for: .seconds(20))
        var table = StreamTable(isColored: isColored)
        table.take(drive.documents.overview(MonitorFacts()))
        return table
    }

    @Test("The table shows streams in trouble first, and sorts by other columns when `o` is pressed")
    func sorting() throws {
        var table = try table(["a1", "a2", "b1"])
        #expect(table.shown.map(\.name) == ["a2", "a1", "b1"])
        table.press(.character("o"))
        #expect(table.sort == .name)
        #expect(table.shown.map(\.name) == ["a1", "a2", "b1"])
    }

    @Test("The table says which place is silent, and a stream in detail what other places see of it")
    func places() throws {
        var drive = try PlaceDrive()
        drive.begin("news", in: ["oslo", "paris", "rome"])
        drive.fail("news", in: ["oslo"])
        drive.run(for: 80, pinging: ["oslo", "paris"])
        var table = StreamTable(isColored: false)
        table.take(drive.documents.overview(MonitorFacts()))
        #expect(table.shown.map(\.name) == ["news (oslo)", "news (rome)", "news (paris)"])
        var lines = table.lines(columns: 120, rows: 24).map(\.string)
        let head = "3 streams, 1 down, 0 stalled, 2 incidents, 61.90 % up today, 3 places, rome silent for 1 min"
        #expect(lines[0] == head)
        #expect(lines.contains { $0.contains("news (rome)") && $0.contains("unknown") })
        table.press(.enter)
        lines = table.lines(columns: 120, rows: 24).map(\.string)
        let heading = try #require(lines.firstIndex(of: "  from other places"))
        #expect(lines[heading + 1].hasPrefix("  paris  playing  start "))
        #expect(lines[heading + 2].hasPrefix("  rome   unknown "))
    }

    @Test("`r` gives an incident back, and `x` closes it once Enter confirms")
    func release() throws {
        var table = StreamTable(isColored: false, canAct: true)
        let incident = #"{"id":"i1","title":"503","severity":"critical","state":"acknowledged","streams":["news"]}"#
        let stream = #"{"name":"news","state":"down","up":false,"labels":{}}"#
        table.take(try JSONValue(parsing: "{\"streams\":[\(stream)],\"incidents\":[\(incident)]}"))
        table.press(.character("a"))
        #expect(table.notice.string == "news has no open incident.")
        table.press(.character("r"))
        #expect(table.takeActions() == [.release(incident: "i1")])
        for key in TerminalKey.keys(in: Array("x\u{1B}".utf8)) { table.press(key) }
        #expect(table.takeActions() == [])
        for key in TerminalKey.keys(in: Array("x\r".utf8)) { table.press(key) }
        #expect(table.takeActions() == [.close(incident: "i1")])
    }

    @Test("A filter keeps the streams that contain it, and Escape removes the filter")
    func filtering() throws {
        var table = try table(["a1", "a2", "b1"])
        for key in TerminalKey.keys(in: Array("/two\r".utf8)) { table.press(key) }
        #expect(table.shown.map(\.name) == ["b1"])
        #expect(!table.hasEnded)
        table.press(.escape)
        #expect(table.shown.count == 3)
        // While typing, `q` is a letter.
        for key in TerminalKey.keys(in: Array("/q\u{7F}\u{1B}".utf8)) { table.press(key) }
        #expect(!table.hasEnded)
        table.press(.character("q"))
        #expect(table.hasEnded)
    }

    @Test("Arrows choose a stream, Enter opens it, Escape goes back")
    func choosing() throws {
        var table = try table(["a1", "a2", "b1"])
        for key in TerminalKey.keys(in: Array("\u{1B}[B\u{1B}[B\u{1B}OA\r".utf8)) { table.press(key) }
        #expect(table.opened == "a1")
        let lines = table.lines(columns: 80, rows: 24).map(\.string)
        #expect(lines.contains { $0.contains("a1") && $0.contains("playing") })
        table.press(.escape)
        #expect(table.opened == nil)
    }

    @Test(
        "No line is wider than the screen, and no screen has more lines than it shows",
        arguments: [
            (200, 50), (80, 24), (59, 10), (40, 8), (10, 3), (1, 1), (0, 0),
        ]
    )
    func sizes(_ columns: Int, _ rows: Int) throws {
        let hostile = "x\u{1B}[31m\u{202E}" + String(repeating: "宽e\u{301}", count: 60)
        var table = try table(["a1", "a2", hostile] + (0..<40).map { "s\($0)" })
        for keys in ["", "\u{1B}[F", "\r"] {
            for key in TerminalKey.keys(in: Array(keys.utf8)) { table.press(key) }
            let lines = table.lines(columns: columns, rows: rows)
            #expect(lines.count <= max(rows, 0))
            for line in lines {
                #expect(line.columns <= columns)
                #expect(!line.string.contains("\u{1B}"))
                #expect(!line.string.unicodeScalars.contains("\u{202E}"))
            }
        }
    }

    @Test("Colour is used only if asked for")
    func colour() throws {
        var plain = try table(["a1", "a2"])
        var colored = try table(["a1", "a2"], isColored: true)
        #expect(!plain.lines(columns: 80, rows: 24).contains { $0.string.contains("\u{1B}") })
        #expect(
            colored.lines(columns: 80, rows: 24).contains {
                $0.string.contains("\u{1B}[31m") || $0.string.contains("\u{1B}[7m")
            }
        )
    }

    @Test(
        "Bytes that are no keys are skipped",
        arguments: [
            ("\u{1B}[200~x", [TerminalKey.character("x")]), ("\u{1B}", [.escape]), ("\u{0}\u{1}", []),
            ("ü", [.character("ü")]),
            ("\u{1B}[", []),
        ]
    )
    func keys(_ text: String, _ expected: [TerminalKey]) { #expect(TerminalKey.keys(in: Array(text.utf8)) == expected) }

    @Test("Broken bytes of UTF-8 do not end the reading of keys")
    func brokenKeys() { #expect(TerminalKey.keys(in: [0xFF, 0xC3, 0x28, UInt8(ascii: "a")]).last == .character("a")) }

    @Test("A document of another form changes nothing")
    func foreign() throws {
        var table = try table(["a1"])
        table.take(["streams": 1, "alerts": "x"])
        table.take(["streams": [["name": 1], 2, ["name": "y", "state": "playing", "startup": "z"]]])
        #expect(table.rows.map(\.name) == ["y"])
    }

    private func document(role: String? = nil, streams: Int = 1, incidents: Int = 1) -> JSONValue {
        var members: [String: JSONValue] = [
            "time": "2026-11-26T22:04:10Z",
            "streams": .array(
                (0..<streams).map { number -> JSONValue in
                    [
                        "name": .string("news-\(number)"), "state": "down", "up": false, "labels": ["cdn": "alpha"],
                        "startup": 455, "playing": 60_000, "rebuffering": 20_000, "bitrate": 2_500_000,
                        "latency": 11_640,
                        "stateSince": "2026-11-26T21:52:00Z", "nextTry": "2026-11-26T22:04:22Z",
                        "cause": [
                            "kind": "http", "title": "503 Service Unavailable", "status": 503, "host": "cdn-a.example",
                            "resource": "playlist", "text": "The buffer ran empty 9 s later.",
                        ],
                    ]
                }
            ),
            "incidents": .array(
                (0..<incidents).map { number -> JSONValue in
                    [
                        "id": .string("i\(number)"), "title": .string("503 for playlists \(number)"),
                        "severity": "critical",
                        "state": "open", "since": "2026-11-26T21:52:00Z", "streams": ["news-0"], "streamCount": 4,
                    ]
                }
            ),
        ]
        members["role"] = role.map { .string($0) }
        return .object(members)
    }

    private func shown(_ document: JSONValue, columns: Int, rows: Int = 24) -> [String] {
        var table = StreamTable(isColored: false, hasSelection: false)
        table.take(document)
        return table.lines(columns: columns, rows: rows).map(\.string)
    }

    @Test("The head of a column names its unit, figures have none, and a state has its duration")
    func units() throws {
        let lines = shown(document(), columns: 140)
        let head = try #require(lines.first { $0.hasPrefix("STREAM") })
        let row = try #require(lines.first { $0.hasPrefix("news-0") })
        #expect(
            head.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
                == "STREAM STATE START ms STALLS STALLED % Mbit/s BEHIND s BUFFER s ERROR"
        )
        #expect(
            row.split(separator: " ").joined(separator: " ")
                == "news-0 down 12 min 455 0 25.00 2.50 11.6 - 503 playlist from cdn-a.example, next try in 12 s"
        )
    }

    @Test("On a narrow screen, figures leave before an error is cut", arguments: [200, 100, 80, 70])
    func room(_ columns: Int) throws {
        let row = try #require(shown(document(), columns: columns).first { $0.hasPrefix("news-0") })
        #expect(row.contains("down 12 min"))
        #expect(row.contains("503 playlist from cdn-a.example"), "\(row)")
    }

    @Test("The most urgent incidents have the lines, then the oldest; a receiver is no stream")
    func urgent() throws {
        let incident = { (name: String, severity: String, state: String, since: String, count: Int) -> JSONValue in
            [
                "id": .string(name), "title": .string(name), "severity": .string(severity), "state": .string(state),
                "since": .string("2026-11-26T\(since):00Z"), "streams": ["x"], "streamCount": .int(count),
            ]
        }
        var json = document()
        if case .object(var members) = json {
            members["incidents"] = [
                incident("receiver", "warning", "open", "22:00", 0),
                incident("hidden", "critical", "silenced", "20:00", 1),
                incident("new", "critical", "open", "22:01", 2),
                incident("old", "critical", "acknowledged", "21:00", 1),
            ]
            json = .object(members)
        }
        let lines = shown(json, columns: 100)
        #expect(Array(lines[1...3]) == ["acknowledged: old  1 stream  1 h 4 min", "new  2 streams  3 min", "+2 more"])
        if case .object(var members) = json {
            members["incidents"] = [incident("receiver", "warning", "open", "22:00", 0)]
            json = .object(members)
        }
        #expect(shown(json, columns: 100)[1] == "receiver  4 min")
    }

    @Test("What is cut ends with `…`, so that no number looks like a shorter one")
    func cut() throws {
        #expect(TerminalText("next try in 12 s").shortened(toColumns: 13).string == "next try in …")
        #expect(TerminalText("abc").shortened(toColumns: 3).string == "abc")
        #expect(TerminalText("abc").shortened(toColumns: 1).string == "a")
        #expect(TerminalText("日本語").shortened(toColumns: 5).string == "日本…")
        let row = try #require(shown(document(), columns: 80).first { $0.hasPrefix("news-0") })
        #expect(row.count == 80 && row.hasSuffix("…"), "\(row)")
    }

    @Test("What has no line is counted: further incidents, and further streams")
    func more() {
        let lines = shown(document(streams: 30, incidents: 15), columns: 100, rows: 20)
        #expect(lines[0] == "30 streams, 30 down, 0 stalled, 15 incidents")
        #expect(lines[1].hasPrefix("503 for playlists 0  4 streams  12 min"))
        #expect(lines[3] == "+13 more")
        let listed = lines.count { $0.hasPrefix("news-") }
        #expect(lines.contains("+\(30 - listed) more"), "\(lines)")
        // Without further ones, nothing is counted.
        #expect(!shown(document(streams: 3, incidents: 3), columns: 100, rows: 20).contains { $0.contains("more") })
    }

    @Test("However few lines there are, the first ones of the table are its head and a stream", arguments: 5...8)
    func fewLines(_ rows: Int) {
        let lines = shown(document(streams: 30, incidents: 1), columns: 60, rows: rows)
        #expect(lines.count == rows)
        #expect(lines.contains { $0.hasPrefix("news-") }, "\(lines)")
        #expect(!lines.contains { $0.contains("above") }, "\(lines)")
    }

    @Test("A stream in detail shows its whole cause, in lines that fit", arguments: [40, 80])
    func wholeCause(_ columns: Int) {
        var table = StreamTable(isColored: false)
        table.take(document(streams: 1, incidents: 1))
        table.press(.enter)
        let lines = table.lines(columns: columns, rows: 24)
        #expect(lines.allSatisfy { $0.columns <= columns })
        let text = lines.map(\.string).joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(text.contains("The buffer ran empty 9 s later."), "\(text)")
    }

    @Test("Keys ask for actions if the role allows them, and a silence needs a reason")
    func actions() {
        var table = StreamTable(isColored: false)
        func type(_ text: String) { for key in TerminalKey.keys(in: Array(text.utf8)) { table.press(key) } }
        table.take(document(role: "read"))
        type("ats")
        #expect(table.takeActions() == [] && table.notice.string.contains("role is 'act'"))
        table.take(document(role: "act"))
        type("t")
        #expect(table.takeActions() == [.tryNow(stream: "news-0")])
        type("c")
        #expect(table.takeActions() == [.checkNow(stream: "news-0")])
        type("aon it\r")
        #expect(table.takeActions() == [.acknowledge(incident: "i0", note: "on it")])
        type("s \r")
        #expect(table.takeActions() == [] && table.isTyping)
        type("planned\r")
        #expect(table.takeActions() == [.silence(stream: "news-0", reason: " planned")])
        type("s\u{1B}a\u{1B}")
        #expect(table.takeActions() == [] && !table.isTyping)
        table.take(document(role: "act", incidents: 0))
        type("a")
        #expect(table.takeActions() == [] && table.notice.string.contains("no open incident"))
    }

    @Test("A silence or planned work that hides the stream is ended by a key, once the person has seen which one")
    func ending() throws {
        let hidings: JSONValue = [
            "role": "act",
            "silences": [
                [
                    "id": "s1", "kind": "silence", "by": "Ana", "reason": "known", "ends": "2026-11-26T23:00:00.000Z",
                    "matchers": [["label": "cdn", "value": "al.*", "isRegex": true]],
                ],
                ["id": "s2", "kind": "silence", "matchers": [["label": "stream", "value": "other"]]],
                ["id": "s3", "kind": "silence", "matchers": [["label": "alert", "value": "other"]]],
            ],
            "maintenance": [
                ["id": "w1", "kind": "maintenance", "name": "later", "begins": "2026-11-27T10:00:00Z", "matchers": []]
            ],
        ]
        var table = StreamTable(isColored: false)
        func type(_ text: String) { for key in TerminalKey.keys(in: Array(text.utf8)) { table.press(key) } }
        table.take(document(role: "act"))
        type("u")
        #expect(table.notice.string.contains("No silence"))
        table.take(hidings)
        type("u")
        let footer = table.lines(columns: 200, rows: 20).last?.string ?? ""
        #expect(footer.hasPrefix("end the silence cdn=~\"al.*\" until 2026-11-26 23:00 UTC by Ana: known"), "\(footer)")
        type("\u{1B}")
        #expect(table.takeActions() == [])
        type("u\r")
        guard case .end(let hiding)? = table.takeActions().first else {
            Issue.record("no action")
            return
        }
        #expect(hiding.id == "s1" && hiding.kind == .silence)
        type("menc\r")
        #expect(table.takeActions() == [.maintain(stream: "news-0", name: "enc")])
    }

    @Test("Without an answer, the table says why, and neither that nothing is configured nor that figures are old")
    func noAnswer() throws {
        var table = StreamTable(isColored: false)
        table.take(failure: "The monitor refuses (status 401): send the token.")
        var text = table.lines(columns: 120, rows: 12).map(\.string).joined(separator: "\n")
        #expect(text.contains("The monitor refuses (status 401): send the token. Retrying."), "\(text)")
        #expect(text.contains("Nothing is known yet.") && !text.contains("configured") && !text.contains("old"))
        table.take(try JSONValue(parsing: "{\"streams\":[]}"))
        table.take(failure: "The monitor does not answer (refused).")
        text = table.lines(columns: 120, rows: 12).map(\.string).joined(separator: "\n")
        #expect(text.contains("The monitor does not answer (refused). The figures are old. Retrying."), "\(text)")
        #expect(text.contains("No stream is configured."))
    }

    @Test(
        "The filter looks at names, labels, states and errors",
        arguments: ["news", "cdn=alpha", "DOWN", "503", "cdn-a", "9 s later"]
    )
    func filteredBy(_ text: String) {
        var table = StreamTable(isColored: false)
        table.take(document())
        for key in TerminalKey.keys(in: Array("/\(text)\r".utf8)) { table.press(key) }
        #expect(table.shown.count == 1)
        for key in TerminalKey.keys(in: Array("/x\r".utf8)) { table.press(key) }
        #expect(table.shown.isEmpty)
    }
}
