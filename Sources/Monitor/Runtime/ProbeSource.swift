package import Instrument
package import InstrumentHTTP
package import InstrumentMonitor
internal import InstrumentProbe
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
    /// The checks beside sessions, also beside those of another source.
    package let checks: SessionChecks
    private let clock: any SchedulingClock
    private let running = Lock<[Int: Running]>([:])
    private let poll = Lock<ScheduledAction?>(nil)
    /// The checks that people asked for.
    private let wanted = Lock<(tasks: [Int: Task<Void, Never>], next: Int)>(([:], 0))
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
        checks = SessionChecks(transport: transport, headers: headers, clock: clock)
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
        let check = checks.start(stream) { report(.checked($0)) }
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
        let hasChecks = wanted.withLock { wanted in
            wanted.next += 1
            let number = wanted.next
            wanted.tasks[number] = checks.startOnce(stream) { [self] progress in
                report(progress)
                if case .ended = progress { self.wanted.withLock { $0.tasks[number] = nil } }
            }
            return wanted.tasks[number] != nil
        }
        if !hasChecks { report(.ended(nil)) }
    }

    package func cancelChecks() { for task in wanted.withLock({ Array($0.tasks.values) }) { task.cancel() } }
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
        server = record.serverAddress
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
            case .proxy: .proxy
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
