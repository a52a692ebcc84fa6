package import Instrument
package import InstrumentHTTP
internal import InstrumentMonitor
internal import InstrumentProbe
internal import InstrumentQuality
internal import InstrumentTransport
internal import InstrumentWatch

/// Plays a stream once for a scrape, as a blackbox exporter does.
///
/// Only streams of the configuration, and URLs on the host and port of one, are played: the page is no way into the
/// network of the monitor. Addresses that only this machine or its network can reach are refused, redirects and
/// playlists included, unless the configuration names such an address for that host.
///
/// The number of probes is limited for each stream, so that streams that do not answer take no probe from another.
package final class ProbePage: Sendable {
    package enum Refusal: Error, Hashable, Sendable { case notConfigured, busy }

    /// Two scrapers that watch the same streams.
    private static let mostPerStream = 2
    /// Half of the server's connections, so that the other pages have the other half.
    private static let mostAtOnce = 128
    private static let usualLimit = 10.0

    private let transport: any HTTPTransport
    private let guarded: any HTTPTransport
    private let userAgent: String
    private let headers: StreamHeaders
    private let clock: any SchedulingClock
    /// Probes that run, by the name of their stream.
    private let running = Lock<[String: Int]>([:])

    /// - Parameters:
    ///   - transport: for configured private addresses.
    ///   - guarded: refuses private addresses.
    ///   - userAgent: the `User-Agent` of the probe.
    ///   - headers: the headers and cookies of the streams.
    package init(
        transport: any HTTPTransport,
        guarded: any HTTPTransport,
        userAgent: String = InstrumentVersion.userAgent(),
        headers: StreamHeaders = StreamHeaders(),
        clock: any SchedulingClock = SystemClock()
    ) {
        (self.transport, self.guarded, self.userAgent, self.clock) = (transport, guarded, userAgent, clock)
        self.headers = headers
    }

    /// Plays a target and returns the page.
    func run(
        _ target: String,
        _ configuration: WatchConfiguration,
        scrapeTimeout: Double?,
        _ format: MetricsWriter.Format
    ) async -> Result<[UInt8], Refusal> {
        guard let (url, stream) = Self.resolve(target, configuration) else { return .failure(.notConfigured) }
        let isFree = running.withLock { running in
            let isBusy = running[stream.name, default: 0] >= Self.mostPerStream
            if isBusy || running.values.reduce(0, +) >= Self.mostAtOnce { return false }
            running[stream.name, default: 0] += 1
            return true
        }
        guard isFree else { return .failure(.busy) }
        defer {
            running.withLock { running in
                let left = (running[stream.name] ?? 1) - 1
                running[stream.name] = left > 0 ? left : nil
            }
        }
        let limit = Self.limit(scrapeTimeout: scrapeTimeout)
        return .success(await play(url, stream, within: .seconds(limit), format))
    }

    /// The time of a probe in seconds, at most 120: what the scrape allows, without half a second for the answer
    /// itself, or a fifth of a short time.
    ///
    /// - Parameter scrapeTimeout: the value of `X-Prometheus-Scrape-Timeout-Seconds`; 10 s without a usable value.
    static func limit(scrapeTimeout: Double?) -> Double {
        let allowed = scrapeTimeout.flatMap { $0 > 0 && $0.isFinite ? $0 : nil } ?? usualLimit
        return min(allowed - min(0.5, allowed / 5), 120)
    }

    /// The stream that a target names, or whose host and port the target's are.
    static func resolve(_ target: String, _ configuration: WatchConfiguration) -> (HTTPURL, WatchedStream)? {
        // A probe plays no web page.
        let streams = configuration.streams.lazy.filter { $0.player != .page }
        if let stream = streams.first(where: { $0.name == target }) { return (stream.url, stream) }
        guard let url = try? HTTPURL(target), url.userInfo == nil,
            let stream = streams.first(where: { $0.url.origin == url.origin })
        else { return nil }
        return (url, stream)
    }

    private func play(
        _ url: HTTPURL,
        _ stream: WatchedStream,
        within limit: Duration,
        _ format: MetricsWriter.Format
    ) async -> [UInt8] {
        let isPrivate = stream.url.hasPrivateHost
        var configuration = ProbeConfiguration(allowsPrivateAddresses: isPrivate, userAgent: userAgent)
        configuration.headers = headers.headers(of: stream.name)
        configuration.keepsCookies = headers.keepsCookies
        if let name = stream.profile, let profile = PlayerProfile(named: name) { configuration.profile = profile }
        let taps = SessionTaps()
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: TappedMetricalc(taps),
            clock: clock,
            onDiagnostic: { _ in }
        )
        let model = Lock<SessionModel?>(nil)
        let started = Gate()
        let probe = Probe(
            MediaSource(url.secretText),
            configuration: configuration,
            clock: clock,
            transport: isPrivate ? transport : guarded
        )
        let tracker = instrument.add(PlayerTracker(probe))
        taps.add(tracker) { event in
            let isOver = model.withLock { model in
                if model == nil { model = SessionModel(opening: event) } else { model?.observe(event) }
                return model?.session.startup.hasStarted == true || model?.state.isTerminal == true
            }
            if isOver { started.open() }
        }
        let begin = clock.now
        // The first picture answers the question; a stream that shows none is given up at the limit.
        let alarm = clock.schedule(at: begin.advanced(by: limit)) { started.open() }
        probe.play()
        await started.wait()
        alarm.cancel()
        probe.stop()
        let outcome = await probe.waitUntilFinished()
        let elapsed = begin.duration(to: clock.now)
        await instrument.shutdown(timeout: .zero)
        return Self.page(model.withLock { $0?.session }, outcome, elapsed, format)
    }

    private static func page(
        _ session: QualitySession?,
        _ outcome: ProbeOutcome?,
        _ elapsed: Duration,
        _ format: MetricsWriter.Format
    ) -> [UInt8] {
        var writer = MetricsWriter(format)
        let startup = session?.startup.elapsed
        writer.begin("probe_success", .gauge, "1 if the stream showed a picture.")
        writer.sample(startup == nil ? 0 : 1, [])
        writer.begin("probe_duration_seconds", .gauge, "Time that the probe took.", unit: "seconds")
        writer.sample(elapsed.seconds, [])
        if let startup {
            writer.begin(
                "instrument_probe_startup_seconds",
                .gauge,
                "Time from the request to the first picture.",
                unit: "seconds"
            )
            writer.sample(Double(startup) / 1000, [])
        }
        if let session {
            writer.begin("instrument_probe_requests", .gauge, "Requests of the probe.")
            writer.sample(Double(session.network.requests), [])
        }
        if case .failed(let error) = outcome {
            writer.begin("instrument_probe_failure", .gauge, "1 for the code of the failure.")
            writer.sample(1, MetricsWriter.labels([("code", "\(error.code)")]))
        }
        writer.finish()
        return writer.bytes
    }
}
