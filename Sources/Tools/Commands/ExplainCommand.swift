internal import ArgumentParser
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentQuality
internal import InstrumentTerminal
internal import InstrumentText

/// `player-monitor explain`: prints definitions of metrics, side by side over the dialects.
struct ExplainCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Print a metric's definitions in every dialect, with the reason of each difference.",
        discussion: """
            Without a metric, the command lists the metrics of every dialect. Names of any dialect are known; case does not matter.

            Examples:
              player-monitor explain
              player-monitor explain RebufferRatio
            """
    )

    @Argument(help: "Name of a metric, for example RebufferRatio.")
    var metric: String?

    @Option(help: "Output format: 'text', or 'json' for one object per dialect and metric, one per line.")
    var format = Format.text

    /// A metric in its dialect.
    private struct Definition {
        let dialect: Dialect
        let metric: QualityMetric
        /// The name of the metric of the dialect `instrument` with the same meaning, else the metric's name.
        var meaning: String { metric.counterpart ?? metric.name }
    }

    func run() throws {
        let all = Dialect.all.flatMap { dialect in dialect.metrics.map { Definition(dialect: dialect, metric: $0) } }
        let terminal = Terminal(isQuiet: true)
        let chosen = try metric.map { try definitions(of: $0, among: all) } ?? all
        if format == .json {
            for definition in chosen { try terminal.output(json: json(definition).bytes) }
        } else if metric == nil {
            try terminal.output(list(all).map { $0 + "\n" }.joined())
        } else {
            try terminal.output(text(chosen).map { $0 + "\n" }.joined())
        }
    }

    private func definitions(of name: String, among all: [Definition]) throws -> [Definition] {
        let meanings = Set(all.filter { $0.metric.name.lowercased() == name.lowercased() }.map(\.meaning))
        if meanings.isEmpty {
            let known = Set(all.map(\.metric.name)).sorted()
            let similar = Suggestion.words(like: name, in: known, tolerance: 2, findsParts: true, limit: 5)
            let advice =
                similar.isEmpty
                ? "'player-monitor explain' lists all metrics" : "did you mean \(similar.joined(separator: " or "))?"
            throw ValidationError("no dialect has a metric '\(name)'; \(advice)")
        }
        return all.filter { meanings.contains($0.meaning) }
    }

    private func list(_ all: [Definition]) -> [TerminalText] {
        let rows = all.map { definition -> [TerminalText] in
            let metric = definition.metric
            return [
                "\(metric.name)", "\(definition.dialect.name)", "\(metric.unit)", "\(metric.kind.rawValue)",
                "\(metric.counterpart ?? "")", "\(metric.definition)",
            ]
        }
        return ColumnTable([["METRIC", "DIALECT", "UNIT", "KIND", "SAME MEANING AS", "DEFINITION"]] + rows).lines
    }

    private func text(_ chosen: [Definition]) -> [TerminalText] {
        var lines: [TerminalText] = []
        for dialect in Dialect.all {
            let own = chosen.filter { $0.dialect.name == dialect.name }
            if own.isEmpty { lines.append("\(dialect.name): no metric of this meaning") }
            for definition in own {
                let metric = definition.metric
                let unit = metric.unit.description.isEmpty ? "" : ", in \(metric.unit)"
                lines.append(
                    "\(dialect.name), version \(dialect.version): \(metric.name)\(unit), \(metric.kind.rawValue)"
                )
                lines.append("  definition  \(metric.definition)")
                if let difference = metric.difference { lines.append("  difference  \(difference)") }
                lines.append("  source      \(metric.source)")
            }
        }
        return lines
    }

    private func json(_ definition: Definition) -> JSONValue {
        let metric = definition.metric
        return [
            "dialect": .string(definition.dialect.name), "version": .int(definition.dialect.version),
            "metric": .string(metric.name),
            "unit": .string(metric.unit.description), "kind": .string(metric.kind.rawValue),
            "definition": .string(metric.definition), "source": .string(metric.source),
            "difference": metric.difference.map { .string($0) } ?? .null,
            "counterpart": metric.counterpart.map { .string($0) } ?? .null,
        ]
    }
}
