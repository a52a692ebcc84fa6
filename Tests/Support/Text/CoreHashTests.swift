import Foundation
import Instrument
import InstrumentTestKit
import Testing

@Suite("Hashes, markup and system errors of the core")
struct CoreHashTests {
    @Test(
        "FNV-1a matches the published values",
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325, 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D),
            ("a", 0xAF63_DC4C_8601_EC8C, 0xD228_CB69_6F1A_8CAF_7891_2B70_4E4A_8964),
            ("foobar", 0x8594_4171_F739_67E8, 0x343E_1662_793C_64BF_6F0D_3597_BA44_6F18),
        ] as [(String, UInt64, UInt128)]
    )
    func fnv(text: String, short: UInt64, long: UInt128) {
        #expect(FNV1a.hash64(text.utf8) == short)
        #expect(FNV1a.hash128(text.utf8) == long)
    }

    @Test("SplitMix64 gives the numbers of the reference implementation, and so does the seeded generator of tests")
    func splitMix() {
        var (generator, seeded) = (SplitMix64(seed: 1_234_567), SeededGenerator(seed: 1_234_567))
        let expected: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
        ]
        #expect(expected.map { _ in generator.next() } == expected)
        #expect(expected.map { _ in seeded.next() } == expected)
        #expect(SplitMix64.mixed(1_234_567) == expected[0])
    }

    @Test("Bytes in hexadecimal have two digits each")
    func hexadecimal() {
        #expect([UInt8]().hexadecimal() == "")
        #expect([0x00, 0x0A, 0xFF].hexadecimal() == "000aff")
        #expect(([0x00, 0x0A, 0xFF] as [UInt8])[1...].hexadecimal(uppercase: true) == "0AFF")
    }

    @Test(
        "Markup is escaped by Unicode scalars, so that a combining mark hides none",
        arguments: [
            ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"), ("<\u{301}script>", "&lt;\u{301}script&gt;"),
            ("&\u{200D}", "&amp;\u{200D}"), ("plain é 👍🏽", "plain é 👍🏽"), ("", ""),
        ]
    )
    func markup(text: String, expected: String) { #expect(Array(Markup.escaped(text).utf8) == Array(expected.utf8)) }

    @Test("A system error has the system's text, or its number where the system has none")
    func systemError() {
        #expect(SystemError(ENOENT).description == "No such file or directory")
        #expect(SystemError(123_456).description.contains("123456"))
    }
}
