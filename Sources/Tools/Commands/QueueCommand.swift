internal import ArgumentParser
internal import Instrument
internal import InstrumentBackendKinds
internal import InstrumentBackends
internal import InstrumentCommandLine
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// `player-monitor queue`: inspects and maintains a durable queue.
struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Inspect, verify and flush a durable queue (made by 'play --queue DIRECTORY').",
        subcommands: [
            StatusCommand.self, FlushCommand.self, DeadCommand.self, ExportCommand.self, VerifyCommand.self,
            ConsentCommand.self,
        ]
    )

    /// The argument of every subcommand.
    struct Options: ParsableArguments {
        @Argument(help: "Directory of the queue.")
        var directory: String

        /// The folders in the directory. Exits with code 2 if the directory has no queue.
        func folders() throws -> [QueueFolder] {
            let folders = QueueFolder.folders(in: directory)
            if folders.isEmpty { throw ValidationError("\(directory) must contain a durable queue (found none)") }
            let busy = folders.filter(\.isInUse).count
            if busy > 0 {
                writeToStandardError(
                    "player-monitor: running processes use \(busy) of \(folders.count) folders\n"
                )
            }
            return folders
        }

        /// The queue for reading, without the folders in use, which standard error names.
        func read() throws -> DurableQueueReader {
            _ = try folders()
            return DurableQueueReader(directory: directory) { writeToStandardError("player-monitor: \($0)\n") }
        }

        /// The queue for writing, without the folders in use; nil, with a note on standard error, if all are in use.
        func open() throws -> DurableStore? {
            guard try folders().contains(where: { !$0.isInUse }) else { return nil }
            return try DurableStore(directory: directory) { writeToStandardError("player-monitor: \($0)\n") }
        }
    }
}

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show each backend's ledger, backlog and size; read-only.",
        discussion:
            "Tab-separated columns: backend, samples emitted, acknowledged, queued, dead and dropped, bytes queued."
    )

    @OptionGroup var options: QueueCommand.Options

    func run() async throws {
        let (queue, folders) = (try options.read(), QueueFolder.folders(in: options.directory))
        let terminal = Terminal(isQuiet: true)
        try terminal.output("backend\temitted\tacknowledged\tqueued\tdead\tdropped\tbytes\n")
        for backend in queue.backends {
            let (ledger, bytes) = (queue.ledger(of: backend), queue.backlog(of: backend).bytes)
            let columns = [
                ledger.emitted, ledger.acknowledged, ledger.queued, ledger.dead, ledger.dropped, bytes,
            ]
            let cells = [TerminalText(backend.description)] + columns.map { "\($0)" }
            try terminal.output(cells.joined(separator: "\t") + "\n")
        }
        for folder in folders {
            let state = folder.isInUse ? "in use" : "free"
            writeToStandardError("\(folder.path): \(folder.segmentCount) segments, \(folder.bytes) bytes, \(state)\n")
        }
        if queue.consent != .granted { writeToStandardError(ConsentCommand.notice(queue.consent, options.directory)) }
    }
}

struct FlushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Deliver the queued samples to the given backends."
    )

    @OptionGroup var options: QueueCommand.Options

    @Option(
        name: .customLong("backend"),
        help: BackendOption.help,
        completion: BackendOption.completion,
        transform: BackendOption.read
    )
    var backends: [ChosenBackend]

    @OptionGroup var credentials: CredentialsOptions

    @Option(help: ArgumentHelp("Time limit.", valueName: "time"))
    var timeout = DurationOption(.seconds(60))

    func validate() throws { try timeout.validatePositive("--timeout") }

    func run() async throws {
        guard let store = try options.open() else { throw ExitCode(ExitStatus.undelivered.rawValue) }
        defer { store.close() }
        guard store.consent == .granted else {
            writeToStandardError(ConsentCommand.notice(store.consent, options.directory))
            throw ExitCode(ExitStatus.undelivered.rawValue)
        }
        let terminal = Terminal(isQuiet: true)
        let made = try credentials.make(backends, terminal, queue: options.directory)
        let known = store.backends
        for backend in made where !known.contains(backend.name) {
            let names = known.map(\.description).joined(separator: ", ")
            throw ValidationError("the queue has no backend \(backend.name); use one of \(names)")
        }
        let watch = DeliveryWatch(made, in: store, queue: options.directory)
        let queue = BatchQueue(store: store, backends: made) { diagnostic in
            watch.note(diagnostic)
            terminal.note(diagnostic)
        }
        await queue.shutdown(timeout: timeout.duration)
        let isDelivered = terminal.noteUndelivered(watch)
        try terminal.checkOutput()
        if !noteUnread() || !isDelivered { throw ExitCode(ExitStatus.undelivered.rawValue) }
    }

    /// Names the folders whose samples the store could not read, while it has the others; false if there are some.
    private func noteUnread() -> Bool {
        let unread = QueueFolder.folders(in: options.directory).filter { !$0.isInUse && $0.segmentCount > 0 }
        for folder in unread {
            writeToStandardError(
                """
                player-monitor: the samples in \(folder.path) were not read, for the reason above; remove the cause and run \
                'queue flush' again

                """
            )
        }
        return unread.isEmpty
    }
}

struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract:
            "List dead letters (samples that a backend refused) with the reasons; retry or discard them.",
        discussion: """
            Tab-separated columns: backend, identifier, name, reason. The next 'queue flush' or the next run delivers the samples \
            to retry.
            """
    )

    @OptionGroup var options: QueueCommand.Options

    @Flag(help: "Print whole samples as JSON lines.")
    var json = false

    @Option(help: "List this backend only, by its name in 'queue status'.")
    var backend: String?

    @Option(help: "Print the sample with this identifier as a JSON line.")
    var show: String?

    @Option(help: "Retry the sample with this identifier, or 'all'. May be repeated.")
    var retry: [String] = []

    @Option(help: "Discard the sample with this identifier, or 'all'. May be repeated.")
    var drop: [String] = []

    func validate() throws {
        for text in (show.map { [$0] } ?? []) + retry + drop where text != "all" && SampleID(text) == nil {
            throw ValidationError("\(text) must be an identifier as 'queue dead' lists them")
        }
    }

    func run() async throws {
        if (retry + drop).isEmpty {
            let queue = try options.read()
            for name in try chosen(from: queue.backends) { try await list(queue.deadLetters(of: name), of: name) }
            return
        }
        guard let store = try options.open() else { return }
        defer { store.close() }
        var changed = 0
        for name in try chosen(from: store.backends) {
            let letters = store.deadLetters(of: name)
            changed += store.retryDeadLetters(chosen(retry, from: letters), of: name)
            changed += store.dropDeadLetters(chosen(drop, from: letters), of: name)
        }
        writeToStandardError("changed \(changed) dead letters\n")
    }

    private func chosen(from known: [BackendName]) throws -> [BackendName] {
        guard let backend else { return known }
        guard known.contains(BackendName(backend)) else {
            throw ValidationError("the queue has no backend \(backend); 'queue status' lists them")
        }
        return [BackendName(backend)]
    }

    private func chosen(_ texts: [String], from letters: [DeadLetter]) -> Set<SampleID> {
        if texts.contains("all") { return Set(letters.map(\.record.id)) }
        return Set(texts.compactMap { SampleID($0) })
    }

    private func list(_ letters: [DeadLetter], of backend: BackendName) async throws {
        let terminal = Terminal(isQuiet: true)
        let wanted = show.flatMap { SampleID($0) }
        for letter in letters where wanted == nil || letter.record.id == wanted {
            if json || wanted != nil {
                try await writeLines([letter.record])
            } else {
                let (id, name) = (letter.record.id, letter.record.sample.name)
                try terminal.output("\(backend)\t\(id)\t\(name)\t\(letter.reason)\n")
            }
        }
    }
}

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a backend's queued samples as JSON lines; read-only."
    )

    @OptionGroup var options: QueueCommand.Options

    @Option(help: "Name of the backend in 'queue status' (default: the one with the largest backlog).")
    var backend: String?

    func run() async throws {
        let queue = try options.read()
        let most = queue.backends.max { queue.backlog(of: $0).count < queue.backlog(of: $1).count }
        guard let name = backend.map({ BackendName($0) }) ?? most else { return }
        guard queue.backends.contains(name) else {
            throw ValidationError("the queue has no backend \(name); 'queue status' lists them")
        }
        for records in queue.queued(for: name) { try await writeLines(records) }
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify every record; exit code 1 if a record is damaged. Read-only."
    )

    @OptionGroup var options: QueueCommand.Options

    func run() async throws {
        let terminal = Terminal(isQuiet: true)
        var isWhole = true
        for folder in try options.folders() {
            let found = try folder.verify()
            isWhole = isWhole && found.isWhole
            let aside = found.setAside.isEmpty ? "" : ", set aside: " + found.setAside.joined(separator: " ")
            try terminal.output(
                """
                \(folder.path)\t\(found.samples) samples\t\(found.damagedBytes) damaged bytes\t\(found.unknown) unknown\(aside)

                """
            )
        }
        if !isWhole { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

/// Samples as JSON lines on standard output.
private func writeLines(_ records: [SampleRecord]) async throws {
    let terminal = Terminal(isQuiet: true)
    let failure = Lock<OutputError?>(nil)
    let lines = ConsoleBackend(format: .jsonLines) { bytes in
        do throws(OutputError) {
            try terminal.output(escaped: bytes)
            return true
        } catch {
            failure.withLock { $0 = error }
            return false
        }
    }
    for start in stride(from: 0, to: records.count, by: 1000) {
        _ = await lines.deliver(Batch(records: Array(records[start..<min(records.count, start + 1000)])))
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

extension Sample {
    /// The event's action or the metric's name.
    fileprivate var name: String {
        switch self {
        case .event(let event): event.action.name
        case .metric(let metric): metric.name.spelling
        }
    }
}
