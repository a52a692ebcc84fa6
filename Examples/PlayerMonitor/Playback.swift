internal import Dispatch
internal import Instrument
internal import InstrumentProbe
internal import InstrumentTerminal

/// One playback from its request to the delivery of its last sample.
struct Playback {
    /// How long the end may take to deliver what is left.
    private static var shutdownTimeout: Duration { .seconds(10) }

    private let options: PlayCommand
    private let configuration: ProbeConfiguration
    private let source: MediaSource
    private let terminal: Terminal
    private let summary = Summary()
    private let backends: [any Backend]
    private let store: any SampleStore
    private let watch: DeliveryWatch
    private let requests: RequestLog?

    init(
        _ options: PlayCommand,
        _ configuration: ProbeConfiguration,
        _ source: MediaSource,
        _ terminal: Terminal,
        _ backends: [any Backend],
        _ store: any SampleStore,
        _ requests: RequestLog?
    ) {
        self.options = options
        self.configuration = configuration
        self.source = source
        self.terminal = terminal
        self.backends = backends
        self.store = store
        watch = DeliveryWatch(backends, in: store, queue: options.delivery.queue)
        self.requests = requests
    }

    /// Plays, delivers and sums up.
    func run() async -> ExitStatus {
        let system = SystemClock()
        // As fast as possible means: on a clock that only the playback moves.
        let virtual = options.speed == .max ? options.virtualClock(for: [source], system) : nil
        let clock: any SchedulingClock = virtual ?? system
        let probe = Probe(source, configuration: configuration, clock: clock)
        requests?.watch(probe, stream: 1)
        let instrument = makeInstrument(clock, deliveringBy: system)
        let tracker = PlayerTracker(probe)
        instrument.add(tracker)
        instrument.ready()

        StopSignals.report { probe.stop() }
        terminal.whenOutputCloses { probe.stop() }
        options.schedule(probe, from: clock.now, clock)
        let progress = showProgress(of: probe, every: .milliseconds(200), system)
        let outcome = await play(probe, virtual)
        progress?.cancel()
        terminal.show(progress: "")

        await instrument.shutdown(timeout: Self.shutdownTimeout)
        store.forget(summary.name)
        let isDelivered = report(outcome, probe.source)
        if case .failed = outcome { return .failed }
        return isDelivered ? .played : .undelivered
    }

    private func makeInstrument(_ clock: any SchedulingClock, deliveringBy system: SystemClock) -> Instrument {
        Instrument(
            to: backends,
            summedUpBy: summary,
            store: store,
            clock: clock,
            deliveringBy: system,
            terminal: terminal,
            watch: watch
        )
    }

    private func play(_ probe: Probe, _ virtual: VirtualClock?) async -> ProbeOutcome? {
        guard let virtual else {
            probe.play()
            return await probe.waitUntilFinished()
        }
        // Reading blocks: on a thread of its own, not on one that tasks share.
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "player-monitor.play").async {
                continuation.resume(returning: probe.playThrough(advancing: virtual))
            }
        }
    }

    private func showProgress(of probe: Probe, every interval: Duration, _ clock: SystemClock) -> Task<Void, Never>? {
        guard terminal.canShowProgress else { return nil }
        let terminal = terminal
        return Task {
            while !Task.isCancelled {
                terminal.show(progress: ProgressLine.text(probe.progress))
                try? await clock.sleep(until: clock.now.advanced(by: interval))
            }
        }
    }

    /// Sums up; true if everything was delivered.
    private func report(_ outcome: ProbeOutcome?, _ source: MediaSource) -> Bool {
        if options.quiet, case .failed(let error) = outcome { terminal.note("player-monitor: \(error)") }
        if !options.quiet { for line in summary.lines(outcome: outcome, source: source) { terminal.note(line) } }
        return terminal.noteUndelivered(watch)
    }
}
