internal import InstrumentBackendKinds

extension BackendKinds {
    /// The kinds that the running command line offers: ``BackendKind/standard``, and those that a tool adds.
    ///
    /// Options are declared in types, which the parser creates, so that no value can reach them as an argument.
    @TaskLocal static var current = BackendKinds(BackendKind.standard)
}

extension BackendKind {
    /// The kinds of `player-monitor`, in the order of the help.
    static let standard: [BackendKind] = [
        .console, .json, .file, .clickstream, .sift, .xapi, .seer, .influx, .graphite, .newRelic, .cmcd, .otlp, .kafka,
        .nats,
    ]
}
