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

/// How often the configuration was reloaded, and why the latest one is not used.
struct ReloadRecord: Sendable {
    /// Reloads of the configuration.
    private(set) var count = 0
    private(set) var failedCount = 0
    /// Why the latest configuration is not used; nil if it is.
    private(set) var failure: FailedReload?

    mutating func note() { (count, failure) = (count + 1, nil) }
    mutating func note(_ failure: FailedReload) { (failedCount, self.failure) = (failedCount + 1, failure) }
}
