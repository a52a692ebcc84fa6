import CostMeasurement
import Instrument
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Cost of addresses and headers")
struct LinearTimeTests {
    /// The input, and the part that it has `n` times.
    struct Reading: Sendable, CustomTestStringConvertible {
        var name: String
        var read: @Sendable (String) -> Void
        var text: @Sendable (Int) -> String
        var testDescription: String { name }
    }

    private static func repeated(_ text: String) -> @Sendable (Int) -> String {
        { String(repeating: text, count: $0) }
    }

    private static let resolve: @Sendable (String) -> Void = { text in
        guard let url = try? HTTPURL("https://media.test/a/b/c") else { return }
        _ = try? url.resolving(text)
        _ = try? HTTPURL("https://media.test/" + text).resolving("../x")
    }
    private static let date: @Sendable (String) -> Void = { _ = RetryAfter.delay($0, now: WallTime(milliseconds: 0)) }
    private static let header: @Sendable (String) -> Void = { text in
        var headers = HTTPHeaders()
        try? headers.add("Location", text)
        try? headers.add(text, "x")
    }

    static let readings: [Reading] = [
        Reading(name: "parts of a path that lead up", read: resolve, text: repeated("../")),
        Reading(name: "parts of a path that lead nowhere", read: resolve, text: repeated("./a/..//")),
        Reading(name: "characters that are encoded", read: resolve, text: repeated("\u{1F1E6} \\")),
        Reading(name: "marks of queries and fragments", read: resolve, text: repeated("?#&=@:")),
        Reading(
            name: "a query's parameters",
            read: { text in
                _ = (try? HTTPURL("https://media.test/?" + text))?.queryValue(named: "none")
            },
            text: repeated("a=b&")
        ),
        Reading(
            name: "signs that end a user",
            read: { _ = try? HTTPURL("https://" + $0 + "host/") },
            text: repeated("@")
        ),
        Reading(name: "a host", read: { _ = try? HTTPURL("https://" + $0 + "/") }, text: repeated("a.")),
        Reading(name: "seconds to wait", read: date, text: repeated("9")),
        Reading(name: "words of a date", read: date, text: repeated("Sun, ")),
        Reading(name: "spaces of a date", read: date, text: repeated(" ")),
        Reading(
            name: "spaces around a value",
            read: header,
            text: { n in
                String(repeating: " ", count: n) + "x" + String(repeating: " ", count: n)
            }
        ),
        Reading(name: "flags in a value", read: header, text: repeated("\u{1F1E6}")),
        Reading(name: "a name that speaks of secrets", read: header, text: repeated("au-")),
    ]

    @Test("Reading costs time in proportion to the length of the text", arguments: Self.readings)
    func reading(reading: Reading) {
        let growth = CostGrowth.measure(from: 400, making: reading.text, reading.read)
        #expect(growth.isLinear, "\(growth)")
    }

    @Test(
        "Reading the head of a response costs time in proportion to its fields",
        arguments: ["a: b", "X-Token: c", ": d", "e"]
    )
    func head(line: String) {
        let bytes = Array(line.utf8)
        let growth = CostGrowth.measure(from: 250, making: { $0 }) { count in
            var head = ResponseHead()
            for _ in 0..<count { _ = bytes.withUnsafeBytes { head.add($0) } }
            _ = (head.headers["Retry-After"], head.headers.values(of: "a"))
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
