import ArgumentParser
import InstrumentCommandLine
import Testing

@Suite("Durations of options")
struct DurationOptionTests {
    @Test(
        "An option is a duration with a unit, or a number of seconds",
        arguments: [
            ("500ms", 0.5), ("30s", 30), ("1.5m", 90), ("2h", 7_200), ("7d", 604_800), ("30", 30), ("0.25", 0.25),
        ]
            as [(String, Double)]
    )
    func durations(text: String, seconds: Double) {
        #expect(DurationOption(argument: text)?.duration == .seconds(seconds))
    }

    @Test("Another text is refused", arguments: ["", "s", "-1", "1e3", "1 s", "1w", "inf", "1000000000", "1.2.3"])
    func refused(text: String) { #expect(DurationOption(argument: text) == nil) }

    @Test("A time outside of its range is refused with the range")
    func range() {
        #expect(throws: Never.self) { try DurationOption(.seconds(1)).validate("--x", in: .zero ... .seconds(1)) }
        let error = #expect(throws: ValidationError.self) {
            try DurationOption(.seconds(2)).validate("--x", in: .milliseconds(500) ... .seconds(1))
        }
        #expect(error?.message == "--x must be between 0.5s and 1s (found 2s)")
    }

    @Test("The default value is shown in seconds")
    func shown() {
        #expect(DurationOption(.seconds(30)).defaultValueDescription == "30s")
        #expect(DurationOption(.milliseconds(1_500)).defaultValueDescription == "1.5s")
    }
}
