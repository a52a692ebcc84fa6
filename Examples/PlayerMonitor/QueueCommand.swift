internal import ArgumentParser
internal import Instrument
internal import InstrumentBackends
internal import InstrumentDurableQueue
internal import InstrumentTerminal

/// `player-monitor queue`: what is in a durable queue, and what can be done with it.
struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Shows, checks and empties a durable queue ('play --queue DIRECTORY').",
        subcommands: [
            StatusCommand.self, FlushCommand.self, DeadCommand.self, ExportCommand.self, VerifyCommand.self,
            ConsentCommand.self,
        ]
    )

    /// What every subcommand takes.
    struct Options: ParsableArguments {
        @Argument(help: "The queue's directory.")
        var directory: String

        /// The folders in the directory; ends with 2 if there is no queue.
        func folders() throws -> [QueueFolder] {
            let folders = QueueFolder.folders(in: directory)
            if folders.isEmpty { throw ValidationError("there is no queue in \(directory)") }
            let busy = folders.filter(\.isInUse).count
            if busy > 0 {
                writeToStandardError(
                    "player-monitor: \(busy) of \(folders.count) folders are in use by running processes\n"
                )
            }
            return folders
        }

        /// The queue to be looked at, but for folders in use, which standard error names. Changes nothing.
        func read() throws -> DurableQueueReader {
            _ = try folders()
            return DurableQueueReader(directory: directory) { writeToStandardError("player-monitor: \($0)\n") }
        }

        /// The queue, but for folders in use; nil, said on standard error, if all are.
        func open() throws -> DurableStore? {
            guard try folders().contains(where: { !$0.isInUse }) else { return nil }
            return try DurableStore(directory: directory) { writeToStandardError("player-monitor: \($0)\n") }
        }
    }
}

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows each backend's ledger, backlog and size. Changes nothing.",
        discussion:
            "Columns are separated by tabs: backend, emitted, acknowledged, queued, dead, dropped, bytes queued."
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
        abstract: "Delivers what waits, to the backends that are given."
    )

    @OptionGroup var options: QueueCommand.Options

    @Option(name: .customLong("backend"), help: BackendOption.help)
    var backends: [BackendOption]

    @OptionGroup var services: ServiceOptions

    @Option(help: "Give up after so many seconds.")
    var timeout: Double = 60

    func run() async throws {
        guard let store = try options.open() else { throw ExitCode(ExitStatus.undelivered.rawValue) }
        defer { store.close() }
        guard store.consent == .granted else {
            writeToStandardError(ConsentCommand.notice(store.consent, options.directory))
            throw ExitCode(ExitStatus.undelivered.rawValue)
        }
        let terminal = Terminal(isQuiet: true)
        let made = try BackendOption.make(backends, terminal, services, queue: options.directory)
        let known = store.backends
        for backend in made where !known.contains(backend.name) {
            let names = known.map(\.description).joined(separator: ", ")
            throw ValidationError("nothing waits for \(backend.name); the queue has \(names)")
        }
        let watch = DeliveryWatch(made, in: store, queue: options.directory)
        let queue = BatchQueue(store: store, backends: made) { watch.note($0) }
        await queue.shutdown(timeout: .seconds(timeout))
        if !terminal.noteUndelivered(watch) { throw ExitCode(ExitStatus.undelivered.rawValue) }
    }
}

struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract:
            "Lists samples that a backend will never take, with its reasons; tries them again or throws them away.",
        discussion: """
            Columns are separated by tabs: backend, identifier, name, reason. What is to be tried again is sent by the next \
            'queue flush', or the next run.
            """
    )

    @OptionGroup var options: QueueCommand.Options

    @Flag(help: "Show whole samples as JSON lines.")
    var json = false

    @Option(help: "Only this backend's, named as 'queue status' shows it.")
    var backend: String?

    @Option(help: "Show this one as a JSON line.")
    var show: String?

    @Option(help: "Try this one again, or 'all'. May be given several times.")
    var retry: [String] = []

    @Option(help: "Throw this one away, or 'all'. May be given several times.")
    var drop: [String] = []

    func validate() throws {
        for text in (show.map { [$0] } ?? []) + retry + drop where text != "all" && SampleID(text) == nil {
            throw ValidationError("\(text) is no identifier; 'queue dead' lists them")
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
        writeToStandardError("\(changed) dead letters\n")
    }

    private func chosen(from known: [BackendName]) throws -> [BackendName] {
        guard let backend else { return known }
        guard known.contains(BackendName(backend)) else {
            throw ValidationError("there is no backend \(backend) in the queue")
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
        abstract: "Writes what waits for a backend as JSON lines; the queue stays as it is."
    )

    @OptionGroup var options: QueueCommand.Options

    @Option(help: "The backend's name, as 'queue status' shows it; by default the one that waits for most.")
    var backend: String?

    func run() async throws {
        let queue = try options.read()
        let most = queue.backends.max { queue.backlog(of: $0).count < queue.backlog(of: $1).count }
        guard let name = backend.map({ BackendName($0) }) ?? most else { return }
        guard queue.backends.contains(name) else { throw ValidationError("there is no backend \(name) in the queue") }
        for records in queue.queued(for: name) { try await writeLines(records) }
    }
}

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Looks at every record; ends with 1 if something is damaged. Changes nothing."
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
