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

    @Option(help: "Log of requests that 'play --requests' wrote, for the timelines.")
    var requests: String?

    func validate() throws {
        if output == nil, !text, csv == nil {
            throw ValidationError(
                "choose where the report goes: -o FILE for a page, --text for text, --csv FILE for a table"
            )
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
        var builder = ReportBuilder(inputs: files, requests: requests)
        let reader = try await recording.read(files, terminal) { sample in
            if case .event(let event) = sample.record.sample { builder.observe(event) }
        }
        var set = builder.finish()
        (set.sampleCount, set.problemCount) = (reader.sampleCount, reader.problemCount)
        set.duplicateCount = reader.duplicateCount
        set.reading.reordered = reader.reorderedCount
        (set.reading.missing, set.reading.late) = (reader.missingCount, reader.lateCount)
        return (set, recording.isWhole(reader))
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
