/// The problems of a reading as lines: one for each reason in each input, however many lines of it have the problem.
package struct ProblemLines: Sendable {
    /// The largest number of reasons that are shown for each input, and of inputs.
    private static let mostReasons = 5
    private static let mostInputs = 100

    private struct Group: Hashable {
        let input: String
        let reason: String
    }

    private var groups: [Group] = []
    private var counts: [Group: Int] = [:]
    private var reasonCounts: [String: Int] = [:]
    private var other = 0

    package init() {}

    /// Counts a problem; returns its line if it is the first one of its reason in its input.
    package mutating func add(_ problem: ReplayProblem) -> String? {
        let group = Group(input: problem.input, reason: problem.reason)
        if let count = counts[group] {
            counts[group] = count + 1
            return nil
        }
        let known = reasonCounts[problem.input] ?? 0
        guard known < Self.mostReasons, reasonCounts[problem.input] != nil || reasonCounts.count < Self.mostInputs
        else {
            other += 1
            return nil
        }
        reasonCounts[problem.input] = known + 1
        groups.append(group)
        counts[group] = 1
        return problem.description
    }

    /// The numbers of further problems of each reason, at the end of the reading.
    package var summary: [String] {
        let lines = groups.compactMap { group -> String? in
            let more = (counts[group] ?? 1) - 1
            return more > 0 ? "\(group.input): \(more) more with this problem: \(group.reason)" : nil
        }
        return other > 0 ? lines + ["\(other) more with other problems"] : lines
    }
}
