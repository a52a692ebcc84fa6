internal import Dispatch
internal import Instrument
internal import InstrumentFiles
internal import InstrumentProbe
internal import InstrumentTerminal
internal import InstrumentTrackers

/// Many playbacks at once, from their requests to the delivery of their last sample: one instrument, a tracker each.
struct FleetPlayback {
    /// How long the end may take to deliver what is left.
    private static var shutdownTimeout: Duration { .seconds(30) }

    let options: PlayCommand
    let configuration: ProbeConfiguration
    let sources: [MediaSource]
    let terminal: Terminal
    let backends: [any Backend]
    let store: any SampleStore
    let requests: RequestLog?

    /// Plays, delivers and sums up.
    func run() async -> ExitStatus {
        FileLimit.raise()
        let system = SystemClock()
        // As fast as possible they are played one after another, on a clock that only they move.
        let virtual = options.speed == .max ? options.virtualClock(for: sources, system) : nil
        let clock: any SchedulingClock = virtual ?? system
        let probes = sources.map { Probe($0, configuration: configuration, clock: clock) }
        let summary = FleetSummary()
        let watch = DeliveryWatch(backends, in: store, queue: options.delivery.queue)
        let instrument = makeInstrument(clock, summary, watch, deliveringBy: system)
        let trackers = probes.map { instrument.add(PlayerTracker($0)) }
        instrument.ready()
        for (index, probe) in probes.enumerated() { requests?.watch(probe, stream: index + 1) }

        let fleet = ProbeFleet(probes, spacing: .seconds(options.spacing), clock: clock)
        StopSignals.report { fleet.stop() }
        terminal.whenOutputCloses { fleet.stop() }
        let progress = showProgress(of: fleet, system)
        let outcomes = await play(fleet, virtual, clock)
        progress?.cancel()
        terminal.show(progress: "")

        await instrument.shutdown(timeout: Self.shutdownTimeout)
        store.forget(summary.name)
        let isDelivered = report(summary.table(trackers, sources, outcomes), outcomes, watch)
        if outcomes.contains(where: \.isFailure) { return .failed }
        return isDelivered ? .played : .undelivered
    }

    private func makeInstrument(
        _ clock: any SchedulingClock,
        _ summary: FleetSummary,
        _ watch: DeliveryWatch,
        deliveringBy system: SystemClock
    ) -> Instrument {
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

    private func play(_ fleet: ProbeFleet, _ virtual: VirtualClock?, _ clock: any SchedulingClock) async
        -> [ProbeOutcome?]
    {
        guard let virtual else {
            for (index, probe) in fleet.probes.enumerated() {
                schedule(probe, after: .seconds(options.spacing * Double(index)), clock)
            }
            fleet.start()
            return await fleet.waitUntilFinished()
        }
        // Reading blocks: on a thread of its own, not on one that tasks share.
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "player-monitor.play").async {
                let outcomes = fleet.probes.map { probe in
                    schedule(probe, after: .zero, clock)
                    return probe.playThrough(advancing: virtual)
                }
                continuation.resume(returning: outcomes)
            }
        }
    }

    /// What a probe is told later, by the moment at which it starts.
    private func schedule(_ probe: Probe, after delay: Duration, _ clock: any SchedulingClock) {
        let start = clock.now.advanced(by: delay)
        options.schedule(probe, from: start, clock)
    }

    private func showProgress(of fleet: ProbeFleet, _ clock: SystemClock) -> Task<Void, Never>? {
        guard terminal.canShowProgress else { return nil }
        let terminal = terminal
        return Task {
            while !Task.isCancelled {
                terminal.show(progress: FleetProgress(fleet.probes).text)
                try? await clock.sleep(until: clock.now.advanced(by: .milliseconds(500)))
            }
        }
    }

    /// Sums up; true if everything was delivered.
    private func report(_ table: FleetTable, _ outcomes: [ProbeOutcome?], _ watch: DeliveryWatch) -> Bool {
        if options.quiet {
            for case .failed(let error) in outcomes { terminal.note("player-monitor: \(error)") }
        } else {
            for line in table.lines { terminal.note(line) }
        }
        return terminal.noteUndelivered(watch)
    }
}

extension ProbeOutcome {
    /// Whether it failed.
    var isFailure: Bool {
        if case .failed = self { true } else { false }
    }
}

extension ProbeOutcome? {
    /// Whether it failed.
    fileprivate var isFailure: Bool { self?.isFailure ?? false }
}
