/// A goal for what viewers experience over weeks, with an error budget: what the goal leaves for faults.
package struct Objective: Hashable, Sendable {
    /// What is measured.
    package enum Indicator: Hashable, Sendable {
        /// The share of starts that show a picture within this time; a start without a picture counts as too slow.
        case startWithin(Duration)
        /// The share of the watched time without stalls.
        case notStalled
        /// The share of the known time in which the stream shows a picture.
        case up
    }

    /// The unique name.
    package var name: String
    /// What is measured.
    package var indicator: Indicator
    /// The share that must be good, above 0 and below 1.
    package var goal: Double
    /// Labels that a stream must have; `stream` and `host` are known, too. Empty for all streams.
    package var matchers: [String: String] = [:]
    /// The label, or `stream`, whose values have separate budgets; nil for one budget.
    package var groupBy: String?
    /// The days of the budget, 1 to 30.
    package var days = 30
    /// The names of the receivers of burn-rate alerts.
    package var receivers: [String] = []
    /// The objective's place in the configuration; nil for one that is not from a file.
    package var place: ConfigurationPlace?

    /// Creates an objective over all streams.
    package init(name: String, indicator: Indicator, goal: Double) {
        (self.name, self.indicator, self.goal) = (name, indicator, goal)
    }
}
