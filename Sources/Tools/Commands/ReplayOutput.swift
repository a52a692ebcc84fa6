internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentQuality
internal import InstrumentReplay
internal import InstrumentTerminal
internal import InstrumentText

/// Prints the metrics of replayed sessions: each session when it ends, then a summary of all.
struct ReplayOutput {
    /// The largest number of sessions that the format `text` prints one by one.
    private static let mostSessions = 20

    let terminal: Terminal
    let dialects: [Dialect]
    let format: ReplayCommand.Format
    private var aggregates: [QualityAggregate]
    private var plays = ConcurrentPlays()
    private var count = 0
    private var healedCount = 0

    init(_ terminal: Terminal, dialects: [Dialect], format: ReplayCommand.Format) {
        (self.terminal, self.dialects, self.format) = (terminal, dialects, format)
        aggregates = dialects.map { QualityAggregate($0) }
    }

    /// Prints a session that has ended.
    mutating func add(_ session: QualitySession, title: String) throws {
        count += 1
        if !session.lostEvents.isEmpty { healedCount += 1 }
        for index in aggregates.indices { aggregates[index].add(session) }
        plays.add(session)
        switch format {
        case .text: if count <= Self.mostSessions { try printText(session, title: title) }
        case .json:
            try terminal.output(count == 1 ? "{\"sessions\":[\n" : ",\n")
            try terminal.output(TerminalText(json: json(session, title: title).bytes))
        case .ndjson:
            var line = json(session, title: title)
            line.set("type", "session")
            try terminal.output(json: line.bytes)
        }
    }

    /// Prints the summary.
    func finish(_ reader: ReplayReader) throws {
        switch format {
        case .text: try printSummary()
        case .json:
            if count == 0 { try terminal.output("{\"sessions\":[") }
            try terminal.output("\n],\"summary\":")
            try terminal.output(TerminalText(json: summary(reader).bytes))
            try terminal.output("}\n")
        case .ndjson:
            var line = summary(reader)
            line.set("type", "summary")
            try terminal.output(json: line.bytes)
        }
    }
}

// MARK: Text
extension ReplayOutput {
    private func printText(_ session: QualitySession, title: String) throws {
        let key = session.key
        let head: TerminalText = """
            \(title.isEmpty ? key.sender : title)  \(session.begin.wallTime.rfc3339)  \
            \(session.length) ms  \(session.state.rawValue)  \(session.playbackId ?? key.sender)
            """
        var rows: [[TerminalText]] = []
        if let lost = session.lostEventSummary { rows.append(["  healed", "missing events", "\(lost)"]) }
        for dialect in dialects {
            for reading in dialect.readings(of: session) {
                let metric = reading.metric
                rows.append(["  \(dialect.name)", "\(metric.name)", "\(reading.value.text(in: metric.unit))"])
            }
        }
        try terminal.output(([head] + ColumnTable(rows).lines).map { $0 + "\n" }.joined() + "\n")
    }

    private func printSummary() throws {
        if count > Self.mostSessions {
            try terminal.output("… \(count - Self.mostSessions) more sessions; --format ndjson prints all of them\n\n")
        }
        var rows: [[TerminalText]] = [["dialect", "metric", "sessions", "sum", "mean", "median", "95 %", "of all"]]
        for aggregate in aggregates {
            for metric in aggregate.dialect.metrics {
                guard let summary = aggregate.summary(of: metric) else { continue }
                rows.append(row(of: metric, summary, aggregate.dialect))
            }
        }
        let noun = count == 1 ? "session" : "sessions"
        var head: TerminalText = "\(count) \(noun), at most \(plays.peak) at the same time"
        if healedCount > 0 { head += ", \(healedCount) healed (events are missing)" }
        let lines = rows.count > 1 ? ColumnTable(rows, rightColumns: [2, 3, 4, 5, 6, 7]).lines : []
        try terminal.output(([head] + lines).map { $0 + "\n" }.joined())
    }

    private func row(of metric: QualityMetric, _ summary: MetricSummary, _ dialect: Dialect) -> [TerminalText] {
        let text = { (value: Double?) -> TerminalText in
            value.map { "\(QualityValue.text($0, metric.unit))" } ?? ""
        }
        if !summary.labels.isEmpty {
            return [
                "\(dialect.name)", "\(metric.name)", "",
                "\(QualityValue.labelled(summary.labels).text(in: metric.unit))",
            ]
        }
        return [
            "\(dialect.name)", "\(metric.name)", "\(summary.values.count)",
            metric.kind == .sum ? text(summary.total) : "", text(summary.mean), text(summary.quantile(0.5)),
            text(summary.quantile(0.95)), text(summary.pooled),
        ]
    }
}

// MARK: JSON
extension ReplayOutput {
    private func json(_ session: QualitySession, title: String) -> JSONValue {
        var metrics: [String: JSONValue] = [:]
        for dialect in dialects {
            let values = dialect.readings(of: session).map { ($0.metric.name, $0.value.json) }
            metrics[dialect.name] = .object(Dictionary(values) { _, last in last })
        }
        let times = SessionState.allCases.filter { session.times[$0] > 0 }.map {
            ($0.rawValue, JSONValue.int(session.times[$0]))
        }
        let lost = session.lostEvents.map { ($0.key.name, JSONValue.int($0.value)) }
        return [
            "lostEvents": .object(Dictionary(lost) { _, last in last }), "sender": .string(session.key.sender),
            "number": .int(session.key.number),
            "playbackId": session.playbackId.map { .string($0) } ?? .null, "title": .string(title),
            "begin": .int(Int(clamping: session.begin.wallTime.milliseconds)), "length": .int(session.length),
            "state": .string(session.state.rawValue), "weight": .int(session.weight),
            "times": .object(Dictionary(times) { _, last in last }), "metrics": .object(metrics),
        ]
    }

    private func summary(_ reader: ReplayReader) -> JSONValue {
        var metrics: [String: JSONValue] = [:]
        for aggregate in aggregates {
            let values = aggregate.summaries.map { ($0.key, json($0.value)) }
            metrics[aggregate.dialect.name] = .object(Dictionary(values) { _, last in last })
        }
        return [
            "count": .int(count), "peak": .int(plays.peak), "samples": .int(reader.sampleCount),
            "duplicates": .int(reader.duplicateCount), "skipped": .int(reader.problemCount),
            "reordered": .int(reader.reorderedCount), "missing": .int(reader.missingCount),
            "late": .int(reader.lateCount), "healed": .int(healedCount),
            "metrics": .object(metrics),
        ]
    }

    private func json(_ summary: MetricSummary) -> JSONValue {
        if !summary.labels.isEmpty { return ["labels": .object(summary.labels.mapValues { .int($0) })] }
        var json = summary.values.json(scale: summary.scale)
        json.set("sum", .double(summary.total))
        if let pooled = summary.pooled { json.set("pooled", .double(pooled)) }
        return json
    }
}

extension JSONValue {
    /// Sets a member of an object.
    fileprivate mutating func set(_ name: String, _ value: JSONValue) {
        guard case .object(var members) = self else { return }
        members[name] = value
        self = .object(members)
    }
}
