/// Something that is wrong with a configuration.
package struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place of the problem.
    package var place: ConfigurationPlace
    /// The message: the text that was found, the expected text, and the remedy. Contains no secrets.
    package var message: String

    /// Creates a problem.
    package init(_ place: ConfigurationPlace, _ message: String) { (self.place, self.message) = (place, message) }

    /// `file:line:column: message`.
    package var description: String { "\(place): \(message)" }
}

/// All problems of a configuration.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// The number of problems that are kept.
    static let mostProblems = 1_000

    /// The problems in the order of files and lines; at least one.
    package internal(set) var problems: [ConfigurationProblem]
    /// How many further problems were left out.
    package internal(set) var omittedCount = 0

    /// The problems, one per line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
