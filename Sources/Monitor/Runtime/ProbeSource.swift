package import Instrument
internal import InstrumentCheck
package import InstrumentHTTP
internal import InstrumentManifests
package import InstrumentMonitor
internal import InstrumentProbe
internal import InstrumentRules
package import InstrumentWatch

/// Plays streams with probes, and runs their checks beside them.
package final class ProbeSource: SessionSource {
    private struct Running {
        var probe: Probe
        var tracker: TrackerID
        var report: @Sendable (MonitorInput) -> Void
        var check: Task<Void, Never>?
    }

    /// How often the gauges of all sessions are read.
    private static let gaugeInterval = Duration.seconds(5)

    private let instrument: Instrument
    private let taps: SessionTaps
    private let transport: any HTTPTransport
    private let userAgent: String
    /// The headers and cookies of sessions and checks.
    private let headers: StreamHeaders
    private let clock: any SchedulingClock
    private let running = Lock<[Int: Running]>([:])
    private let poll = Lock<ScheduledAction?>(nil)
    private let checkExecutor = CheckExecutor()
    /// The checks that people asked for.
    private let checks = Lock<(tasks: [Int: Task<Void, Never>], next: Int)>(([:], 0))
    private let reportsResponses: @Sendable () -> Bool

    /// Creates a source.
    /// - Parameters:
    ///   - instrument: the chain of all sessions, whose metricalc is a ``TappedMetricalc`` with the same taps.
    ///   - taps: passes the events of the chain to the sessions.
    ///   - transport: fetches playlists and segments of all sessions.
    ///   - userAgent: the `User-Agent` of all sessions.
    ///   - headers: the headers and cookies of all requests for streams.
    ///   - clock: the clock of the instrument.
    ///   - reportsResponses: whether a backend needs the responses of requests.
    package init(
        instrument: Instrument,
        taps: SessionTaps,
        transport: any HTTPTransport,
        userAgent: String = InstrumentVersion.userAgent(),
        headers: StreamHeaders = StreamHeaders(),
        clock: any SchedulingClock = SystemClock(),
        reportsResponses: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.instrument, self.taps, self.transport, self.clock) = (instrument, taps, transport, clock)
        (self.userAgent, self.reportsResponses) = (userAgent, reportsResponses)
        self.headers = headers
    }

    package func start(_ id: SessionID, _ stream: WatchedStream, report: @escaping @Sendable (MonitorInput) -> Void) {
        var configuration = ProbeConfiguration(userAgent: userAgent)
        configuration.headers = headers.headers(of: stream.name)
        configuration.keepsCookies = headers.keepsCookies
        if let name = stream.profile, let profile = PlayerProfile(named: name) { configuration.profile = profile }
        let probe = Probe(
            MediaSource(stream.url.secretText),
            configuration: configuration,
            clock: clock,
            transport: transport
        )
        let tracker = AnalyticsValues.with(\.monitorStream, stream.name) { instrument.add(PlayerTracker(probe)) }
        instrument.set(.monitorStream, to: stream.name, in: .tracker(tracker))
        taps.add(tracker) { report(.event($0)) }
        probe.report(requestsTo: { report(.request(RequestObservation($0))) })
        let check = CheckPlan(stream, headers).map { plan in
            Task(executorPreference: checkExecutor) { [transport, clock] in
                await plan.run(stream, transport, clock) { report(.checked($0)) }
            }
        }
        running.withLock { $0[id.number] = Running(probe: probe, tracker: tracker, report: report, check: check) }
        startPolling()
        probe.play()
        Task { [self] in
            let outcome = await probe.waitUntilFinished()
            finish(id, outcome)
        }
    }

    package func stop(_ id: SessionID) { running.withLock { $0[id.number] }?.probe.stop() }

    private func finish(_ id: SessionID, _ outcome: ProbeOutcome?) {
        guard let session = running.withLock({ $0.removeValue(forKey: id.number) }) else { return }
        session.check?.cancel()
        session.probe.report(requestsTo: nil)
        taps.remove(session.tracker)
        instrument.remove(session.tracker)
        instrument.set(.monitorStream, to: nil, in: .tracker(session.tracker))
        session.report(.ended(SessionEnding(outcome)))
    }

    private func startPolling() {
        poll.withLock { action in
            guard action == nil else { return }
            action = clock.schedule(at: clock.now.advanced(by: Self.gaugeInterval)) { [weak self] in self?.readGauges()
            }
        }
    }

    private func readGauges() {
        let sessions = running.withLock { Array($0.values) }
        for session in sessions {
            let (progress, status) = (session.probe.progress, session.probe.status)
            let gauges = PlaybackGauges(bitrate: status.bitrate, buffered: progress.buffered, title: status.title)
            session.report(.gauges(gauges))
        }
        poll.withLock { $0 = nil }
        if !sessions.isEmpty { startPolling() }
    }
}

extension ProbeSource: StreamChecker {
    package func check(_ stream: WatchedStream, report: @escaping @Sendable (CheckProgress) -> Void) {
        guard let plan = CheckPlan(stream, headers) else { return report(.ended(nil)) }
        checks.withLock { checks in
            checks.next += 1
            let number = checks.next
            checks.tasks[number] = Task(executorPreference: checkExecutor) { [self] in
                let all = await plan.runOnce(stream, transport, clock) { report(.found($0)) }
                report(.ended(all))
                self.checks.withLock { $0.tasks[number] = nil }
            }
        }
    }

    package func cancelChecks() { for task in checks.withLock({ Array($0.tasks.values) }) { task.cancel() } }
}

extension RequestObservation {
    init(_ record: RequestRecord) {
        self.init(
            kind: "\(record.kind)",
            status: record.status,
            isFailure: record.failure != nil,
            total: record.total,
            byteCount: record.byteCount,
            failure: record.failureKind.map { Failure($0) },
            address: record.url,
            begin: record.begun,
            wait: record.firstByte
        )
    }
}

extension RequestObservation.Failure {
    init(_ kind: RequestFailureKind) {
        self =
            switch kind {
            case .status: .status
            case .timedOut: .timedOut
            case .connection: .connection
            case .nameNotFound: .nameNotFound
            case .tls: .tls
            case .content: .content
            case .refused: .refused
            case .cancelled: .cancelled
            }
    }
}

extension SessionEnding {
    init(_ outcome: ProbeOutcome?) {
        switch outcome {
        case .ended: self = .ended
        case .stopped, nil: self = .stopped
        case .failed(let error): self = .failed(code: "\(error.code)", message: error.message)
        }
    }
}

/// The checks that run beside a session.
struct CheckPlan {
    /// One run of a check ends after this time, so that what it remembers is bounded.
    private static let longestRun = Duration.seconds(900)
    /// The shortest interval between the starts of two runs.
    private static let shortestRound = Duration.seconds(60)
    /// The length of a check that a person asked for.
    private static let onceDuration = Duration.seconds(30)

    private let configuration: StreamCheckConfiguration

    /// Creates a plan; nil for a stream without checks.
    init?(_ stream: WatchedStream, _ headers: StreamHeaders = StreamHeaders()) {
        let settings = stream.checks
        var configuration = StreamCheckConfiguration()
        configuration.headers = headers.headers(of: stream.name)
        configuration.keepsCookies = headers.keepsCookies
        configuration.keepsEvidence = true
        var media = MediaCheckConfiguration()
        (media.black, media.freeze, media.silence) = (settings.black, settings.freeze, settings.silence)
        media.loudness = settings.loudness ?? false
        media.allPictures = settings.allPictures ?? false
        guard settings.isOn else { return nil }
        let needsMedia = settings.needsMedia
        let ignored = Set(settings.ignoredRules)
        configuration.rules = settings.rules == true ? Rule.all.filter { !ignored.contains($0.id.description) } : []
        if settings.rules != true {
            // A playlist that cannot be fetched is no playlist that is kept.
            configuration.rules = Rule.all.filter { $0.id == "manifest-unavailable" }
        }
        if needsMedia {
            configuration.mediaChecks = media
            configuration.segmentCount = 3
            configuration.fetchesOnlyDecodedRenditions = settings.segments ?? 0 == 0
        }
        if let count = settings.segments { configuration.segmentCount = max(count, configuration.segmentCount) }
        configuration.duration = Self.longestRun
        if case .sampled(_, let length) = stream.schedule { configuration.duration = length }
        self.configuration = configuration
    }

    /// Runs the check once, for half a minute if the stream is live.
    /// - Returns: all that it found; nil if it was cancelled.
    func runOnce(
        _ stream: WatchedStream,
        _ transport: any HTTPTransport,
        _ clock: any SchedulingClock,
        report: @escaping @Sendable (CheckObservation) -> Void
    ) async -> CheckObservation? {
        var configuration = configuration
        configuration.duration = min(configuration.duration, Self.onceDuration)
        let check = StreamCheck(stream.url, transport: transport, clock: clock, configuration: configuration)
        let sum = Lock(CheckObservation(isReadable: false))
        _ = await check.run(reportingRounds: { round in
            let observation = CheckObservation(round)
            sum.withLock { $0.add(observation) }
            report(observation)
        })
        return Task.isCancelled ? nil : sum.withLock { $0 }
    }

    /// Runs the check until the task is cancelled; for a sampled stream once.
    func run(
        _ stream: WatchedStream,
        _ transport: any HTTPTransport,
        _ clock: any SchedulingClock,
        report: @escaping @Sendable (CheckObservation) -> Void
    ) async {
        let (ages, findings) = (Lock(PlaylistAges()), Lock(RepeatedFindings()))
        var wasShort = false
        repeat {
            let next = clock.now.advanced(by: Self.shortestRound)
            let check = StreamCheck(stream.url, transport: transport, clock: clock, configuration: configuration)
            ages.withLock { $0.beginRun() }
            findings.withLock { $0.beginRun(carries: wasShort) }
            _ = await check.run(reportingRounds: { round in
                let now = clock.now
                let observation = CheckObservation(ages.withLock { $0.complete(round, at: now) })
                report(findings.withLock { $0.complete(observation) })
            })
            wasShort = clock.now < next
            guard stream.schedule == .continuous else { return }
            do { try await clock.sleep(until: next, tolerance: nil) } catch { return }
        } while !Task.isCancelled
    }
}

extension CheckObservation {
    /// Adds a later round of the same check.
    fileprivate mutating func add(_ round: CheckObservation) {
        broken.removeAll { known in round.broken.contains { $0.rule == known.rule } }
        broken += round.broken
        (playlistAge, targetDuration, loudness) = (round.playlistAge, round.targetDuration, round.loudness)
        isReadable = isReadable || round.isReadable
    }

    init(_ round: StreamCheckRound) {
        self.init(
            broken: round.broken.map { Broken(rule: $0.rule.description, message: $0.message) }
                + round.media.map { Broken(rule: $0.kind.rawValue, message: $0.message) },
            playlistAge: round.playlistAge,
            targetDuration: round.targetDuration,
            loudness: round.loudness,
            isReadable: round.isReadable
        )
        evidence = round.evidence.mapValues { $0.map { EvidencePiece($0) } }
    }
}

extension EvidencePiece {
    init(_ evidence: CheckEvidence) {
        let kind: EvidenceKind =
            switch evidence.kind {
            case .picture: .picture
            case .playlist: .playlist
            case .segment: .segment
            }
        self.init(kind, ending: evidence.ending, text: evidence.text, bytes: evidence.bytes)
    }
}
