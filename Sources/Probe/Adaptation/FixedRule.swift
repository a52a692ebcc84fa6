/// Always the same rung, whatever happens.
public struct FixedRule: AdaptationRule {
    /// Which one.
    public enum Choice: Hashable, Sendable {
        /// The lowest that is allowed.
        case lowest
        /// The highest that is allowed.
        case highest
        /// The rung of this index, or else the highest allowed below it.
        case rung(Int)
    }

    /// Which one.
    public var choice: Choice

    /// Creates a rule.
    public init(_ choice: Choice) { self.choice = choice }

    /// The rung.
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
