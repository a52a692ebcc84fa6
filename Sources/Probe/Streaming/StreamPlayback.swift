internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Something that happens to a stream's playback.
enum StreamEvent: Sendable {
    case command(PlaybackCommand)
    /// A request has ended.
    case fetched(number: Int, Result<ResourceResponse, ResourceFailure>)
    /// More bytes of a segment have arrived.
    case progressed
    /// A deadline has come.
    case alarm
}

/// The playback of a stream: one session, and the values that load the stream for it.
///
/// A value without a network or a clock: events come in, commands for the network gather in `fetches`. Each loading
/// value keeps its state private, reads a ``PlaybackView``, and returns effects; `apply` alone carries effects out.
/// `handle` is the only way in.
struct StreamPlayback: DrivenPlayback {
    let source: MediaSource
    let profile: PlayerProfile
    var session: PlaybackSession
    var fetches: FetchTable
    var manifest: ManifestLoading
    var tracks: [StreamRole: TrackLoading] = [:]
    var choice: RenditionChoice
    var live: LivePositioning
    var store = SegmentStore()
    var feed: MediaFeed
    var warnings = WarningLimiter()
    var randomness: RandomSource
    /// Whether nothing more is loaded: because of an error, or because everything is loaded.
    var isOver = false

    init(source: MediaSource, configuration: ProbeConfiguration, randomness: RandomSource) {
        self.source = source
        self.randomness = randomness
        profile = configuration.profile
        session = PlaybackSession(source: source, configuration: configuration)
        fetches = FetchTable(configuration)
        manifest = ManifestLoading(source, staleAfter: profile.live.staleAfter)
        choice = RenditionChoice(configuration)
        live = LivePositioning(profile.live)
        feed = MediaFeed(profile.segmentUse)
    }

    /// Whether parts of segments matter now, so that the engine has to report progress.
    func wantsProgress(at now: Timestamp) -> Bool { !isOver && feed.wantsParts(view(now)) }

    func view(_ now: Timestamp) -> PlaybackView { session.view(at: now) }

    /// The renditions that are played.
    var renditionsInUse: [Rendition.ID] { StreamRole.allCases.compactMap { tracks[$0]?.renditionInUse } }
}

// MARK: Events
extension StreamPlayback {
    /// Handles an event, and everything that has become due.
    mutating func handle(_ event: StreamEvent, now: Timestamp) {
        // Media that arrived before the event counts first, so that the session sees no stall where there was enough.
        takeParts(now)
        session.advance(to: now.instant)
        switch event {
        case .command(let command): perform(command, now)
        case .fetched(let number, let result): fetched(number, result, now)
        case .alarm: alarm(now)
        case .progressed: break
        }
        session.advance(to: now.instant)
        if session.outcome == nil { pump(now) } else { endLoading() }
    }

    private mutating func perform(_ command: PlaybackCommand, _ now: Timestamp) {
        switch command {
        case .play: begin(now)
        case .seek(let target): jump(to: destination(of: target, now), now)
        case .pause, .resume, .setRate, .stop: session.perform(command, now: now.instant)
        }
    }

    private mutating func begin(_ now: Timestamp) {
        guard session.request(now: now.instant), case .http(let text) = source.location else { return }
        do throws(HTTPError) {
            apply(.fetch(.manifest, try HTTPURL(text), nil), now)
        } catch {
            apply(.exhausted(ProbeError(.refusedAddress, .manifest, source, error.message)), now)
        }
    }

    private func destination(of target: Int64, _ now: Timestamp) -> Int64 {
        guard let state = tracks[.main]?.renditionInUse.flatMap({ manifest[$0] }) else { return target }
        return live.destination(of: target, in: state, view(now))
    }

    private mutating func fetched(
        _ number: Int,
        _ result: Result<ResourceResponse, ResourceFailure>,
        _ now: Timestamp
    ) {
        guard let fetching = fetches.end(number), !isOver else { return }
        switch result {
        case .success(let response):
            session.count(requestOf: response.bytes.count, throughput: response.throughput(fetching), hasFailed: false)
            arrived(response, fetching, now)
        case .failure(let failure):
            session.count(requestOf: fetching.buffer.count, throughput: nil, hasFailed: true)
            failed(fetching, failure, now)
        }
        pump(now)
    }

    private mutating func alarm(_ now: Timestamp) {
        guard !isOver else { return }
        for fetching in fetches.overdue(at: now.instant) {
            // The failure of an earlier request may have cancelled this one.
            guard fetches.isRunning(fetching.number), !isOver else { continue }
            fetches.cancel(fetching.number, .tooLate)
            session.count(requestOf: fetching.buffer.count, throughput: nil, hasFailed: true)
            failed(fetching, .tooLate, now)
        }
        reconsider(now)
        pump(now)
    }
}

// MARK: Deadlines
extension StreamPlayback {
    func deadline(at now: MonotonicInstant, wallTime: @autoclosure () -> WallTime) -> MonotonicInstant? {
        if isOver { return nil }
        let wallTime = wallTime()
        var next = fetches.deadlines(after: now) + manifest.deadlines(renditionsInUse, fetches)
        if let check = choice.reconsiderAt { next.append(check) }
        next += StreamRole.allCases.compactMap { deadline(of: $0, now, wallTime) }
        guard let first = next.filter({ $0.nanoseconds < .max }).min() else { return nil }
        // A deadline that has passed and was not met waits for something else; an immediate alarm would repeat without
        // end.
        return first > now ? first : now.advanced(by: .milliseconds(10))
    }

    /// When a track has room again, or its segment becomes available.
    private func deadline(of role: StreamRole, _ now: MonotonicInstant, _ wallTime: WallTime) -> MonotonicInstant? {
        guard let track = tracks[role], !track.isAtEnd, !fetches.isBusy(role) else { return nil }
        if track.takesBreak { return now }
        if let plan = track.plan {
            guard let availability = plan.segment?.availability, availability > wallTime else { return nil }
            return now.advanced(by: .milliseconds(availability.milliseconds.saturatingSubtract(wallTime.milliseconds)))
        }
        guard let model = session.model else { return nil }
        // One nanosecond less than wanted, so that the buffer has room then.
        let wanted = track.wantedLevel(profile, manifest.ladder)
        return model.instant(ofPlaying: track.loadedEnd.saturatingSubtract(wanted).saturatingAdd(1))
    }
}

extension ResourceResponse {
    /// What a segment came at, bit/s; nil for other resources.
    fileprivate func throughput(_ fetching: Fetching) -> Int? {
        let time = arrivals.last.map { fetching.begun.duration(to: $0).seconds } ?? 0
        guard fetching.purpose.kind == .segment, time > 0 else { return nil }
        return Int(clamping: Int64(clamping: Double(bytes.count) * 8 / time))
    }
}
