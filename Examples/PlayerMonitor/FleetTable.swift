internal import Instrument
internal import InstrumentProbe
internal import InstrumentTerminal
internal import InstrumentText

/// Many playbacks as lines of aligned columns for people, and what they add up to.
struct FleetTable {
    struct Row {
        var source: MediaSource
        var playback: FleetSummary.Playback
        var outcome: ProbeOutcome?
    }

    /// With more rows only those are shown that failed, stalled or never started, and no more than this.
    private static let mostRows = 50
    private static let header = ["#", "start", "stalls", "stalled", "played", "quality", "outcome", "source"]
    /// Columns of words; the others are numbers.
    private static let leftColumns: Set<Int> = [5, 6, 7]

    let lines: [TerminalText]

    init(_ rows: [Row]) {
        let numbered = Array(rows.enumerated())
        let noted = numbered.filter { Self.isNoteworthy($0.element) }
        let shown = rows.count > Self.mostRows ? Array(noted.prefix(Self.mostRows)) : numbered
        var cells = [Self.header.map { TerminalText($0) }]
        for (index, row) in shown { cells.append(Self.cells(of: row, number: index + 1)) }
        var lines = shown.isEmpty ? [] : Self.aligned(cells)
        if rows.count > shown.count {
            let more = noted.count - min(noted.count, shown.count)
            let calm = rows.count - noted.count
            lines.append("… \(calm) more without a stall\(more > 0 ? ", \(more) more with" : "")")
        }
        for (index, row) in shown {
            if case .failed(let error) = row.outcome { lines.append("#\(index + 1): \(error.message)") }
        }
        self.lines = lines + Self.totals(rows)
    }

    private static func isNoteworthy(_ row: Row) -> Bool {
        row.playback.stalls > 0 || row.playback.startTime == nil || row.outcome?.isFailure != false
    }

    private static func cells(of row: Row, number: Int) -> [TerminalText] {
        let playback = row.playback
        return [
            "\(number)", playback.startTime.map { "\($0) ms" } ?? "-", "\(playback.stalls)",
            "\(seconds(playback.stallTime))", "\(seconds(playback.playTime))", "\(playback.quality)",
            "\(words(row.outcome))", "\(row.source)",
        ]
    }

    private static func words(_ outcome: ProbeOutcome?) -> String {
        switch outcome {
        case .ended: "ended"
        case .stopped: "stopped"
        case .failed(let error): "failed: \(error.code)"
        case nil: "not played"
        }
    }

    private static func aligned(_ cells: [[TerminalText]]) -> [TerminalText] {
        let widths = header.indices.map { column in cells.map { $0[column].columns }.max() ?? 0 }
        return cells.map { line in
            line.indices.map { index in
                // Nothing follows the last column, so that it needs no space.
                if index == line.count - 1 { return line[index] }
                return line[index].padded(toColumns: widths[index], isRight: !leftColumns.contains(index))
            }.joined(separator: "  ")
        }
    }

    private static func totals(_ rows: [Row]) -> [TerminalText] {
        let count = { (isWanted: (ProbeOutcome?) -> Bool) in rows.filter { isWanted($0.outcome) }.count }
        let outcomes = [
            (count { $0 == .ended }, "ended"), (count { $0 == .stopped }, "stopped"),
            (count { $0?.isFailure == true }, "failed"), (count { $0 == nil }, "not played"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let starts = rows.compactMap(\.playback.startTime).sorted()
        let stalls = rows.reduce(0) { $0 + $1.playback.stalls }
        let stalled = rows.filter { $0.playback.stalls > 0 }.count
        let stallTime = rows.reduce(0) { $0 + $1.playback.stallTime }
        let played = rows.reduce(0) { $0 + $1.playback.playTime }
        return [
            "\(rows.count) streams: \(outcomes.joined(separator: ", "))",
            "  start time       \(distribution(starts))", "  played           \(seconds(played))",
            "  stalls           \(stalls)\(stalls > 0 ? ", \(seconds(stallTime)), in \(stalled) of \(rows.count) streams" : "")",
        ]
    }

    /// Median, 95 % (the nearest rank) and the longest.
    private static func distribution(_ sorted: [Int]) -> String {
        guard let last = sorted.last else { return "unknown" }
        let rank = { (percent: Int) in sorted[max(0, (sorted.count * percent + 99) / 100 - 1)] }
        return "median \(rank(50)) ms, 95 % within \(rank(95)) ms, at most \(last) ms"
    }

    private static func seconds(_ milliseconds: Int) -> String {
        "\(milliseconds / 1000).\((milliseconds % 1000).padded(3)) s"
    }
}
