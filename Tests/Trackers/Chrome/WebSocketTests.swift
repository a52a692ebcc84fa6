import InstrumentTestKit
import Testing

@testable import InstrumentChrome

@Suite("The WebSocket of a browser")
struct WebSocketTests {
    /// A frame as a server sends it.
    private func frame(_ code: UInt8, _ content: [UInt8], isLast: Bool = true) -> [UInt8] {
        let first = (isLast ? 0x80 : 0) | code
        if content.count < 126 { return [first, UInt8(content.count)] + content }
        if content.count <= 0xFFFF {
            return [first, 126, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
        }
        return [first, 127] + (0..<8).reversed().map { UInt8(content.count >> (8 * $0) & 255) } + content
    }

    @Test("The key of RFC 6455 has the acceptance of RFC 6455")
    func acceptance() {
        #expect(WebSocketHandshake.acceptance(of: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        let hexadecimal = SHA1.digest(of: Array("abc".utf8)).map { String($0, radix: 16) }.joined(separator: " ")
        #expect(hexadecimal == "a9 99 3e 36 47 6 81 6a ba 3e 25 71 78 50 c2 6c 9c d0 d8 9d")
        #expect(SHA1.digest(of: [UInt8](repeating: 0x61, count: 1_000_000)).prefix(4) == [0x34, 0xAA, 0x97, 0x3C])
    }

    @Test("Messages are put together for any cut of their bytes", arguments: 0..<100)
    func pieces(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let long = [UInt8](repeating: 7, count: 70_000)
        let bytes =
            frame(1, [1, 2]) + frame(1, [3], isLast: false) + frame(9, [9]) + frame(0, [4], isLast: false)
            + frame(0, [5])
            + frame(2, [UInt8](repeating: 1, count: 300)) + frame(1, long) + frame(1, [6], isLast: false)
            + frame(0, long)
            + frame(1, []) + frame(8, [])
        var reader = WebSocketReader(maxLength: 1_000)
        var events: [WebSocketReader.Event] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...40_000, using: &generator)
            events += try reader.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(
            events == [
                .message([1, 2]), .ping([9]), .message([3, 4, 5]), .message([UInt8](repeating: 1, count: 300)),
                .tooLong,
                .tooLong, .message([]), .closed,
            ]
        )
    }

    @Test(
        "A peer that breaks the protocol is an error",
        arguments: [
            [0xC1, 0], [0x81, 0x80, 0, 0, 0, 0], [0x80, 0], [0x09, 0], [0x89, 126, 0, 126], [0x83, 0],
            [0x81, 127, 0xFF, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]]
    )
    func violations(bytes: [UInt8]) {
        var reader = WebSocketReader(maxLength: 1_000)
        #expect(throws: WebSocketReader.Violation.self) { try reader.append(bytes) }
    }

    @Test("Any bytes are survived", arguments: 0..<300)
    func anything(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var reader = WebSocketReader(maxLength: 100)
        for _ in 0..<50 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            guard (try? reader.append(bytes)) != nil else { return }
        }
    }

    @Test("A client's frame has a mask, and a length of each size")
    func writing() {
        #expect(
            WebSocketWriter.frame(.text, [1, 2, 3, 4, 5], mask: 0x0102_0304) == [0x81, 0x85, 1, 2, 3, 4, 0, 0, 0, 0, 4]
        )
        #expect(
            WebSocketWriter.frame(.text, [UInt8](repeating: 0, count: 300), mask: 0).prefix(4) == [0x81, 0xFE, 1, 44]
        )
        let long = WebSocketWriter.frame(.text, [UInt8](repeating: 0, count: 65_536), mask: 0)
        #expect(long.prefix(10) == [0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0] && long.count == 65_536 + 14)
    }

    @Test("The head of a response has its status and fields, and nothing else is one")
    func head() {
        let head = ResponseHead("HTTP/1.1 101 Switching\r\nA: b\r\nSEC-websocket-Accept:\t x \r\nnone".utf8)
        #expect(head?.status == 101 && head?.fields == ["a": "b", "sec-websocket-accept": "x"])
        for text in ["", "SMTP 220", "HTTP/1.1", "HTTP/1.1 abc", "\r\n\r\n"] { #expect(ResponseHead(text.utf8) == nil) }
    }
}
