internal import ArgumentParser
internal import Instrument
internal import InstrumentWatch

/// What every sample of a run carries: labels and the location.
struct SampleLabels: ParsableArguments {
    /// A label as `NAME=VALUE`.
    struct Label: Hashable, Sendable {
        let name: String
        let value: String

        /// Reads `NAME=VALUE`, for the `transform` of an option.
        @Sendable static func read(_ argument: String) throws -> Label {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = parts.first, let value = parts.dropFirst().first, !value.isEmpty else {
                throw ValidationError("--label must be NAME=VALUE such as cdn=alpha (found '\(argument)')")
            }
            if let problem = LabelRules.problem(withName: name) ?? LabelRules.problem(withValue: value, of: name) {
                throw ValidationError("--label: \(problem)")
            }
            return Label(name: name, value: value)
        }
    }

    @Option(
        name: .customLong("label"),
        help: ArgumentHelp(
            "Label that every sample carries, such as cdn=alpha. May be repeated.",
            valueName: "name=value"
        ),
        transform: Label.read
    )
    var labels: [Label] = []

    @Option(
        help: ArgumentHelp("Location that every sample carries.", valueName: "name"),
        transform: Self.location
    )
    var location: String?

    func validate() throws {
        guard labels.count <= LabelRules.mostLabels else {
            throw ValidationError("at most \(LabelRules.mostLabels) labels are possible (found \(labels.count))")
        }
        let names = Dictionary(grouping: labels, by: \.name)
        if let twice = names.filter({ $0.value.count > 1 }).keys.min() {
            throw ValidationError("--label \(twice) must be given only once (found it more than once)")
        }
    }

    /// Reads a location, for the `transform` of an option.
    @Sendable static func location(_ argument: String) throws -> String {
        if argument.isEmpty { throw ValidationError("--location must not be empty; give a name such as oslo") }
        if let problem = LabelRules.problem(withValue: argument, of: "--location") { throw ValidationError(problem) }
        return argument
    }

    /// Adds labels and location to all events of an instrument from now on.
    func apply(to instrument: Instrument) {
        instrument.set(.monitorLocation, to: location)
        let values = Dictionary(labels.map { ($0.name, $0.value) }) { first, _ in first }
        if !values.isEmpty { instrument.set(.monitorLabels, to: values) }
    }
}
