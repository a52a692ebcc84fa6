import CostMeasurement
import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentAds

@Suite("Macros")
struct MacroTests {
    @Test(
        "A macro becomes its value, percent-encoded; an unknown name stays",
        arguments: [
            ("https://a.test/?u=[ASSETURI]", "https://a.test/?u=https%3A%2F%2Fm.test%2Fa%20b%3Fx%3D1"),
            ("https://a.test/?u=%%ASSETURI%%&v=%%", "https://a.test/?u=https%3A%2F%2Fm.test%2Fa%20b%3Fx%3D1&v=%%"),
            ("https://a.test/?c=[ADCATEGORIES]", "https://a.test/?c=IAB1-6,a%2Cb"),
            ("https://a.test/?i=[IFA]", "https://a.test/?i=-2"),
            ("https://a.test/?x=[CONTENTID]", "https://a.test/?x=-1"),
            ("https://a.test/?x=[NOTAMACRO]&y=[lower]&z=[]", "https://a.test/?x=[NOTAMACRO]&y=[lower]&z=[]"),
            ("[[ADTYPE]]", "[audio]"), ("%20[ADTYPE]%%%", "%20audio%%%"), ("[REASON]", "[ADTYPE]"), ("", ""),
        ]
    )
    func expansion(template: String, expected: String) {
        let values = MacroValues([
            "ASSETURI": .text("https://m.test/a b?x=1"), "ADCATEGORIES": .list(["IAB1-6", "a,b"]), "IFA": .withheld,
            "ADTYPE": .text("audio"), "REASON": .text("[ADTYPE]"),
        ])
        let result = values.expand(template)
        // A value is encoded, and macros inside a value are not expanded.
        #expect(result == (template == "[REASON]" ? "%5BADTYPE%5D" : expected))
    }

    @Test("The macros of a call are the time with milliseconds and eight random digits")
    func perCall() {
        for seed in 0..<50 {
            let values = MacroValues.perCall(
                now: WallTime(milliseconds: 1_453_018_507_127),
                randomness: RandomSource(SeededGenerator(seed: UInt64(seed)))
            )
            #expect(values.expand("[TIMESTAMP]") == "2016-01-17T08%3A15%3A07.127Z")
            let digits = values.expand("[CACHEBUSTING]")
            #expect(digits.count == 8 && Int(digits) != nil, "\(digits)")
        }
    }

    @Test("Values that identify a person can be withheld")
    func privacy() {
        let values = MacroValues(["IFA": .text("1234"), "ADTYPE": .text("video"), "DEVICEIP": .text("10.0.0.1")])
        #expect(values.withoutPersonalValues.expand("[IFA],[DEVICEIP],[ADTYPE],[LATLONG]") == "-2,-2,video,-1")
    }

    @Test("Expansion costs time in proportion to the text", arguments: ["[", "%%", "[A", "[AAAAAAAA]", "%%A"])
    func cost(pattern: String) {
        let growth = CostGrowth.measure(from: 2_000, making: { String(repeating: pattern, count: $0) }) {
            _ = MacroValues().expand($0)
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
