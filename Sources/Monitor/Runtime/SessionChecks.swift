internal import Instrument
internal import InstrumentCheck
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentMonitor
internal import InstrumentRules
internal import InstrumentWatch

/// Runs the checks of streams beside their sessions, whatever plays these.
package struct SessionChecks: Sendable {
    private let transport: any HTTPTransport
    private let headers: StreamHeaders
    private let clock: any SchedulingClock
    private let executor = CheckExecutor()

    init(transport: any HTTPTransport, headers: StreamHeaders, clock: any SchedulingClock) {
        (self.transport, self.headers, self.clock) = (transport, headers, clock)
    }

    /// Starts the check of a session, which runs until it is cancelled; nil for a stream without checks.
    func start(_ stream: WatchedStream, report: @escaping @Sendable (CheckObservation) -> Void) -> Task<Void, Never>? {
        CheckPlan(stream, headers).map { plan in
            Task(executorPreference: executor) { [transport, clock] in
                await plan.run(stream, transport, clock, report: report)
            }
        }
    }

    /// Starts a check that runs once; nil for a stream without checks.
    func startOnce(
        _ stream: WatchedStream,
        report: @escaping @Sendable (CheckProgress) -> Void
    ) -> Task<Void, Never>? {
        CheckPlan(stream, headers).map { plan in
            Task(executorPreference: executor) { [transport, clock] in
                let all = await plan.runOnce(stream, transport, clock) { report(.found($0)) }
                report(.ended(all))
            }
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
        outline = round.outline
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
