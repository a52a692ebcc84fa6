/// Always chooses the same rung.
public struct FixedRule: AdaptationRule {
    /// The choice.
    public enum Choice: Hashable, Sendable {
        /// The lowest allowed rung.
        case lowest
        /// The highest allowed rung.
        case highest
        /// The rung of this index, or the highest allowed rung below it.
        case rung(Int)
    }

    /// The choice.
    package var choice: Choice

    /// Creates a rule.
    public init(_ choice: Choice) { self.choice = choice }

    /// Returns the chosen rung.
    public mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let allowed = context.allowedRungs
        switch choice {
        case .lowest: return AdaptationDecision(rung: context.lowestAllowedRung)
        case .highest: return AdaptationDecision(rung: context.highestAllowedRung)
        case .rung(let index):
            return AdaptationDecision(rung: allowed.last { $0 <= index } ?? context.lowestAllowedRung)
        }
    }
}
