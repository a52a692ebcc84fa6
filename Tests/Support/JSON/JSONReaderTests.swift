import Foundation
import InstrumentTestKit
import Testing

@testable import InstrumentJSON

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

    @Test("The reader agrees with Foundation on valid JSON", arguments: valid)
    func accepts(text: String) throws {
        _ = try JSONReader.read(Array(text.utf8))
        #expect(throws: Never.self) {
            try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
    }

    @Test("Invalid JSON is refused", arguments: invalid)
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        if Self.lenient.contains(text) { return }
        #expect(throws: (any Error).self) {
            try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
    }

    @Test("Integers stay integers, and an integer beyond 64 bits becomes a floating-point number")
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
}

@Suite("JSON reader's short cuts")
struct JSONShortCutTests {
    private static let pieces: [[UInt8]] = [
        Array("a".utf8), Array("plain text".utf8), Array("é".utf8), Array("映画".utf8), Array("😀".utf8), [0x7F], [0x1F],
        [0],
        [0x0A], Array("\\n".utf8), Array("\\u00e9".utf8), Array("\\ud83d\\ude00".utf8), Array("\\x".utf8), [0x22],
        [0xC3],
        [0x80], [0xFF], [0xED, 0xA0, 0x80], Array("12345678".utf8), Array("\\".utf8),
    ]

    /// The result of a text that begins with an escape, which no short cut reads.
    private func slow(_ text: [UInt8]) -> Result<String, JSONError> {
        do throws(JSONError) {
            let read = try JSONReader.read(Array("\"\\u0041".utf8) + text + [0x22])
            return .success(String((read.string ?? "").unicodeScalars.dropFirst()))
        } catch { return .failure(JSONError(code: error.code, message: error.message, offset: error.offset - 6)) }
    }

    private func fast(_ text: [UInt8]) -> Result<String, JSONError> {
        do throws(JSONError) { return .success(try JSONReader.read([0x22] + text + [0x22]).string ?? "") } catch {
            return .failure(error)
        }
    }

    @Test("A string without escapes has the value, or the error, of one that is read byte by byte", arguments: 1...20)
    func strings(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                let isRare = Int.random(in: 0..<4, using: &generator) == 0
                text += (isRare ? Self.pieces.randomElement(using: &generator) : Self.pieces[1]) ?? []
            }
            let (fast, slow) = (fast(text), slow(text))
            #expect(fast == slow, "\(text)")
        }
    }

    @Test("An integer is the one that the standard library reads", arguments: 1...5)
    func integers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let digits = Int.random(in: 1...21, using: &generator)
            let text = (0..<digits).map { _ in String(Int.random(in: 1...9, using: &generator)) }.joined()
            for text in [text, "-" + text] {
                let expected = Int(text).map { JSONValue.int($0) } ?? .double(Double(text) ?? .nan)
                #expect(try JSONReader.read(Array(text.utf8)) == expected)
            }
        }
        #expect(try JSONReader.read(Array("-0".utf8)) == .int(0))
    }

    @Test(
        "The reader notes two members of one name, at any depth and in any spelling",
        arguments: [
            (#"{"a":1,"b":1}"#, false), (#"{"a":1,"a":1}"#, true), (#"{"a":{"a":1}}"#, false),
            (#"[{"b":[{"a":1,"\u0061":null}]}]"#, true), (#"{"é":1,"e\u0301":2}"#, true), (#"[1,1]"#, false),
        ]
    )
    func repeatedNames(text: String, expected: Bool) throws {
        var found = !expected
        _ = try JSONReader.read(Array(text.utf8), hasRepeatedNames: &found)
        #expect(found == expected)
    }
}

@Suite("JSON value")
struct JSONValueTests {
    @Test("A written value is read back equal, and equal values give equal bytes")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let value = Self.random(depth: 4, &generator)
            let read = try JSONValue(parsing: value.bytes)
            #expect(read == value)
            #expect(read.bytes == value.bytes)
        }
    }

    @Test("Equal objects are written as equal bytes when their names are in different normal forms")
    func equalBytes() {
        for names in AwkwardNames.sets {
            // A dictionary's own order depends on its capacity and its address, which differ in each of these.
            let written = (0..<8).map { round in
                var members = [String: JSONValue](minimumCapacity: names.count << round)
                for name in names { members[name] = 1 }
                return JSONValue.object(members).bytes
            }
            #expect(Set(written).count == 1, "\(names.map { Array($0.utf8) })")
        }
    }

    @Test("A number that is not finite becomes null, and members are sorted by name")
    func writing() {
        let value: JSONValue = ["b": .double(.nan), "a": [1, 1.0, true, nil], "c": "é\n\u{1}\"\\"]
        #expect(value.description == #"{"a":[1,1.0,true,null],"b":null,"c":"é\n\u0001\"\\"}"#)
        #expect(JSONValue.double(-.infinity).description == "null")
    }

    private static func random(depth: Int, _ generator: inout SeededGenerator) -> JSONValue {
        let texts = ["", "a", "\u{0}", "\u{1F600}", "\"", "\\", "\u{2028}", "e\u{301}"]
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
        case 0: return nil
        case 1: return .bool(.random(using: &generator))
        case 2: return .int([.min, .max, 0, -1, 17].randomElement(using: &generator) ?? 0)
        case 3: return .double([-0.0, 1e300, .leastNormalMagnitude, 0.1, 1].randomElement(using: &generator) ?? 0)
        case 4: return .string(texts.randomElement(using: &generator) ?? "")
        case 5: return .array((0..<3).map { _ in random(depth: depth - 1, &generator) })
        default:
            let members = texts.shuffled(using: &generator).prefix(3)
            return .object(Dictionary(members.map { ($0, random(depth: depth - 1, &generator)) }) { first, _ in first })
        }
    }
}
