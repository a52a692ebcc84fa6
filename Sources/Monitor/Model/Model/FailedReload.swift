internal import InstrumentJSON
package import InstrumentWatch

/// Why a new configuration is not used.
package struct FailedReload: Hashable, Sendable {
    /// The problems that are kept: a page shows the first ones.
    private static let mostProblems = 5

    /// The first problems.
    package let problems: [ConfigurationProblem]
    /// The number of problems, at least one.
    package let count: Int
    /// What is wrong, where no place in a file is.
    package let reason: String?

    /// Creates the failure of a configuration with problems.
    package init(_ error: ConfigurationError) {
        problems = Array(error.problems.prefix(Self.mostProblems))
        (count, reason) = (error.problems.count + error.omittedCount, nil)
    }

    /// Creates the failure of a configuration that is well formed, and cannot be used.
    package init(reason: String) { (problems, count, self.reason) = ([], 1, reason) }

    /// The problems for the page.
    var json: JSONValue {
        .array(
            problems.map { problem in
                [
                    "file": .string(problem.place.file), "line": .int(problem.place.line),
                    "column": .int(problem.place.column), "message": .string(problem.message),
                ]
            } + (reason.map { [["message": .string($0)]] } ?? [])
        )
    }
}
