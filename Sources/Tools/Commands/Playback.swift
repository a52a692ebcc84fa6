internal import Dispatch
internal import Instrument
internal import InstrumentCMCDBackend
internal import InstrumentCommandLine
internal import InstrumentFiles
internal import InstrumentProbe
internal import InstrumentTerminal

/// One or many playbacks, from their requests to the delivery of their last sample: one instrument, one tracker
/// per source.
struct Playback {
    let options: PlayCommand
    let configuration: ProbeConfiguration
    let sources: [MediaSource]
    let terminal: Terminal
    let backends: [any Backend]
    let store: any SampleStore
    let requests: RequestLog?

    /// The limit for the delivery of the remaining samples at the end.
    private var shutdownTimeout: Duration { sources.count == 1 ? .seconds(10) : .seconds(30) }

    /// Plays, delivers and prints a summary.
    func run() async -> ExitStatus {
        FileLimit.raise()
        let system = SystemClock()
        // As fast as possible: one source after another, on a clock that only the playback advances.
        let virtual = options.speed == .max ? options.virtualClock(for: sources, system) : nil
        let clock: any SchedulingClock = virtual ?? system
        let probes = sources.map { Probe($0, configuration: configuration, clock: clock) }
        let (summary, watch) = (makeSummary(), DeliveryWatch(backends, in: store, queue: options.delivery.queue))
        let instrument = Instrument(
            to: backends,
            summedUpBy: summary,
            store: store,
            clock: clock,
            deliveringBy: system,
            terminal: terminal,
            watch: watch,
            labels: options.delivery.labels,
            withAds: options.ads.areWanted
        )
        instrument.set(.playerProfile, to: configuration.profile.name, in: .action(.mediaRequest))
        let trackers = probes.map { probe in
            let content = instrument.add(PlayerTracker(probe))
            // Beacons expire by the calendar of the machine, also in a session that is played faster.
            return (content: content, ads: options.ads.watch(probe, content: content, instrument, clock: system))
        }
        watchRequests(of: probes, trackers.map(\.content), instrument)
        instrument.ready()

        let fleet = ProbeFleet(probes, spacing: options.spacing.duration, clock: clock)
        StopSignals.report { fleet.stop() }
        terminal.whenOutputCloses { fleet.stop() }
        let progress = showProgress(of: fleet, system)
        let outcomes = await play(fleet, virtual, clock)
        progress?.cancel()
        terminal.show(progress: "")

        await instrument.shutdown(timeout: shutdownTimeout)
        store.forget(summary.name)
        let records = trackers.map { tracker in
            var record = summary.record(of: tracker.content)
            if let ads = tracker.ads { record.add(adsOf: summary.record(of: ads)) }
            return record
        }
        report(outcomes, records)
        let isDelivered = terminal.noteUndelivered(watch)
        if outcomes.contains(where: { PlaybackEnding($0).isFailure }) { return .failed }
        return isDelivered ? .success : .undelivered
    }

    /// The summary, which says on standard error why a playback has neither pictures nor sound yet.
    private func makeSummary() -> Summary {
        guard !options.quiet else { return Summary() }
        return Summary { [terminal] event in
            guard event.action == .streamWarning, event.attributes[.warningCode] == "\(StreamWarning.Kind.notBegun)",
                let message = event.attributes[.warningDescription]
            else { return }
            terminal.note("\(event.attributes[.warningURL] ?? ""): \(message)")
        }
    }

    /// Logs each request, and emits its response where a backend reports responses.
    private func watchRequests(of probes: [Probe], _ trackers: [TrackerID], _ instrument: Instrument) {
        let reportsResponses = backends.contains { $0.service == "cmcd" }
        guard requests != nil || reportsResponses else { return }
        for (index, (probe, tracker)) in zip(probes, trackers).enumerated() {
            let log = requests?.observer(of: probe, stream: index + 1)
            probe.report(requestsTo: { [weak instrument] record in
                log?(record)
                if reportsResponses {
                    instrument?.emit(.mediaResponse, from: tracker, attributes: record.responseAttributes)
                }
            })
        }
    }

    private func play(_ fleet: ProbeFleet, _ virtual: VirtualClock?, _ clock: any SchedulingClock) async
        -> [ProbeOutcome?]
    {
        guard let virtual else {
            for (index, probe) in fleet.probes.enumerated() {
                let delay = options.spacing.duration * index
                options.schedule(probe, from: clock.now.advanced(by: delay), clock)
            }
            fleet.start()
            return await fleet.waitUntilFinished()
        }
        // Reading blocks, so it needs a thread outside of Swift's pool.
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "player-monitor.play").async {
                let outcomes = fleet.probes.map { probe in
                    options.schedule(probe, from: clock.now, clock)
                    return probe.playThrough(advancing: virtual)
                }
                continuation.resume(returning: outcomes)
            }
        }
    }

    private func showProgress(of fleet: ProbeFleet, _ clock: SystemClock) -> Task<Void, Never>? {
        guard terminal.canShowProgress else { return nil }
        let terminal = terminal
        return Task {
            while !Task.isCancelled {
                terminal.show(progress: ProgressLine.text(of: fleet.probes))
                let interval: Duration = fleet.probes.count == 1 ? .milliseconds(200) : .milliseconds(500)
                try? await clock.sleep(until: clock.now.advanced(by: interval))
            }
        }
    }

    /// Prints the summary: lines for one playback, a table for many, only failures with `--quiet`.
    private func report(_ outcomes: [ProbeOutcome?], _ records: [PlaybackRecord]) {
        if options.quiet {
            for case .failed(let error) in outcomes { terminal.note("player-monitor: \(error)") }
        } else if sources.count == 1, let source = sources.first, let outcome = outcomes.first,
            let record = records.first
        {
            for line in record.lines(headline: "\(source): \(PlaybackEnding(outcome).sentence)") { terminal.note(line) }
        } else {
            var rows: [FleetTable.Row] = []
            for ((source, record), outcome) in zip(zip(sources, records), outcomes) {
                let ending = PlaybackEnding(outcome)
                rows.append(FleetTable.Row(source: source.description, record: record, ending: ending))
            }
            for line in FleetTable(rows).lines { terminal.note(line) }
        }
    }
}

extension PlaybackEnding {
    /// The end of a probe's playback; nil if the probe did not play.
    fileprivate init(_ outcome: ProbeOutcome?) {
        switch outcome {
        case .ended: self = .ended
        case .stopped: self = .stopped
        case .failed(let error): self = .failed(code: "\(error.code)", message: error.message)
        case nil: self = .notPlayed
        }
    }
}
