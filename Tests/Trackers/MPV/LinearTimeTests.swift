import CostMeasurement
import Instrument
import InstrumentJSON
import InstrumentText
import InstrumentTrackers
import Testing

@testable import InstrumentMPV

@Suite("Cost of mpv's lines")
struct LinearTimeTests {
    @Test("Splitting mpv's bytes into lines costs time in proportion to their length", arguments: ["x", "\n", "{}\n"])
    func lines(piece: String) {
        let growth = CostGrowth.measure(from: 1_000) {
            Array(String(repeating: piece, count: $0).utf8)
        } _: { bytes in
            var (framer, rest) = (LineSplitter(maxLength: .max), bytes[...])
            while !rest.isEmpty {
                for case .whole(let line) in framer.append(Array(rest.prefix(7))) { _ = try? MPVMessage(line: line) }
                rest = rest.dropFirst(7)
            }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    /// A path and a title with `n` of something.
    static let names: [(name: String, path: @Sendable (Int) -> String, title: @Sendable (Int) -> String)] = [
        (
            "a title that nearly stands in the path, everywhere", { String(repeating: "a", count: $0) },
            { String(repeating: "a", count: $0 / 2) + "b" }
        ),
        ("flags before a host", { "http://" + String(repeating: "\u{1F1E6}", count: $0) + "/a" }, { _ in "a" }),
        ("percent signs", { String(repeating: "%41%", count: $0) }, { String(repeating: "A%", count: $0) }),
        (
            "combining marks", { "a" + String(repeating: "\u{301}\u{316}", count: $0) },
            { String(repeating: "\u{316}", count: $0) }
        ),
    ]

    @Test(
        "Finding whether a title comes from the path costs time in proportion to both",
        arguments: Self.names.map(\.name)
    )
    func titles(name: String) throws {
        let texts = try #require(Self.names.first { $0.name == name })
        let growth = CostGrowth.measure(from: 250) { count in
            var values = MPVValues()
            values[.path] = .string(texts.path(count))
            values[.mediaTitle] = .string(texts.title(count))
            return values
        } _: { values in
            _ = values.status
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
