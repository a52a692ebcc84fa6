import CostMeasurement
import Testing

@testable import InstrumentOrigin

@Suite("Cost of requests to the origin")
struct LinearTimeTests {
    @Test(
        "Finding the end of a head costs time in proportion to its length, in pieces of any size",
        arguments: ["x", "\r", "\r\n", "a: b\r\n"]
    )
    func search(piece: String) {
        let growth = CostGrowth.measure(from: 250) {
            Array(String(repeating: piece, count: $0).utf8)
        } _: { bytes in
            var search = HeadSearch()
            for end in bytes.indices { _ = try? search.end(in: bytes[...end]) }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("The end of a head is found with every cut of the pieces", arguments: 0...10)
    func place(cut: Int) throws {
        let bytes = Array("a\r\nb\r\n\r\nc\r".utf8)
        var search = HeadSearch()
        let first = try search.end(in: bytes[..<cut])
        #expect(try (first ?? search.end(in: bytes[...])) == 4)
        #expect((first != nil) == (cut >= 8))
    }

    @Test("A line that ends with a line feed alone is refused with every cut of the pieces", arguments: 0...6)
    func bareLineFeed(cut: Int) {
        let bytes = Array("a\r\nb\n\n".utf8)
        var search = HeadSearch()
        #expect(throws: RequestHead.Refusal.badRequest) {
            _ = try search.end(in: bytes[..<cut])
            _ = try search.end(in: bytes[...])
        }
    }

    static let heads: [(name: String, text: @Sendable (Int) -> String)] = [
        ("fields", { "GET / HTTP/1.1\r\nHost: h" + String(repeating: "\r\na: b", count: $0) }),
        (
            "connections",
            { "GET / HTTP/1.1\r\nHost: h" + String(repeating: "\r\nConnection: close, keep-alive", count: $0) }
        ),
        ("bytes of a path", { "GET /" + String(repeating: "%41/../", count: $0) + " HTTP/1.1\r\nHost: h" }),
        ("spaces", { "GET" + String(repeating: " ", count: $0) + "/ HTTP/1.1\r\nHost: h" }),
        ("flags in a value", { "GET / HTTP/1.1\r\nHost: h\r\nRange: " + String(repeating: "\u{1F1E6}", count: $0) }),
        (
            "digits of a range",
            { "GET / HTTP/1.1\r\nHost: h\r\nRange: bytes=" + String(repeating: "1", count: $0) + "-" }
        ),
    ]

    @Test("Reading a head costs time in proportion to its length", arguments: Self.heads.map(\.name))
    func head(name: String) throws {
        let head = try #require(Self.heads.first { $0.name == name })
        let growth = CostGrowth.measure(from: 250, making: { Array(head.text($0).utf8) }) { bytes in
            guard let head = try? RequestHead(parsing: bytes) else { return }
            _ = (RequestedRange(head.range, length: 100), StreamQuery(head.query))
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test(
        "Comparing a path with a pattern costs at most time in proportion to the path",
        arguments: ["*a*a*b", "?*?*x", "*"]
    )
    func pattern(pattern: String) {
        let growth = CostGrowth.measure(from: 1_200, making: { String(repeating: "a", count: $0) }) {
            _ = PathPattern.matches(pattern, $0)
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
