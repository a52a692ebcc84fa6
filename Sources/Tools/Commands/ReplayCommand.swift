internal import ArgumentParser
internal import Instrument
internal import InstrumentAds
internal import InstrumentBackendKinds
internal import InstrumentCommandLine
internal import InstrumentFiles
internal import InstrumentQuality
internal import InstrumentReplay
internal import InstrumentTerminal

/// `player-monitor replay`: computes the metrics of recorded sessions again, and delivers recordings to backends.
struct ReplayCommand: AsyncParsableCommand {
    /// The format of the metrics.
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, ndjson }

    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Compute the metrics of recorded sessions, in any dialect, or deliver a recording to backends.",
        discussion: """
            Without --backend, the command prints the metrics of each session and a summary. With --backend, it delivers the recorded \
            samples under their recorded identifiers, so that a service that has received a sample before does not count it twice; \
            the command can be repeated. Add --dialect to print metrics as well.

            Samples are ordered by their sequence numbers. A session that misses events is healed by the state in its other events, \
            and names what it misses.

            Damaged lines are reported with file and number, and skipped. Exit codes: 0 success, 1 no sample could be read (with \
            --strict: a part could not be read) or samples are too far out of order, 2 wrong arguments, 3 some samples were not delivered, 4 standard output could not be \
            written.

            Examples:
              player-monitor replay samples.ndjson
              player-monitor replay --dialect all --format ndjson samples.ndjson.gz \\
                  | jq .metrics.mux
              player-monitor replay --merge host-1.ndjson host-2.ndjson
              LRS=user:password player-monitor replay \\
                  --backend xapi:https://lrs.example.org/xapi --credentials-from LRS \\
                  queue-directory
            """
    )

    @OptionGroup var recording: ReplayOptions

    @Option(
        name: .customLong("dialect"),
        help: "Definitions of the metrics: \(DialectOption.allValueStrings.joined(separator: ", ")). May be repeated."
    )
    var dialects: [DialectOption] = []

    @Option(help: "Output format of the metrics: 'text', 'json' for one object, 'ndjson' for one object per line.")
    var format = Format.text

    @Option(
        name: .customLong("backend"),
        help: BackendOption.help,
        completion: BackendOption.completion,
        transform: BackendOption.read
    )
    var backends: [ChosenBackend] = []

    @OptionGroup var credentials: CredentialsOptions

    @Flag(
        help: """
            Deliver metrics computed from the events in place of the recorded metrics. Their identifiers depend on the events, so \
            that repeating the command counts nothing twice.
            """
    )
    var recompute = false

    @Option(
        help: ArgumentHelp(
            "Time limit for the delivery of \(Backfill.chunkSize) samples, retries included.",
            valueName: "time"
        )
    )
    var timeout = DurationOption(.seconds(60))

    func validate() throws {
        try timeout.validatePositive("--timeout")
        if recompute, backends.isEmpty {
            throw ValidationError("--recompute changes what is delivered; add --backend")
        }
        if let name = backends.namesOfOutput.first, !dialects.isEmpty {
            throw ValidationError("the backend \(name) and --dialect both write to standard output; choose one")
        }
        try backends.validateOutput()
    }

    func run() async throws {
        FileLimit.raise()
        let terminal = Terminal(isQuiet: recording.quiet)
        try checkTargets()
        let made = try credentials.make(backends, terminal, queue: nil)
        let delivery = made.isEmpty ? nil : ReplayDelivery(to: made, timeout: timeout.duration, recomputes: recompute)
        let chosen = DialectOption.selected(by: dialects)
        let printed = chosen.isEmpty && made.isEmpty ? [Dialect.instrument] : chosen
        var metrics = printed.isEmpty ? nil : ReplayMetrics(ReplayOutput(terminal, dialects: printed, format: format))
        let progress = delivery?.showProgress(terminal)
        let reader = try await recording.read(recording.files, terminal, showsProgress: delivery == nil) { sample in
            if case .event(let event) = sample.record.sample { try metrics?.observe(event) }
            await delivery?.add(sample.record)
        }
        try metrics?.finish(reader)
        let isDelivered = await delivery?.finish(terminal, after: progress, isQuiet: recording.quiet) ?? true
        try terminal.checkOutput()
        if !isDelivered { throw ExitCode(ExitStatus.undelivered.rawValue) }
        try recording.check(reader)
    }

    /// A recording that is appended to while it is read has no end.
    private func checkTargets() throws {
        let inputs = Set(try recording.recordings(named: recording.files).map(\.identity))
        for backend in backends {
            guard let path = backend.path, inputs.contains(ReplayInput.file(path).identity) else { continue }
            throw ValidationError(
                "the backend \(backend.kind.name):\(path) must not be one of the recordings; choose another file"
            )
        }
    }
}

/// Divides the events into sessions and prints their metrics.
private struct ReplayMetrics {
    private var sessions = SessionReader(recording: .trace)
    private var titles: [SessionKey: String] = [:]
    private var output: ReplayOutput

    init(_ output: ReplayOutput) { self.output = output }

    mutating func observe(_ event: Event) throws {
        let step = sessions.observe(event)
        if let key = step.session, event[.isAdsTracker] != true, let title = event[.title] { titles[key] = title }
        for session in step.closed { try add(session) }
    }

    mutating func finish(_ reader: ReplayReader) throws {
        for session in sessions.finish() { try add(session) }
        try output.finish(reader)
    }

    private mutating func add(_ session: QualitySession) throws {
        try output.add(session, title: titles.removeValue(forKey: session.key) ?? "")
    }
}

/// Delivers the samples, and reports what was not delivered.
private final class ReplayDelivery {
    private let names: [BackendName]
    private let backfill: Backfill
    private let watch: Lock<DeliveryWatch?>
    private var recomputation: Recomputation?

    init(to backends: [any Backend], timeout: Duration, recomputes: Bool) {
        let watch = Lock<DeliveryWatch?>(nil)
        names = backends.map(\.name)
        backfill = Backfill(to: backends, timeout: timeout) { diagnostic in watch.withLock { $0 }?.note(diagnostic) }
        let made = DeliveryWatch(
            backends,
            in: backfill.samples,
            queue: nil,
            advice: [
                "  Run the command again to deliver them: identifiers stay the same, so that nothing counts twice."
            ]
        )
        watch.withLock { $0 = made }
        self.watch = watch
        if recomputes {
            recomputation = Recomputation {
                CarryingMetricalc(MultiplexMetricalc([QualityMetricalc(), AdMetricalc()]), AttributeName.ofMonitor)
            }
        }
    }

    func add(_ record: SampleRecord) async {
        guard let records = recomputation?.records(for: record) else { return await backfill.add(record) }
        for record in records { await backfill.add(record) }
    }

    /// Shows how many samples the backends have received, until the task is cancelled; nil without a terminal.
    func showProgress(_ terminal: Terminal) -> Task<Void, Never>? {
        guard terminal.canShowProgress else { return nil }
        let (names, samples) = (names, backfill.samples)
        return Task {
            while !Task.isCancelled {
                terminal.show(progress: "delivered \(ReplayDelivery.counts(names, samples))")
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// `1200 samples to xapi, 1200 samples to file:copy.ndjson`
    private static func counts(_ names: [BackendName], _ samples: any SampleStore) -> String {
        names.map { "\(String(counting: samples.ledger(of: $0).acknowledged, "sample")) to \($0)" }
            .joined(separator: ", ")
    }

    /// Delivers the rest, and notes what was delivered; false if some samples were not delivered.
    func finish(_ terminal: Terminal, after progress: Task<Void, Never>?, isQuiet: Bool) async -> Bool {
        for record in recomputation?.finish() ?? [] { await backfill.add(record) }
        await backfill.finish()
        progress?.cancel()
        await progress?.value
        terminal.show(progress: "")
        if !isQuiet { terminal.note("player-monitor: delivered \(Self.counts(names, backfill.samples))") }
        guard let watch = watch.withLock({ $0 }) else { return true }
        return terminal.noteUndelivered(watch)
    }
}
