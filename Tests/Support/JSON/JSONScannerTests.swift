import InstrumentTestKit
import Testing

@testable import InstrumentJSON

@Suite("JSON scanner")
struct JSONScannerTests {
    private static func accepts(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            guard var scanner = JSONScanner(bytes) else { return false }
            return scanner.value() && scanner.isAtEnd()
        }
    }

    @Test(
        "The scanner accepts plain JSON",
        arguments: [
            "0", "-0.5", " [ 1 , true , false , null , \"é\" ] ", "{\"a\":{\"b\":[]},\"c\":\"\\n\\\\\"}", "{}", "[]",
            "\"\"",
            "\"a text of more than eight bytes, with \\\"quotes\\\"\"",
        ]
    )
    func plain(text: String) throws {
        #expect(Self.accepts(Array(text.utf8)))
        _ = try JSONReader.read(Array(text.utf8))
    }

    @Test(
        "The scanner leaves other texts to the reader",
        arguments: [
            "", " ", "01", "1.", ".5", "+1", "1e5", "-", "tru", "nul", "{\"a\":1,}", "[1,]", "[1", "{\"a\" 1}", "\"a",
            "\"\\u0041\"",
            "{\"é\":1}", "\"\u{1}\"", "1 2", String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
            String(repeating: "1", count: 301),
        ]
    )
    func doubt(text: String) { #expect(!Self.accepts(Array(text.utf8))) }

    @Test(
        "The scanner leaves bytes that are not UTF-8 to the reader",
        arguments: [[0x22, 0xC3, 0x22], [0x22, 0xFF, 0x22]]
    )
    func invalid(bytes: [UInt8]) { #expect(!Self.accepts(bytes)) }

    @Test("What the scanner accepts, the reader reads", arguments: 1...4)
    func subset(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "a", "é", "0", "1", "-", ".", "e", "true", "null", " ", "\n",
            "\"a\"", "\"b\":",
            "[1,2]", "{\"a\":0}", "\u{0}", "12345678",
        ].map { Array($0.utf8) }
        var acceptedCount = 0
        for _ in 0..<10_000 {
            var bytes: [UInt8] = []
            if Bool.random(using: &generator) {
                bytes = Array("{\"a\":[1,-2.5,{\"b\":\"text \\\"é\\\" and more\"}],\"c\":null}".utf8)
                for _ in 0..<Int.random(in: 0...2, using: &generator) {
                    let place = Int.random(in: bytes.indices, using: &generator)
                    bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                }
            } else {
                for _ in 0..<Int.random(in: 1...6, using: &generator) {
                    bytes += parts[Int.random(in: parts.indices, using: &generator)]
                }
            }
            guard Self.accepts(bytes) else { continue }
            acceptedCount += 1
            #expect((try? JSONReader.read(bytes)) != nil, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(acceptedCount > 500)
    }
}
