internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentProbe
internal import InstrumentTerminal
internal import InstrumentText

/// One playback of a comparison.
struct AdaptationRow {
    let trace: String
    let rule: String
    let result: AdaptationResult
    let score: Double

    init(trace: String, rule: String, _ result: AdaptationResult, _ ladder: BitrateLadder) {
        self.trace = trace
        self.rule = rule
        self.result = result
        score = QualityScore.balanced.score(of: result, lowest: ladder[0].peakBitrate)
    }

    var json: JSONValue {
        [
            "trace": .string(trace), "rule": .string(rule), "averageBitrate": .int(Self.whole(result.averageBitrate)),
            "startTime": .double(Self.seconds(result.startTime ?? result.totalTime)),
            "stalls": .int(result.stalls.count),
            "rebufferingTime": .double(Self.seconds(result.rebufferingTime)), "switches": .int(result.switches),
            "abandonedDownloads": .int(result.abandonedDownloads), "wastedBytes": .int(Int(result.wastedBytes)),
            "totalTime": .double(Self.seconds(result.totalTime)), "score": .double((score * 1000).rounded() / 1000),
        ]
    }

    fileprivate static func seconds(_ duration: Duration) -> Double {
        Double(duration.milliseconds) / 1000
    }

    fileprivate static func whole(_ value: Double) -> Int { Int(exactly: value.rounded()) ?? 0 }
}

/// Playbacks as lines of aligned columns, and the mean of each rule over all traces.
struct AdaptationTable {
    private static let header = [
        "trace", "rule", "kbit/s", "start s", "stalls", "stall s", "changes", "given up", "score",
    ]
    let text: TerminalText

    init(_ rows: [AdaptationRow]) {
        var cells = rows.map { row in
            [row.trace, row.rule] + Self.figures(Self.values(of: row))
        }
        var rules: [String] = []
        for row in rows where !rules.contains(row.rule) { rules.append(row.rule) }
        if Set(rows.map(\.trace)).count > 1 {
            for rule in rules {
                let values = rows.filter { $0.rule == rule }.map(Self.values)
                let sums = values.reduce([0, 0, 0, 0, 0, 0, 0]) { zip($0, $1).map(+) }
                cells.append(["all", rule] + Self.figures(sums.map { $0 / Double(values.count) }))
            }
        }
        let table = [Self.header] + cells
        let texts = table.map { $0.map { TerminalText($0) } }
        text = ColumnTable(texts, rightColumns: Set(2..<Self.header.count)).lines.map { $0 + "\n" }.joined()
    }

    private static func values(of row: AdaptationRow) -> [Double] {
        let result = row.result
        return [
            result.averageBitrate / 1000, AdaptationRow.seconds(result.startTime ?? result.totalTime),
            Double(result.stalls.count), AdaptationRow.seconds(result.rebufferingTime), Double(result.switches),
            Double(result.abandonedDownloads), row.score,
        ]
    }

    private static func figures(_ values: [Double]) -> [String] {
        zip(values, [0, 2, 0, 1, 0, 0, 2]).map { $0.isFinite ? $0.fixed(digits: $1) : "-" }
    }
}
