import CostMeasurement
import InstrumentTestKit
import Testing

@testable import InstrumentText

@Suite("Line splitter")
struct LineSplitterTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("A line waits for its line feed; a piece may complete several lines")
    func pieces() {
        var splitter = LineSplitter(maxLength: 100)
        #expect(splitter.append(bytes("{\"a\"")) == [])
        let lines: [LineSplitter.Line] = [.whole(bytes("{\"a\":1}")), .whole([]), .whole(bytes("{}"))]
        #expect(splitter.append(bytes(":1}\n\n{}\n[")) == lines)
        #expect(splitter.append(bytes("]\n")) == [.whole(bytes("[]"))])
        #expect(splitter.finish() == nil)
    }

    @Test("Another separator ends lines, and a line feed is a byte of them then")
    func separator() {
        var splitter = LineSplitter(maxLength: 3, separator: 0)
        #expect(splitter.append(bytes("a\nb\0long\0c\0")) == [.whole(bytes("a\nb")), .tooLong, .whole(bytes("c"))])
    }

    @Test("The last line is returned at the end when no line feed follows")
    func end() {
        var splitter = LineSplitter(maxLength: 3)
        #expect(splitter.append(bytes("a\nb")) == [.whole(bytes("a"))])
        #expect(splitter.finish() == .whole(bytes("b")))
        #expect(splitter.append(bytes("long")) == [] && splitter.finish() == .tooLong && splitter.finish() == nil)
        #expect(splitter.append(bytes("c\n")) == [.whole(bytes("c"))])
    }

    @Test("A line that is too long is skipped to its end, in pieces of any size", arguments: [1, 7, 5000])
    func tooLong(size: Int) {
        var splitter = LineSplitter(maxLength: 1000)
        let fitting = String(repeating: "y", count: 1000)
        let text = bytes(String(repeating: "x", count: 1001) + "\n\(fitting)\nnext\n")
        var lines: [LineSplitter.Line] = []
        for start in stride(from: 0, to: text.count, by: size) {
            lines += splitter.append(text[start..<min(start + size, text.count)])
        }
        #expect(lines == [.tooLong, .whole(bytes(fitting)), .whole(bytes("next"))])
    }

    @Test("Lines do not depend on where the pieces are cut", arguments: UInt64(0)..<50)
    func cutting(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let text = (0..<400).map { _ in
            UInt8.random(in: 0...9, using: &generator) == 0 ? 10 : UInt8.random(in: 0...255, using: &generator)
        }
        // A second computation: splits the whole text at once.
        let parts = text.split(separator: 10, omittingEmptySubsequences: false)
        var expected = parts.map { $0.count > 40 ? LineSplitter.Line.tooLong : .whole(Array($0)) }
        let last = expected.popLast()
        var splitter = LineSplitter(maxLength: 40)
        var (lines, rest) = ([LineSplitter.Line](), text[...])
        while !rest.isEmpty {
            let count = Int.random(in: 1...60, using: &generator)
            lines += splitter.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        #expect(lines == expected)
        #expect(splitter.finish() == (last == .whole([]) ? nil : last))
    }

    @Test("Splitting costs time in proportion to the length of the text", arguments: ["x", "\n", "{}\n"])
    func cost(piece: String) {
        let growth = CostGrowth.measure(from: 1_000, making: { Array(String(repeating: piece, count: $0).utf8) }) {
            var (splitter, rest) = (LineSplitter(maxLength: .max), $0[...])
            // In small pieces, as over a slow network.
            while !rest.isEmpty {
                _ = splitter.append(rest.prefix(7))
                rest = rest.dropFirst(7)
            }
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
