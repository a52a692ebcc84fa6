import CostMeasurement
import InstrumentTestKit
import Testing

@testable import InstrumentText

@Suite("Text cursor")
struct TextCursorTests {
    @Test("A cursor takes what comes next and leaves everything else")
    func taking() {
        var cursor = TextCursor("2026-11,T5")
        #expect(cursor.number(digits: 5) == nil)
        #expect(cursor.number(digits: 4) == 2026)
        #expect(!cursor.take(":") && !cursor.take("é") && cursor.take("-"))
        #expect(cursor.digits().map(TextCursor.number) == 11)
        #expect(cursor.digits() == nil && cursor.fraction(places: 3) == nil)
        #expect(cursor.take(anyOf: ".,") == "," && cursor.take(anyOf: "tT") == "T" && !cursor.isAtEnd)
        #expect(cursor.fraction(places: 3) == 500 && cursor.isAtEnd)
        #expect(!cursor.take("5") && cursor.number(digits: 1) == nil && cursor.take(anyOf: "5") == nil)
    }

    @Test(
        "A fraction is cut off after its last place",
        arguments: [("1", 100), ("123", 123), ("1239", 123), ("0009", 0)]
    )
    func fraction(text: String, value: Int) {
        var cursor = TextCursor(text + "Z")
        #expect(cursor.fraction(places: 3) == value)
        #expect(cursor.take("Z") && cursor.isAtEnd)
    }

    @Test(
        "A date is refused when it is not `YYYY-MM-DD` or names no month or day",
        arguments: [
            "", "2026-11", "2026-11-2", "2026-13-01", "2026-00-01", "2026-01-00", "2026-01-32", "20é6-11-21",
            "+026-11-21",
        ]
    )
    func badDates(text: String) {
        var cursor = TextCursor(text)
        #expect(cursor.date() == nil)
    }

    @Test("A number of more digits than an integer holds keeps its first eighteen")
    func longNumber() {
        var cursor = TextCursor(String(repeating: "9", count: 40))
        #expect(cursor.digits().map(TextCursor.number) == 999_999_999_999_999_999)
    }

    @Test("A cursor traps on no text", arguments: UInt64(1)...100)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<30).map { _ in UInt8.random(in: 0x2A...0x3C, using: &random) }
        var cursor = TextCursor(String(decoding: bytes, as: UTF8.self))
        for _ in 0..<60 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: _ = cursor.date()
            case 1: _ = cursor.fraction(places: Int.random(in: 0...9, using: &random))
            case 2: _ = cursor.number(digits: Int.random(in: 0...18, using: &random))
            case 3: _ = cursor.take(anyOf: ":+-.,/;<")
            default: _ = cursor.digits()
            }
        }
    }

    @Test("Reading costs time in proportion to the length of the text", arguments: ["1", "1:", ":"])
    func cost(piece: String) {
        let growth = CostGrowth.measure(from: 4_000, making: { String(repeating: piece, count: $0) }) { text in
            var cursor = TextCursor(text)
            while !cursor.isAtEnd { if cursor.number(digits: 1) == nil { _ = cursor.take(anyOf: ".:") } }
            cursor = TextCursor(text)
            _ = cursor.fraction(places: 3)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test(
        "Digits are padded with zeros in front",
        arguments: [(7, 3, "007"), (1234, 3, "1234"), (0, 1, "0"), (-7, 4, "00-7")]
    )
    func padding(number: Int, width: Int, text: String) { #expect(number.padded(width) == text) }

    @Test("Hexadecimal digits are padded in the case that is asked for")
    func hexadecimal() {
        #expect(UInt8(10).padded(2, radix: 16) == "0a" && UInt8(255).padded(2, radix: 16, uppercase: true) == "FF")
        #expect(UInt128(0xAB).padded(32, radix: 16, uppercase: true) == String(repeating: "0", count: 30) + "AB")
    }

    @Test(
        "White space is trimmed at both ends and nowhere else",
        arguments: [
            ("", ""), (" \t", ""), ("  a b\t", "a b"), ("é ", "é"), (" \u{301}", "\u{301}"), ("\na\r", "\na\r"),
        ]
    )
    func trimming(text: String, trimmed: String) {
        #expect(text.trimmingSpaces == trimmed)
        #expect("\r\n\(text)\n".trimmingWhitespace == trimmed.trimmingWhitespace)
    }

    @Test("Trimming costs time in proportion to the length of the text", arguments: [" ", "\u{1F1E6}", "a\u{301}"])
    func trimmingCost(piece: String) {
        let growth = CostGrowth.measure(from: 4_000, making: { String(repeating: piece, count: $0) + " " }) {
            _ = $0.trimmingSpaces
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
