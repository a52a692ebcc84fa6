internal import Instrument

/// Limits the rungs that a rule often had to leave: dash.js's switch history rule.
///
/// Counts the latest decisions. If the share of drops is too large among the decisions that began at one of the lowest
/// rungs, the highest of these rungs, or the one below it, is the limit.
package struct SwitchHistory: Hashable, Sendable {
    private struct Decision: Hashable {
        var rung: Int
        var isDrop: Bool
    }

    /// The number of decisions that count.
    package var sampleCount: Int
    /// The accepted number of drops for each decision that was no drop.
    package var acceptedDrops: Double
    private var decisions: [Decision] = []

    /// Creates an empty history of at least one decision.
    package init(sampleCount: Int, acceptedDrops: Double) {
        self.sampleCount = max(1, sampleCount)
        self.acceptedDrops = acceptedDrops
    }

    /// dash.js 5.1: 8 decisions and 7.5 % (src/core/Settings.js, `switchHistoryRule`).
    package static let dashJS = SwitchHistory(sampleCount: 8, acceptedDrops: 0.075)

    /// The highest rung that the history accepts; nil for no limit. dash.js,
    /// src/streaming/rules/abr/SwitchHistoryRule.js.
    ///
    /// - Parameter allowed: the rungs to choose from, the lowest first.
    package func limit(allowed: [Int]) -> Int? {
        var (drops, others) = (0, 0)
        for (index, rung) in allowed.enumerated() {
            let own = decisions.filter { $0.rung == rung }
            let ownDrops = own.count(where: \.isDrop)
            drops += ownDrops
            others += own.count - ownDrops
            // Without another decision, dash.js divides by zero: any drop is too many.
            let isTooMany = others == 0 ? drops > 0 : Double(drops) / Double(others) > acceptedDrops
            guard drops + others >= sampleCount, isTooMany else { continue }
            return index > 0 && ownDrops > 0 ? allowed[index - 1] : rung
        }
        return nil
    }

    /// Records a decision. dash.js, src/streaming/rules/SwitchRequestHistory.js.
    mutating func record(from rung: Int, to chosen: Int) {
        decisions.append(Decision(rung: rung, isDrop: chosen < rung))
        if decisions.count > sampleCount { decisions.removeFirst() }
    }

    /// Forgets all decisions.
    mutating func reset() { decisions = [] }
}
