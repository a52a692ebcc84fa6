import Testing

@testable import InstrumentProbe

@Suite("Switch history of dash.js")
struct SwitchHistoryTests {
    private func limit(_ decisions: [(from: Int, to: Int)], allowed: [Int] = [0, 1, 2]) -> Int? {
        var history = SwitchHistory.dashJS
        for decision in decisions { history.record(from: decision.from, to: decision.to) }
        return history.limit(allowed: allowed)
    }

    @Test("Seven decisions are no reason for a limit")
    func few() { #expect(limit(Array(repeating: (2, 1), count: 7)) == nil) }

    @Test("A rung that was left once in eight decisions is no longer chosen")
    func drops() {
        // One drop for seven others is 14 %.
        #expect(limit(Array(repeating: (2, 2), count: 7) + [(2, 1)]) == 1)
        // Drops of lower rungs count first, and the rung below is the limit.
        #expect(limit(Array(repeating: (1, 1), count: 7) + [(1, 0)]) == 0)
        // The eighth decision began at rung 2, which was never left: rung 2 itself is the limit.
        #expect(limit([(1, 0)] + Array(repeating: (1, 1), count: 6) + [(2, 2)]) == 2)
    }

    @Test("Rises and decisions that change nothing set no limit, and the latest eight decisions count")
    func others() {
        #expect(limit(Array(repeating: (1, 2), count: 8)) == nil)
        #expect(limit([(2, 1)] + Array(repeating: (2, 2), count: 8)) == nil)
    }

    @Test("Drops alone are a reason, also of the lowest allowed rung")
    func dropsAlone() {
        #expect(limit(Array(repeating: (2, 0), count: 8)) == 1)
        #expect(limit(Array(repeating: (2, 0), count: 8), allowed: [2]) == 2)
    }

    @Test("A reset forgets all decisions")
    func reset() {
        var history = SwitchHistory.dashJS
        for _ in 0..<8 { history.record(from: 2, to: 1) }
        history.reset()
        #expect(history.limit(allowed: [0, 1, 2]) == nil)
    }
}
