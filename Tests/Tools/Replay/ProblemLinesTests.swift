import Testing

@testable import InstrumentReplay

@Suite("Problems of a reading")
struct ProblemLinesTests {
    private func problem(_ input: String, _ line: Int?, _ reason: String) -> ReplayProblem {
        ReplayProblem(input: input, line: line, reason: reason)
    }

    @Test("Each reason in an input gives one line, and its further lines a number at the end")
    func reasons() {
        var lines = ProblemLines()
        let shown = (1...1000).compactMap { lines.add(problem("a", $0, "not valid JSON")) }
        #expect(shown == ["a, line 1: not valid JSON"])
        #expect(lines.add(problem("a", 7, "torn")) == "a, line 7: torn")
        #expect(lines.add(problem("b", nil, "torn")) == "b: torn")
        #expect(lines.summary == ["a: 999 more with this problem: not valid JSON"])
    }

    @Test("The number of reasons is bounded")
    func bound() {
        var lines = ProblemLines()
        let shown = (1...100).compactMap { (line: Int) in lines.add(problem("a", line, "reason \(line)")) }
        #expect(shown.count == 5)
        #expect(lines.summary == ["95 more with other problems"])
    }
}
