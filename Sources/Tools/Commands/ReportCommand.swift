internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentFiles
internal import InstrumentReplay
internal import InstrumentReport
internal import InstrumentTerminal

/// `player-monitor report`: shows what people experienced in recorded sessions.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show recorded sessions on one HTML page, or as text: distributions, sessions, timelines, failures.",
        discussion: """
            The page is one file that needs no network: it opens from the disk, in light and dark, and has less than a megabyte for a \
            thousand sessions. With more, it lists the sessions that failed and those with the longest stalls.

            Examples:
              player-monitor report samples.ndjson -o report.html
              player-monitor report today.ndjson --against yesterday.ndjson -o report.html
              player-monitor report --text samples.ndjson.gz
              player-monitor report --text --where outcome=failed --group-by cdn \\
                  --group-by host samples.ndjson
            """
    )

    @OptionGroup var recording: ReplayOptions

    @Option(name: .shortAndLong, help: "File for the HTML page; '-' is standard output.")
    var output: String?

    @Flag(help: "Print the report as text.")
    var text = false

    @Option(help: "File for the listed sessions as comma-separated values.")
    var csv: String?

    @Option(help: "Recording to compare with. May be repeated; all of them form one set.")
    var against: [String] = []

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            """
            Show the sessions of which a property has this value: \(SessionDimension.names.joined(separator: ", ")), or a label \
            such as cdn. With != those of which it has another one; an empty value means none. May be repeated: of values of one \
            property one must fit, and all properties must.
            """,
            valueName: "name=value"
        ),
        transform: Self.condition
    )
    var conditions: [SessionQuery.Condition] = []

    @Option(
        name: .customLong("group-by"),
        help: ArgumentHelp(
            "Show figures for each value of a property, those that fail most first: names as with --where. May be repeated.",
            valueName: "name"
        ),
        transform: Self.dimension
    )
    var dimensions: [SessionDimension] = []

    @Option(help: "Log of requests that 'play --requests' wrote, for the timelines.")
    var requests: String?

    func validate() throws {
        if output == nil, !text, csv == nil {
            throw ValidationError(
                "choose where the report goes: -o FILE for a page, --text for text, --csv FILE for a table"
            )
        }
        if Set(dimensions).count < dimensions.count || dimensions.count > 4 {
            throw ValidationError("--group-by must name at most four properties, and each once")
        }
        if output == "-", text { throw ValidationError("-o - and --text both write to standard output; choose one") }
    }

    func run() async throws {
        FileLimit.raise()
        let terminal = Terminal(isQuiet: recording.quiet)
        // An input that cannot be read is reported before the first one is read.
        _ = try recording.recordings(named: recording.files + against)
        let (sessions, isWhole) = try await sessions(
            of: recording.files,
            terminal,
            requests: try readRequests(terminal)
        )
        var comparison: Comparison?
        if !against.isEmpty {
            comparison = Comparison(
                sessions,
                against: try await self.sessions(of: against, terminal, requests: nil).set
            )
        }
        if let output {
            try write(
                ReportPage(sessions, comparison: comparison, now: SystemClock().wallTime).html,
                to: output,
                terminal
            )
        }
        if let csv { try writeFile(SessionTable.csv(sessions), to: csv) }
        if text {
            let lines = ReportText(sessions, comparison: comparison).lines
            try terminal.output(lines.map { $0 + "\n" }.joined())
        }
        if !isWhole { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func sessions(of files: [String], _ terminal: Terminal, requests: RequestIndex?) async throws
        -> (set: SessionSet, isWhole: Bool)
    {
        var builder = ReportBuilder(
            inputs: files,
            requests: requests,
            selecting: SessionQuery(conditions),
            groupedBy: dimensions
        )
        let reader = try await recording.read(files, terminal) { sample in
            if case .event(let event) = sample.record.sample { builder.observe(event) }
        }
        var set = builder.finish()
        (set.sampleCount, set.problemCount) = (reader.sampleCount, reader.problemCount)
        set.duplicateCount = reader.duplicateCount
        if set.count == 0, set.leftOutCount > 0 { terminal.note(Self.nothingSelected(of: set)) }
        set.reading.reordered = reader.reorderedCount
        (set.reading.missing, set.reading.late) = (reader.missingCount, reader.lateCount)
        return (set, recording.isWhole(reader))
    }

    /// Reads `NAME=VALUE` or `NAME!=VALUE`, for the `transform` of an option.
    @Sendable static func condition(_ argument: String) throws -> SessionQuery.Condition {
        guard let condition = SessionQuery.Condition(argument) else {
            throw ValidationError("--where must be NAME=VALUE or NAME!=VALUE such as cdn=alpha (found '\(argument)')")
        }
        return condition
    }

    /// Reads the name of a property, for the `transform` of an option.
    @Sendable static func dimension(_ argument: String) throws -> SessionDimension {
        guard let dimension = SessionDimension(argument) else {
            throw ValidationError("--group-by must be the name of a property such as cdn (found '\(argument)')")
        }
        return dimension
    }

    private static func nothingSelected(of set: SessionSet) -> TerminalText {
        let parts = [("streams", set.leftOutNames.streams), ("labels", set.leftOutNames.labels)]
        let found = parts.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.sorted().joined(separator: ", "))" }
        let names = found.isEmpty ? "" : " (found \(found.joined(separator: "; ")))"
        return "player-monitor: --where selects none of \(String(counting: set.leftOutCount, "session"))\(names)"
    }

    private func write(_ page: String, to path: String, _ terminal: Terminal) throws {
        // The page is for a file; on a terminal its escapes make it safe to look at.
        if path == "-" { try terminal.output(TerminalText(trusted: page)) } else { try writeFile(page, to: path) }
    }

    private func readRequests(_ terminal: Terminal) throws -> RequestIndex? {
        guard let requests else { return nil }
        var index = RequestIndex()
        var reader = try LineReader(path: requests)
        while let line = try reader.next() { if !line.isEmpty { index.add(line: line) } }
        if index.problemCount > 0 {
            terminal.note("player-monitor: \(requests): skipped \(index.problemCount) lines that are not requests")
        }
        return index
    }
}
