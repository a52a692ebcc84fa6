internal import Instrument
internal import InstrumentPageDesign
internal import InstrumentQuality
package import InstrumentTerminal
internal import InstrumentText

/// A report for a terminal: figures, failures, groups, distributions as bars, comparison, ads, and the sessions most
/// worth a look.
package struct ReportText {
    /// The largest number of sessions that are listed.
    private static let mostSessions = 20
    private static let barWidth = 40
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The lines, without line feeds.
    package let lines: [TerminalText]

    /// Creates the text of a set, with a comparison if there is another set.
    package init(_ set: SessionSet, comparison: Comparison? = nil) {
        var lines = Self.figures(of: set) + Self.failures(of: set) + Self.groups(of: set)
        for measure in Measure.charted { lines += Self.distribution(of: measure, set, comparison?.other) }
        if let comparison { lines += Self.comparison(comparison) }
        lines += Self.ads(of: set) + Self.sessions(of: set)
        self.lines = lines + ["", "Made by Instrument \(InstrumentVersion.current)."]
    }

    private static func figures(of set: SessionSet) -> [TerminalText] {
        var head: TerminalText = "\(Decimal.count(set.count, "session"))"
        if let span = set.span { head += " from \(minutes(span.lowerBound)) to \(minutes(span.upperBound))" }
        let rows = SummarySection.figures(of: set).dropFirst().map { figure -> [TerminalText] in
            ["  \(figure.title)", "\(figure.value)", "(\(figure.note))"]
        }
        let notes = SummarySection.notes(of: set).map { "  \($0)" as TerminalText }
        return [head] + notes + ColumnTable(rows, rightColumns: [1]).lines
    }

    private static func minutes(_ milliseconds: Int64) -> String {
        PageDesign.minutes(WallTime(milliseconds: milliseconds))
    }

    private static func distribution(of measure: Measure, _ set: SessionSet, _ other: SessionSet?) -> [TerminalText] {
        let histogram = Histogram(measure, set.values[measure.position], other?.values[measure.position] ?? [])
        guard !histogram.bins.isEmpty else { return ["", "\(measure.title): no session has a value"] }
        let most = histogram.bins.map { histogram.shares(of: $0).this }.max() ?? 1
        let rows = histogram.bins.map { bin -> [TerminalText] in
            let shares = histogram.shares(of: bin)
            var row: [TerminalText] = [
                "  \(histogram.label(of: bin))", "\(bar(shares.this / max(most, 0.001)))", "\(bin.count)",
                "\((100 * shares.this).fixed(digits: 1)) %",
            ]
            if other != nil { row.append("other set \((100 * shares.other).fixed(digits: 1)) %") }
            return row
        }
        return ["", "\(measure.title)"] + ColumnTable(rows, rightColumns: [0, 2, 3, 4]).lines
    }

    /// A bar of blocks, in steps of an eighth of a column.
    private static func bar(_ share: Double) -> String {
        let steps = Int((min(1, max(0, share)) * Double(barWidth * 8)).rounded())
        let text = String(repeating: "█", count: steps / 8) + eighths[steps % 8]
        return text + String(repeating: " ", count: max(0, barWidth - text.count))
    }

    private static func comparison(_ comparison: Comparison) -> [TerminalText] {
        let head: [TerminalText] = ["  quantity", "this set", "other set", "difference", "result", "test"]
        let rows = comparison.rows.map { row -> [TerminalText] in
            [
                "  \(row.title)", "\(row.this)", "\(row.other)", "\(row.difference)", "\(row.verdict)",
                "\(row.method)",
            ]
        }
        let inputs = comparison.other.inputs.joined(separator: ", ")
        return ["", "Comparison with \(inputs): \(Decimal.count(comparison.other.count, "session"))"]
            + ColumnTable([head] + rows, rightColumns: [1, 2, 3]).lines + methods
    }

    /// A line for each sentence.
    private static var methods: [TerminalText] {
        Comparison.methods.split(separator: ". ").map { "  \($0)\($0.hasSuffix(".") ? "" : ".")" }
    }

    private static func failures(of set: SessionSet) -> [TerminalText] {
        let causes = set.sortedCauses
        if causes.isEmpty { return ["", "No session failed."] }
        let rows = causes.map { cause, count -> [TerminalText] in
            [
                "  \(count)", "\(Decimal.percent(count, of: set.estimated.sessions))",
                cause.hasStarted ? "during playback" : "before the start", "\(cause.code ?? "–")",
                "\(cause.status.map(String.init) ?? "–")", "\(cause.description)",
            ]
        }
        return ["", "Failures by cause"] + ColumnTable(rows, rightColumns: [0, 1]).lines
    }

    private static func groups(of set: SessionSet) -> [TerminalText] {
        let dimensions = set.groups.dimensions.map(\.name)
        if dimensions.isEmpty { return [] }
        let head = indented(dimensions) + GroupSection.columns.map { "\($0.lowercased())" as TerminalText }
        let rows = set.groups.sorted.map { group -> [TerminalText] in
            let names = indented(GroupSection.names(of: group, count: dimensions.count))
            return names + GroupSection.cells(of: group).map { "\($0)" as TerminalText }
        }
        let right = Set(dimensions.count..<dimensions.count + GroupSection.columns.count)
        return ["", "Sessions by \(dimensions.joined(separator: ", "))"]
            + ColumnTable([head] + rows, rightColumns: right).lines
    }

    /// Cells of which the first one is indented.
    private static func indented(_ cells: [String]) -> [TerminalText] {
        cells.enumerated().map { index, cell -> TerminalText in index == 0 ? "  \(cell)" : "\(cell)" }
    }

    private static func ads(of set: SessionSet) -> [TerminalText] {
        let rows = AdSection.figures(of: set.ads).map { figure -> [TerminalText] in
            ["  \(figure.title)", "\(figure.value)", "(\(figure.note))"]
        }
        return rows.isEmpty ? [] : ["", "Ads"] + ColumnTable(rows, rightColumns: [1]).lines
    }

    private static func sessions(of set: SessionSet) -> [TerminalText] {
        let worst = set.listed.sorted { $1.urgency < $0.urgency }.prefix(mostSessions)
        if worst.isEmpty { return [] }
        let head: [TerminalText] = ["  start", "stalls", "stalled", "ratio", "played", "bitrate", "outcome", "title"]
        let rows = worst.map { session -> [TerminalText] in
            let value = { (measure: Measure) -> TerminalText in
                session.values[measure.position].map { "\(measure.text($0))" } ?? "–"
            }
            return [
                "  " + value(.startTime), "\(session.stallCount)", value(.rebufferTime), value(.rebufferRatio),
                value(.playTime), value(.bitrate), "\(session.outcome.rawValue)", "\(session.name)",
            ]
        }
        let title: TerminalText =
            worst.count < set.count
            ? "The \(worst.count) sessions most worth a look, of \(set.count)"
            : "Sessions, those most worth a look first"
        return ["", title] + ColumnTable([head] + rows, rightColumns: [0, 1, 2, 3, 4, 5]).lines
    }
}
