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
        table.take(drive.model.overview(MonitorFacts(), at: drive.now))
        return table
    }

    @Test("The table shows streams in trouble first, and sorts by other columns when `s` is pressed")
    func sorting() throws {
        var table = try table(["a1", "a2", "b1"])
        #expect(table.shown.map(\.name) == ["a2", "a1", "b1"])
        table.press(.character("s"))
        #expect(table.sort == .name)
        #expect(table.shown.map(\.name) == ["a1", "a2", "b1"])
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
}
