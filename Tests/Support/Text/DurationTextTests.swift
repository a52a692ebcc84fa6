import InstrumentText
import Testing

@Suite("Durations and decimals as text")
struct DurationTextTests {
    @Test(
        "A duration is a decimal number and a unit",
        arguments: [
            ("500ms", 0.5), ("30s", 30), ("1.5m", 90), ("2h", 7_200), ("7d", 604_800), ("0s", 0), ("1.s", 1),
        ] as [(String, Double)]
    )
    func durations(text: String, seconds: Double) {
        #expect(DurationText.seconds(text) == seconds)
        #expect(DurationText.duration(text) == .seconds(seconds))
    }

    @Test(
        "Another text is no duration",
        arguments: [
            "", "5", "s", "ms", ".5s", "-1s", "+1s", "1e3s", "1 s", "1S", "1.2.3s", "infs", "nans", "0x1s", "１s",
            "12000d",
            "123456789012345678901s",
        ]
    )
    func noDurations(text: String) { #expect(DurationText.seconds(text) == nil) }

    @Test(
        "A number has a fixed count of digits behind the point, rounded half away from zero",
        arguments: [
            (0, 0, "0"), (0.5, 0, "1"), (-0.5, 0, "-1"), (1.005, 1, "1.0"), (12.3456, 3, "12.346"), (-0.04, 1, "0.0"),
            (-0.05, 1, "-0.1"), (1e300, 2, "1e+300"), (.infinity, 1, "inf"), (.nan, 1, "nan"), (999.999, 2, "1000.00"),
        ] as [(Double, Int, String)]
    )
    func fixed(number: Double, digits: Int, expected: String) { #expect(number.fixed(digits: digits) == expected) }

    @Test(
        "A count of thousandths is a decimal with three places, below zero as well",
        arguments: [
            (0, "0.000"), (5, "0.005"), (-5, "-0.005"), (12_345, "12.345"), (-1_500, "-1.500"),
            (.min, "-9223372036854775.808"),
        ]
    )
    func thousandths(number: Int, expected: String) { #expect(number.decimal(places: 3) == expected) }

    @Test(
        "Base64 has padding",
        arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
    )
    func base64(text: String, expected: String) { #expect(Base64.encode(Array(text.utf8)) == expected) }

    @Test("Base64 is equal after a round trip, and other text is refused", arguments: 0..<40)
    func base64(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        #expect(Base64.decode("a=b=") == nil && Base64.decode("abc") == nil && Base64.decode("ab!=") == nil)
    }

    @Test(
        "An excerpt has at most its number of bytes, and marks a cut",
        arguments: [
            ("", 5, ""), ("abcde", 5, "abcde"), ("abcdef", 5, "ab…"), ("ééé", 5, "é…"), ("ééé", 6, "ééé"),
            ("abcdef", 3, "…"),
        ]
    )
    func excerpt(text: String, count: Int, expected: String) {
        #expect(text.excerpt(toBytes: count) == expected)
        #expect(text.excerpt(toBytes: count).utf8.count <= count)
    }

    @Test("An excerpt of one character with a million combining marks is short")
    func endlessCharacter() {
        let text = "a" + String(repeating: "\u{301}", count: 1_000_000)
        #expect(text.count == 1)
        #expect(text.excerpt().utf8.count <= 80)
        #expect(text.dropFirst(0).excerpt().hasSuffix("…"))
    }
}
