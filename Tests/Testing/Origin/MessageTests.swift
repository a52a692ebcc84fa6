import Instrument
import InstrumentTestKit
import InstrumentText
import NIOCore
import Testing

@testable import InstrumentOrigin

@Suite("Requests and their answers")
struct MessageTests {
    @Test("A valid head is parsed")
    func head() throws {
        let text =
            "GET /a%20b/c?x=1%20&y HTTP/1.1\r\nHost: h\r\nRANGE: bytes=1-2\r\nConnection: Close\r\nContent-Length: 3"
        let head = try RequestHead(parsing: Array(text.utf8))
        #expect(head.method == "GET" && head.path == "/a b/c" && head.query == "x=1%20&y")
        #expect(head.range == "bytes=1-2" && head.contentLength == 3 && !head.keepsAlive)
        #expect(try RequestHead(parsing: Array("GET http://h:1/x HTTP/1.1\r\nHost: h:1".utf8)).path == "/x")
        #expect(try RequestHead(parsing: Array("GET / HTTP/1.0".utf8)).keepsAlive == false)
    }

    @Test(
        "An invalid head is rejected",
        arguments: [
            ("", 400), ("GET", 400), ("GET /", 400), ("GET  / HTTP/1.1", 400), ("GET / HTTP/2", 505),
            ("GET x HTTP/1.1", 400),
            ("GET /%zz HTTP/1.1", 400), ("GET /%00 HTTP/1.1", 400), ("GET /%ff HTTP/1.1", 400),
            ("GET / HTTP/1.1\r\n: x", 400),
            ("GET / HTTP/1.1\r\nContent-Length: -1", 400), ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked", 501),
            ("GET / HTTP/1.1", 400), ("GET / HTTP/1.1\r\nHost: a\r\nhost: a", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +3", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", 501),
            ("GET / HTTP/1.1\r\nHost : a", 400), ("GET / HTTP/1.1\r\nHost: a\r\n b", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n\tb", 400), ("GET / HTTP/1.1\r\n Host: a", 400),
            ("GET / HTTP/1.1\r\nHost: a\nX: b", 400), ("GET / HTTP/1.1\r\nHost: a\rX: b", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}", 400), ("GET / HTTP/1.1\nHost: a", 400),
        ]
    )
    func refused(text: String, status: Int) throws {
        let refusal = try #require(RequestHead.Refusal(rawValue: status))
        #expect(throws: refusal) { try RequestHead(parsing: Array(text.utf8)) }
    }

    @Test("The reader of heads does not trap on random bytes")
    func fuzz() {
        var random = SeededGenerator(seed: 3)
        let whole = Array(
            "GET /s/a/vod/ts/v0.m3u8?window=3 HTTP/1.1\r\nHost: h\r\nRange: bytes=0-\r\nConnection: close".utf8
        )
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? RequestHead(parsing: bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        }
    }

    @Test(
        "A single byte range is applied, and every other range is ignored",
        arguments: [
            (nil, RequestedRange.whole), ("bytes=0-9", .part(0..<10)), ("bytes=90-", .part(90..<100)),
            ("bytes=-10", .part(90..<100)),
            ("bytes=0-999", .part(0..<100)), ("bytes=-999", .part(0..<100)), ("bytes=100-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=5-4", .whole), ("bytes=a-b", .whole), ("lines=0-1", .whole),
            ("bytes=0-1,3-4", .whole), ("bytes=", .whole), ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=0-99999999999999999999", .part(0..<100)), ("bytes=--5", .whole), ("bytes=+1-2", .whole),
        ] as [(String?, RequestedRange)]
    )
    func range(header: String?, expected: RequestedRange) { #expect(RequestedRange(header, length: 100) == expected) }

    @Test("HTTP dates have the correct calendar date")
    func calendar() {
        let times: [(Int64, String)] = [
            (0, "1970-01-01T00:00:00.000Z"), (1_767_225_600_000, "2026-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ]
        for (milliseconds, text) in times { #expect(WallTime(milliseconds: milliseconds).rfc3339 == text) }
    }

    @Test("Decimals have six places")
    func decimals() {
        #expect(decimal(2) == "2.000000" && decimal(0.04) == "0.040000" && decimal(2.005333333) == "2.005333")
    }

    @Test("Endless bodies continue after their first line, without a gap")
    func endless() throws {
        let body = Body.endless(first: ByteBuffer(string: "#EXTM3U\n"), line: ByteBuffer(string: "# more\n"))
        var text = ""
        while text.utf8.count < 40 {
            let bytes = try #require(body.bytes(at: text.utf8.count, count: 5))
            text += String(buffer: bytes)
        }
        #expect(text.hasPrefix("#EXTM3U\n# more\n# more\n# more\n"))
    }
}
