internal import ArgumentParser
internal import Instrument
internal import InstrumentCommandLine
internal import InstrumentReplay
internal import InstrumentTerminal
internal import InstrumentText

/// The recordings to read, and the sessions to select: the same for `replay` and `report`.
struct ReplayOptions: ParsableArguments {
    @Argument(
        help: """
            Recordings: files of JSON lines (of the backend 'file' or 'json'; plain or gzip; the rotated files of a file are read \
            before it), JSON arrays, exports of ClickHouse (JSONEachRow, JSON, JSONCompact, JSONCompactEachRowWithNames), directories of durable queues (read-only), '-' for standard input.
            """
    )
    var files: [String]

    @Flag(help: "Merge the recordings by time. Without it, they are read one after another, in the given order.")
    var merge = false

    @Flag(help: "Read the named files only, without their rotated files.")
    var onlyNamed = false

    @Option(
        help: """
            Select sessions that begin at this time or later: a date, RFC 3339 (2026-11-22T08:00:00Z), or milliseconds since 1970.
            """,
        transform: Self.time
    )
    var since: WallTime?

    @Option(help: "Select sessions that begin before this time.", transform: Self.time)
    var until: WallTime?

    @Option(
        name: .customLong("session"),
        help: "Select the sessions with this playbackId or senderId. May be repeated."
    )
    var sessions: [String] = []

    @Flag(help: "Exit with code 1 if a part of the recordings could not be read.")
    var strict = false

    @Flag(name: .shortAndLong, help: "Print no progress and no notes about the reading.")
    var quiet = false

    func validate() throws {
        if files.contains("") { throw ValidationError("a recording must not be empty; give a path, or '-'") }
        if let since, let until, since.milliseconds >= until.milliseconds {
            throw ValidationError("--since must be before --until (found \(since.rfc3339) and \(until.rfc3339))")
        }
    }

    var filter: SessionFilter { SessionFilter(since: since, until: until, identifiers: Set(sessions)) }

    /// The inputs that the arguments name. Exits with code 2 if one of them cannot be read.
    func recordings(named arguments: [String]) throws -> [ReplayInput] {
        do { return try ReplayInput.all(named: arguments, addsRotated: !onlyNamed) } catch {
            throw ValidationError(error.description)
        }
    }

    /// Reads the selected samples of recordings, shows progress, notes what was skipped, and returns the reader at its
    /// end.
    ///
    /// - Parameter showsProgress: false for a command that shows the progress of something slower.
    func read(
        _ arguments: [String],
        _ terminal: Terminal,
        showsProgress: Bool = true,
        _ body: (ReplayedSample) async throws -> Void
    ) async throws -> ReplayReader {
        let problems = Lock(ProblemLines())
        let isQuiet = quiet
        let reader = ReplayReader(try recordings(named: arguments), order: merge ? .time : .input) { problem in
            let line = problems.withLock { $0.add(problem) }
            if let line, !isQuiet { terminal.note("player-monitor: \(line)") }
        }
        var filter = filter
        do {
            while let sample = try reader.next() {
                if showsProgress, terminal.canShowProgress, reader.sampleCount.isMultiple(of: 50_000) {
                    terminal.show(progress: Self.progress(of: reader))
                }
                if filter.selects(sample.record.sample) { try await body(sample) }
            }
        } catch let error as ReplayError {
            terminal.show(progress: "")
            throw ValidationError(error.description)
        }
        terminal.show(progress: "")
        if !isQuiet {
            for line in problems.withLock({ $0.summary }) { terminal.note("player-monitor: \(line)") }
            note(reader, terminal)
        }
        if reader.lateCount > 0 {
            terminal.note(
                "player-monitor: \(String(counting: reader.lateCount, "sample")) too far out of order, so that metrics may be wrong; sort the recording by 'sequence' first"
            )
        }
        return reader
    }

    /// Throws exit code 1 if nothing could be read, if samples were too far out of order, or if anything could not be
    /// read with `--strict`.
    func check(_ reader: ReplayReader) throws {
        if !isWhole(reader) { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// Whether the metrics are those of the recording.
    func isWhole(_ reader: ReplayReader) -> Bool {
        if reader.lateCount > 0 { return false }
        return reader.problemCount == 0 || (!strict && reader.sampleCount > 0)
    }

    private func note(_ reader: ReplayReader, _ terminal: Terminal) {
        if reader.problemCount > 0 {
            let parts = String(counting: reader.problemCount, "part")
            terminal.note("player-monitor: skipped \(parts) that cannot be read")
        }
        if reader.sampleCount == 0 {
            terminal.note(
                "player-monitor: found no sample; a recording has JSON lines as the backends 'file' and 'json' write them"
            )
        }
        if reader.reorderedCount > 0 {
            terminal.note(
                "player-monitor: \(String(counting: reader.reorderedCount, "sample")) out of order: ordered by sequence number"
            )
        }
        if reader.missingCount > 0 {
            terminal.note(
                "player-monitor: \(String(counting: reader.missingCount, "sequence number")) missing: samples that were lost, or that the recording leaves out"
            )
        }
        if reader.duplicateCount > 0 {
            terminal.note("player-monitor: \(reader.duplicateCount) samples are recorded more than once and count once")
        }
    }

    private static func progress(of reader: ReplayReader) -> TerminalText {
        let megabytes = { (bytes: Int) in "\(bytes / 1_000_000)" }
        let (read, total) = reader.progress
        let size = total.map { " of \(megabytes($0))" } ?? ""
        return "read \(megabytes(read))\(size) MB, \(reader.sampleCount) samples"
    }

    /// A date, a time by RFC 3339, or milliseconds since 1970.
    static func time(_ text: String) throws -> WallTime {
        if let milliseconds = Int64(text) { return WallTime(milliseconds: milliseconds) }
        var cursor = TextCursor(text)
        guard let date = cursor.date(), date.isValid else { throw wrongTime(text) }
        if cursor.isAtEnd { return WallTime(date, milliseconds: 0) }
        guard cursor.take(anyOf: "Tt ") != nil, let time = cursor.timeOfDay(requiresSeconds: false),
            let offset = cursor.isAtEnd ? 0 : cursor.offset(), cursor.isAtEnd
        else { throw wrongTime(text) }
        return WallTime(date, milliseconds: time - offset)
    }

    private static func wrongTime(_ text: String) -> ValidationError {
        ValidationError(
            "a time must be a date (2026-11-22), RFC 3339 (2026-11-22T08:00:00Z) or milliseconds since 1970 (found '\(text)')"
        )
    }
}
