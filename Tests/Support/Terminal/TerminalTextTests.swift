import CostMeasurement
import Foundation
import LoopbackServers
import Testing

@testable import InstrumentTerminal

@Suite("Text for terminals")
struct TerminalTextTests {
    @Test("Words of the program stay, values between them are escaped")
    func interpolation() {
        let title = "a\u{1B}]0;mine\u{07}\nplayer-monitor: everything was delivered"
        let text: TerminalText = "\u{1B}[32m▶\u{1B}[0m \(title)\n"
        let shown = "a\\u{1b}]0;mine\\u{7}\\nplayer-monitor: everything was delivered"
        #expect(text.string == "\u{1B}[32m▶\u{1B}[0m \(shown)\n")
        #expect(TerminalText(title).string == shown)
        let inner: TerminalText = "[\(text)]"
        #expect(inner.string == "[\(text.string)]")
    }

    @Test(
        "A character that a terminal interprets is escaped",
        arguments: [
            "\u{0}", "\u{7}", "\u{8}", "\t", "\n", "\r", "\u{1B}", "\u{7F}", "\u{80}", "\u{85}", "\u{9B}", "\u{9F}",
            "\u{AD}",
            "\u{61C}", "\u{115F}", "\u{180E}", "\u{200B}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{2028}", "\u{2029}",
            "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2060}", "\u{2066}", "\u{2067}", "\u{2068}",
            "\u{2069}", "\u{206F}", "\u{3164}", "\u{FEFF}", "\u{FFF9}", "\u{E0001}", "\u{E0061}",
        ] as [Unicode.Scalar]
    )
    func unsafe(scalar: Unicode.Scalar) throws {
        let text = TerminalText("a" + String(Character(scalar)) + "b").string
        #expect(text.hasPrefix("a\\") && text.hasSuffix("b"))
        #expect(text.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) })
        // As JSON it is the same value, without the character itself.
        let json = try JSONEncoder().encode(["a" + String(Character(scalar))])
        let shown = TerminalText(json: Array(json))
        #expect(!shown.string.unicodeScalars.contains(scalar))
        #expect(try JSONDecoder().decode([String].self, from: Data(shown.bytes)) == ["a" + String(Character(scalar))])
    }

    @Test("Printable text is unchanged", arguments: ["", "plain", "é漢字かな", "Ωмир", "👍🏽 ❤️", "שלום", "e\u{301}", "a\\b"])
    func writing(text: String) { #expect(TerminalText(text).string == text) }

    @Test("Invalid UTF-8 is shown as hexadecimal numbers")
    func bytes() {
        #expect(
            TerminalText(bytes: [0x61, 0xFF, 0xC3, 0xA9, 0xC3, 0x0A, 0xF0, 0x9F]).string == "a\\xffé\\xc3\\n\\xf0\\x9f"
        )
        #expect(TerminalText(bytes: Array("é漢👍".utf8)).string == "é漢👍")
    }

    @Test("A value that a message repeats adds no line to it")
    func messages() {
        let argument = "x\nError: nothing is wrong"
        let message = "Error: unknown value '\(argument)' for '--speed'\nUsage: player-monitor"
        for arguments in [["play", argument], ["--speed=" + argument]] {
            let shown = TerminalText(message: message, repeating: arguments).string
            #expect(shown == "Error: unknown value 'x\\nError: nothing is wrong' for '--speed'\nUsage: player-monitor")
        }
    }

    @Test(
        "Columns are counted as a terminal shows them",
        arguments: [("abc", 3), ("漢字", 4), ("é", 1), ("e\u{301}", 1), ("ﾊﾝ", 2), ("👍", 2), ("한", 2), ("Ａ", 2), ("", 0)]
    )
    func columns(text: String, columns: Int) { #expect(TerminalText(text).columns == columns) }

    @Test("Text is cut where the columns end, and never inside a wide character")
    func cutting() {
        #expect(TerminalText("漢字かな").prefix(columns: 5).string == "漢字")
        #expect(TerminalText("abcdef").prefix(columns: 3).string == "abc")
        #expect(TerminalText("ab").prefix(columns: 9).string == "ab")
        let accents = String(repeating: "\u{301}", count: 1_000)
        #expect(TerminalText("a\(accents)b").prefix(columns: 2).string == "a\u{301}\u{301}\u{301}\u{301}b")
        #expect(TerminalText("漢").padded(toColumns: 4).string == "漢  ")
        #expect(TerminalText("漢").padded(toColumns: 4, isRight: true).string == "  漢")
        #expect(TerminalText("漢字").padded(toColumns: 3).string == "漢字")
    }

    @Test(
        "Escaping costs time in proportion to the length of the text",
        arguments: ["x", "\u{1B}", "\u{301}\u{316}", "\u{1F1E6}", "\u{200D}"]
    )
    func cost(piece: String) {
        let growth = CostGrowth.measure(from: 200, making: { String(repeating: piece, count: $0) }) { text in
            let shown = TerminalText(text)
            _ = (shown.columns, shown.prefix(columns: 80), TerminalText(bytes: text.utf8))
            _ = TerminalText(json: Array("[\"\(text)\"]".utf8))
            _ = TerminalText(message: text, repeating: [text, "\u{1B}\u{1B}x"])
        }
        #expect(growth.isLinear, "\(growth)")
    }
}

/// The command lines write to a terminal through the types of `Sources/CommandLine/Output`, whose functions take no
/// `String`.
@Suite("Doors to the terminal")
struct TerminalDoorTests {
    private static let root = packageRoot
    private static let doors = ["FullScreen.swift", "StandardStreams.swift", "Terminal.swift"]

    @Test(
        "A command line writes to standard output and error through the terminal's types alone",
        arguments: [
            "Examples/PlayerMonitor", "Examples/TestOrigin", "Sources/Tools/CommandLine", "Sources/Tools/Commands",
        ]
    )
    func door(folder: String) throws {
        let folder = Self.root.appending(path: folder)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        let sources = try #require(files).filter { $0.pathExtension == "swift" }
        #expect(!sources.isEmpty)
        let ways = [
            "print(", "debugPrint(", "dump(", "fputs(", "puts(", "FileHandle.standard", "STDERR_FILENO,",
            "STDOUT_FILENO,",
        ]
        for file in sources where !Self.doors.contains(file.lastPathComponent) {
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            for (number, line) in lines.enumerated() where ways.contains(where: { line.contains($0) }) {
                Issue.record("\(file.lastPathComponent):\(number + 1) writes past the door: \(line)")
            }
        }
    }
}
