import Foundation
import InstrumentTestKit
import Testing

@testable import InstrumentBackends

@Suite("JSON reader")
struct JSONReaderTests {
    static let valid = [
        "null", "true", " false ", "0", "-0", "1.5", "-1e-7", "1E+2", "\"\"", "\"a\\u0041\\n\\/\"",
        "\"\\ud83d\\ude00\"",
        "[]", "[1, [2, {}]]", "{}", "{\"a\": {\"b\": [null]}}", "\t{\"a\":1 , \"b\":2}\r\n",
        "123456789012345678901234567890",
        "\"\u{7F}é日\"",
    ]
    static let invalid = [
        "", " ", "nul", "True", "01", "+1", "1.", ".5", "1e", "--1", "\"", "\"\\x\"", "\"\\u12\"", "\"a\nb\"", "[1,]",
        "[1 2]",
        "[", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}", "1 2", "[]]", "\"\\ud83d\"",
        "\"\\ud83d\\u0041\"", "\"\\ude00\"", "NaN", "Infinity", "-", "{1:2}", "'a'", "\u{FEFF}1", "\"\u{1}\"", "1e999",
    ]

    /// Foundation takes these, although the standard does not.
    static let lenient: Set<String> = ["[1,]", "{\"a\":1,}", "\u{FEFF}1"]

    @Test("Valid JSON is read, as Foundation reads it", arguments: valid)
    func accepts(text: String) throws {
        _ = try JSONReader.read(Array(text.utf8))
        #expect(throws: Never.self) {
            try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
    }

    @Test("What is no JSON is refused", arguments: invalid)
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        if Self.lenient.contains(text) { return }
        #expect(throws: (any Error).self) {
            try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
    }

    @Test("Integers stay integers, floating-point numbers stay what they are, and what is too long becomes one")
    func numbers() throws {
        #expect(try JSONReader.read(Array("9223372036854775807".utf8)) == .int(.max))
        #expect(try JSONReader.read(Array("-9223372036854775808".utf8)) == .int(.min))
        #expect(try JSONReader.read(Array("9223372036854775808".utf8)) == .double(9_223_372_036_854_775_808))
        #expect(try JSONReader.read(Array("1.0".utf8)) == .double(1))
        #expect(try JSONReader.read(Array("1".utf8)) == .int(1))
    }

    @Test("Invalid UTF-8 and deep nesting are refused")
    func hostile() {
        #expect(throws: JSONError.self) { try JSONReader.read([0x22, 0xC3, 0x28, 0x22]) }
        #expect(throws: JSONError.self) { try JSONReader.read([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)) }
    }

    @Test("Random damage never traps, and what is still read can be written")
    func fuzz() {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<3000 {
            var writer = JSONWriter()
            SampleLine.write(Samples.random(round, &generator), to: &writer)
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.removeSubrange(index..<min(bytes.count, index + 3))
                default: bytes.insert(contentsOf: bytes[..<min(5, bytes.count)], at: index)
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            if let record = try? SampleLine.read(bytes) {
                var again = JSONWriter()
                SampleLine.write(record, to: &again)
                #expect((try? JSONReader.read(again.bytes.dropLast() + [])) != nil)
            }
        }
    }
}
