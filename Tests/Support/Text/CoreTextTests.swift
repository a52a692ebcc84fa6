import CostMeasurement
import Foundation
import Instrument
import InstrumentTestKit
import Testing

/// Functions that the core shares with other targets: classes of bytes, percent-encoding and saturating arithmetic.
@Suite("Bytes and numbers of the core")
struct CoreTextTests {
    @Test("A byte belongs to the classes of its ASCII character")
    func classes() {
        for byte in UInt8.min...UInt8.max {
            let character = Character(Unicode.Scalar(byte))
            #expect(byte.isDigit == (character.isASCII && character.isNumber), "\(byte)")
            #expect(byte.isLetter == (character.isASCII && character.isLetter), "\(byte)")
            #expect(byte.hexDigitValue.map(Int.init) == (character.isASCII ? character.hexDigitValue : nil), "\(byte)")
            #expect(byte.isHexDigit == (character.isASCII && character.isHexDigit), "\(byte)")
            #expect(byte.isWhitespace == [" ", "\t", "\n", "\r"].contains(Unicode.Scalar(byte)), "\(byte)")
        }
    }

    @Test("Percent-encoding escapes every byte that is neither unreserved nor kept")
    func encoding() {
        #expect(PercentCoding.encoded("a-Z_0.~ /é%\u{0}") == "a-Z_0.~%20%2F%C3%A9%25%00")
        #expect(PercentCoding.encoded("/a b%20?", keeping: "/%?") == "/a%20b%20?")
        #expect(PercentCoding.encoded("") == "")
    }

    @Test("Percent-encoding agrees with Foundation and decodes to the text", arguments: UInt64(1)...50)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
        let text = String(decoding: bytes, as: UTF8.self)
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
        )
        let encoded = PercentCoding.encoded(text)
        #expect(encoded == text.addingPercentEncoding(withAllowedCharacters: unreserved))
        #expect(PercentCoding.decoded(encoded) == Array(text.utf8))
        #expect(
            PercentCoding.strictlyDecoded(encoded.lowercased()) == Array(text.lowercased().utf8)
                || text != text.lowercased()
        )
    }

    @Test(
        "A `%` without two hexadecimal digits stays, and is refused by the strict decoder",
        arguments: ["%", "a%", "%4", "%4g", "%+4", "% 1", "%%", "%é"]
    )
    func broken(text: String) {
        #expect(PercentCoding.decoded(text) == Array(text.utf8))
        #expect(PercentCoding.strictlyDecoded(text) == nil)
    }

    @Test("An escape behind a broken one is decoded")
    func mixed() { #expect(PercentCoding.decoded("%4%41%%42%") == Array("%4A%B%".utf8)) }

    @Test("Percent-encoding and decoding cost time in proportion to the text", arguments: ["%41", "%", "%4", "é", "a"])
    func cost(piece: String) {
        let growth = CostGrowth.measure(from: 3_000, making: { String(repeating: piece, count: $0) }) {
            _ = (
                PercentCoding.encoded($0, keeping: ":/?"), PercentCoding.decoded($0), PercentCoding.strictlyDecoded($0)
            )
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("Saturating arithmetic agrees with exact arithmetic, clamped to the range")
    func saturating() {
        for left in Int8.min...Int8.max {
            for right in Int8.min...Int8.max {
                let (wideLeft, wideRight) = (Int(left), Int(right))
                let isRight =
                    left.saturatingAdd(right) == Int8(clamping: wideLeft + wideRight)
                    && left.saturatingSubtract(right) == Int8(clamping: wideLeft - wideRight)
                    && left.saturatingMultiply(right) == Int8(clamping: wideLeft * wideRight)
                if !isRight { Issue.record("\(left) and \(right)") }
            }
        }
    }

    @Test("Saturating arithmetic of unsigned numbers stops at zero and at the maximum")
    func unsigned() {
        #expect(UInt8(200).saturatingAdd(100) == 255 && UInt8(1).saturatingSubtract(2) == 0)
        #expect(UInt8(16).saturatingMultiply(16) == 255)
    }
}
