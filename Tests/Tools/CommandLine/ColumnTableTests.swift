import InstrumentCommandLine
import InstrumentTerminal
import Testing

@Suite("Tables with columns")
struct ColumnTableTests {
    @Test("Columns are as wide as their widest cell, and lines have no spaces at their end")
    func widths() {
        let rows: [[TerminalText]] = [["name", "n", "note"], ["a", "10", ""], ["longer", "7", "x"]]
        #expect(
            ColumnTable(rows, rightColumns: [1]).lines.map(\.string) == [
                "name     n  note", "a       10", "longer   7  x",
            ]
        )
    }

    @Test("Wide characters count two columns")
    func wide() {
        let rows: [[TerminalText]] = [["漢字", "x"], ["abc", "y"]]
        #expect(ColumnTable(rows).lines.map(\.string) == ["漢字  x", "abc   y"])
    }

    @Test("Rows may have missing cells, and a table may be empty")
    func missing() {
        #expect(ColumnTable([]).lines.isEmpty)
        #expect(ColumnTable([["a"], [], ["b", "c"]]).lines.map(\.string) == ["a", "", "b  c"])
    }

    @Test("A style that is disabled leaves text unchanged")
    func styles() {
        let (on, off) = (TerminalStyle(isEnabled: true), TerminalStyle(isEnabled: false))
        #expect(on.bold("a").string == "\u{1B}[1ma\u{1B}[0m")
        for text in [off.bold("a"), off.faint("a"), off.link("a")] { #expect(text.string == "a") }
    }
}
