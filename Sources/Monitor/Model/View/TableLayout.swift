internal import InstrumentTerminal

/// The columns of the table, as many as fit. A column has one unit, which its head names; errors get the room that the
/// others do not need.
struct TableLayout {
    /// The time at which durations end, in milliseconds since 1970; nil if it is not known.
    private let now: Int64?
    private let columns: [Column]

    private enum Column: CaseIterable {
        case name, state, start, stalls, stalled, bitrate, behind, buffer, error

        /// Which column leaves first on a narrow screen; nil for one that stays.
        var rank: Int? {
            switch self {
            case .buffer: 0
            case .stalls: 1
            case .behind: 2
            case .bitrate: 3
            case .start: 4
            case .stalled: 5
            case .name, .state, .error: nil
            }
        }

        var head: TerminalText {
            switch self {
            case .name: "STREAM"
            case .state: "STATE"
            case .start: "START ms"
            case .stalls: "STALLS"
            case .stalled: "STALLED %"
            case .bitrate: "Mbit/s"
            case .behind: "BEHIND s"
            case .buffer: "BUFFER s"
            case .error: "ERROR"
            }
        }

        var isFigure: Bool { rank != nil }
    }

    private var widths: [Column: Int] = [:]

    /// - Parameter rows: the rows that are shown.
    init(columns width: Int, rows: some Sequence<TableRow>, now: Int64?) {
        self.now = now
        var (name, state, error) = (8, 5, 0)
        for row in rows {
            name = max(name, TerminalText(row.name).columns)
            state = max(state, row.stateText(at: now).columns)
            error = max(error, row.reason(at: now).columns)
        }
        // A long name must leave room for the state and for errors.
        name = min(name, max(8, width / (error > 0 ? 3 : 2)))
        var kept = Column.allCases
        func total(_ kept: [Column]) -> Int {
            kept.reduce(0) { sum, column in
                switch column {
                case .name: sum + name
                case .state: sum + 2 + state
                case .error: sum + 2
                case .start, .stalls, .stalled, .bitrate, .behind, .buffer: sum + 2 + column.head.columns
                }
            }
        }
        // Errors need room: figures leave before an error is cut below 40 columns.
        let wanted = max(5, min(error, 40))
        while total(kept) + wanted > width,
            let leaving = kept.filter({ $0.rank != nil }).min(by: { ($0.rank ?? 0) < ($1.rank ?? 0) })
        { kept.removeAll { $0 == leaving } }
        columns = kept
        let rest = width - total(kept)
        for column in kept {
            widths[column] =
                switch column {
                case .name: name
                case .state: state
                // The last one is not padded.
                case .error: error > rest ? max(0, rest) : 0
                case .start, .stalls, .stalled, .bitrate, .behind, .buffer: column.head.columns
                }
        }
    }

    var header: TerminalText { line(\.head) }

    func line(of row: TableRow) -> TerminalText {
        line { column in
            switch column {
            case .name: "\(row.name)"
            case .state: row.stateText(at: now)
            case .start: Figure.whole(row.startup)
            case .stalls: "\(row.rebuffers)"
            case .stalled:
                row.startup == nil && row.rebufferRatio == 0 ? "-" : Figure.hundredths(row.rebufferRatio * 100)
            case .bitrate: Figure.hundredths(row.bitrate.map { Double($0) / 1_000_000 })
            case .behind: Figure.tenths(row.latency)
            case .buffer: Figure.tenths(row.buffer)
            case .error: row.reason(at: now)
            }
        }
    }

    private func line(_ cell: (Column) -> TerminalText) -> TerminalText {
        let parts = columns.map { column -> TerminalText in
            let width = widths[column] ?? 0
            let text = cell(column)
            return (width > 0 ? text.shortened(toColumns: width) : text).padded(
                toColumns: width,
                isRight: column.isFigure
            )
        }
        return parts.joined(separator: "  ")
    }
}

/// Figures as a table shows them.
enum Figure {
    /// Milliseconds with their unit, the unit by the size.
    static func duration(_ milliseconds: Int?) -> TerminalText {
        guard let milliseconds else { return "-" }
        if milliseconds < 1_000 { return "\(milliseconds) ms" }
        let seconds = milliseconds / 1_000
        if seconds < 10 { return "\(seconds).\(milliseconds % 1_000 / 100) s" }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3_600 { return "\(seconds / 60) min" }
        return seconds < 86_400 ? "\(seconds / 3_600) h \(seconds % 3_600 / 60) min" : "\(seconds / 86_400) d"
    }

    static func whole(_ value: Int?) -> TerminalText { value.map { "\($0)" } ?? "-" }

    /// Milliseconds in seconds, with one digit.
    static func tenths(_ milliseconds: Int?) -> TerminalText {
        milliseconds.map { "\($0 / 1_000).\(abs($0) % 1_000 / 100)" } ?? "-"
    }

    static func hundredths(_ value: Double?) -> TerminalText {
        guard let value, value.isFinite, abs(value) < 1e12 else { return "-" }
        let whole = Int((value * 100).rounded())
        let rest = abs(whole) % 100
        return "\(whole / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    static func percent(_ share: Double) -> TerminalText { hundredths(min(max(share, 0), 1) * 100) + " %" }

    static func rate(_ bits: Int?) -> TerminalText {
        bits.map { hundredths(Double($0) / 1_000_000) + " Mbit/s" } ?? "-"
    }
}
