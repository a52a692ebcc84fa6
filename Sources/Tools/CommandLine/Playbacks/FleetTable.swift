package import InstrumentTerminal

/// Many playbacks as lines of aligned columns for people, and their totals.
package struct FleetTable {
    /// One playback.
    package struct Row {
        package let source: String
        package let record: PlaybackRecord
        package let ending: PlaybackEnding

        package init(source: String, record: PlaybackRecord, ending: PlaybackEnding) {
            self.source = source
            self.record = record
            self.ending = ending
        }
    }

    /// The largest number of rows that are shown. A longer table only shows playbacks that failed, stalled or never
    /// started.
    private static let mostRows = 50
    private static let header: [TerminalText] = [
        "#", "start", "stalls", "stalled", "played", "quality", "outcome", "source",
    ]
    /// Columns of numbers.
    private static let rightColumns: Set<Int> = [0, 1, 2, 3, 4]

    /// The rows, the failures' messages and the totals.
    package let lines: [TerminalText]

    package init(_ rows: [Row]) {
        let numbered = Array(rows.enumerated())
        let noted = numbered.filter { Self.isNoteworthy($0.element) }
        let shown = rows.count > Self.mostRows ? Array(noted.prefix(Self.mostRows)) : numbered
        let cells = [Self.header] + shown.map { Self.cells(of: $0.element, number: $0.offset + 1) }
        var lines = shown.isEmpty ? [] : ColumnTable(cells, rightColumns: Self.rightColumns).lines
        if rows.count > shown.count {
            let more = noted.count - min(noted.count, shown.count)
            let smooth = rows.count - noted.count
            lines.append("… \(smooth) more streams without problems\(more > 0 ? ", \(more) more with problems" : "")")
        }
        for (index, row) in shown {
            if case .failed(_, let message) = row.ending { lines.append("#\(index + 1): \(message)") }
        }
        self.lines = lines + Self.totals(rows)
    }

    private static func isNoteworthy(_ row: Row) -> Bool {
        row.record.stalls > 0 || row.record.startTime == nil || row.ending.isFailure || row.ending == .notPlayed
    }

    private static func cells(of row: Row, number: Int) -> [TerminalText] {
        let record = row.record
        return [
            "\(number)", record.startTime.map { "\($0) ms" } ?? "-", "\(record.stalls)",
            "\(PlaybackRecord.seconds(record.stallTime))", "\(PlaybackRecord.seconds(record.playTime))",
            "\(record.quality)", "\(row.ending.label)", "\(row.source)",
        ]
    }

    private static func totals(_ rows: [Row]) -> [TerminalText] {
        let count = { (isWanted: (PlaybackEnding) -> Bool) in rows.filter { isWanted($0.ending) }.count }
        let endings = [
            (count { $0 == .ended }, "ended"), (count { $0 == .stopped }, "stopped"),
            (count { $0.isFailure }, "failed"), (count { $0 == .notPlayed }, "not played"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let starts = rows.compactMap(\.record.startTime).sorted()
        let stalls = rows.reduce(0) { $0 + $1.record.stalls }
        let stalled = rows.filter { $0.record.stalls > 0 }.count
        let stallTime = PlaybackRecord.seconds(rows.reduce(0) { $0 + $1.record.stallTime })
        let played = PlaybackRecord.seconds(rows.reduce(0) { $0 + $1.record.playTime })
        return [
            "\(rows.count) streams: \(endings.joined(separator: ", "))",
            "  start time       \(distribution(starts))", "  played           \(played)",
            "  stalls           \(stalls)\(stalls > 0 ? ", \(stallTime), in \(stalled) of \(rows.count) streams" : "")",
        ]
    }

    /// The median, the 95th percentile (nearest rank) and the maximum.
    private static func distribution(_ sorted: [Int]) -> String {
        guard let last = sorted.last else { return "unknown" }
        let rank = { (percent: Int) in sorted[max(0, (sorted.count * percent + 99) / 100 - 1)] }
        return "median \(rank(50)) ms, 95 % within \(rank(95)) ms, at most \(last) ms"
    }
}
