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
    /// A deadline has passed.
    case alarm
}

/// The playback of a stream: one session, and the values that load the stream for it.
///
/// A value without a network or a clock: events enter through `handle`, and commands for the network gather in
/// `fetches`. Each loading value has private state, reads a ``PlaybackView``, and returns effects, which only `apply`
/// applies.
struct StreamPlayback: DrivenPlayback {
    let source: MediaSource
    private(set) var profile: PlayerProfile
    var session: PlaybackSession
    var fetches: FetchTable
    var manifest: ManifestLoading
    var tracks = TrackTable()
    var choice: RenditionChoice
    var live: LivePositioning
    var store: SegmentStore
    var held = HeldSegments()
    var hints: HintLoading
    var inspection: CaptionInspection
    var feed: MediaFeed
    var firstMedia: FirstMedia
    var subtitles: SubtitleLoading
    var licence: LicenceLoading
    var warnings = WarningLimiter()
    var failureCount = FailureCount()
    /// Compares dropped with decoded pictures, where the profile does, from the first request for media on.
    var droppedFrames: DroppedFrameWatch?
    var randomness: RandomSource
    /// The reports on requests; nil if the configuration has none.
    var reports: RequestReports?
    /// What reports say of a main rendition whose bitrate is not declared.
    var measured = MeasuredBitrate()
    /// How far the loading has come.
    var phase = Phase.loading
    /// Whether all tracks continue at another position, which the next round of ``pump(_:)`` sees.
    var hasMoved = false
    /// What the stream says of ads; nil if nobody asks.
    var ads: StreamAdReader?
    /// The number of requests that were cancelled and not yet reported as such.
    var openCancellations = 0
    var isSettled: Bool { openCancellations == 0 }

    init(source: MediaSource, configuration: ProbeConfiguration, randomness: RandomSource) {
        self.source = source
        self.randomness = randomness
        profile = configuration.profile
        store = SegmentStore(asksAgain: profile.initializationLoading == .ofEachRendition)
        session = PlaybackSession(source: source, configuration: configuration)
        session.media.isOfStream = true
        fetches = FetchTable(configuration)
        manifest = ManifestLoading(
            source,
            staleAfter: profile.live.staleAfter,
            includesAudio: profile.ladderIncludesAudio,
            selection: profile.ladderSelection,
            reloading: PlaylistReloading(
                usesParts: profile.live.usesParts,
                // A delta update leaves out the tags of ads in the segments that it skips.
                usesDeltas: configuration.ads == nil,
                longestHold: configuration.profile[retry: .playlist].limited(by: configuration).longestSilence,
                rhythm: profile.live.reloadRhythm
            ),
            usesPatches: profile.live.usesPatches
        )
        choice = RenditionChoice(configuration)
        live = LivePositioning(profile.live, declaredStart: profile.declaredStart)
        hints = HintLoading(profile.live.preloadedHints)
        inspection = CaptionInspection(isDue: profile.inspectsCaptions)
        feed = MediaFeed(profile.segmentUse, profile.demuxerLookahead)
        firstMedia = FirstMedia(profile)
        subtitles = SubtitleLoading(configuration.subtitles)
        licence = LicenceLoading(configuration.licenceURL)
        if configuration.ads != nil { ads = StreamAdReader() }
        if let reporting = configuration.requestReporting, case .http(let text) = source.location,
            let url = try? HTTPURL(text)
        {
            let identifier = randomness.identifier()
            reports = RequestReports(reporting, session: identifier, sourceHost: url.host)
            session.requestSession = identifier
        }
    }

    /// Changes to the profile's low-latency mode, if the stream is one; before the first segment.
    mutating func enterLowLatency(for state: RenditionState) {
        guard state.isLowLatency, profile.lowLatency != nil else { return }
        profile = profile.inLowLatency
        live.adopt(profile.live)
        feed = MediaFeed(profile.segmentUse, profile.demuxerLookahead)
    }

    /// Whether parts of segments matter now, so that the engine has to report progress.
    func wantsProgress(at now: Timestamp) -> Bool { !isOver && feed.wantsParts(view(now)) }

    func view(_ now: Timestamp) -> PlaybackView { session.view(at: now) }

    /// ``PlaybackView/position`` without a view.
    func position(at now: Timestamp) -> Int64 {
        session.model?.position(at: now.instant) ?? session.pendingSeek ?? 0
    }

    /// What a track loads next; nil before the first choice.
    func plan(of role: StreamRole) -> TrackLoading.Plan? {
        role == .subtitles ? subtitles.track?.plan : tracks[role]?.plan
    }

    /// Whether nothing more is loaded: because of an error, or because everything is loaded.
    var isOver: Bool { phase == .over }

    /// Whether the video is inspected for its captions: meanwhile, nothing is loaded again.
    var isInspecting: Bool { inspection.isRunning(tracks[.main]?.plan) }

    /// The renditions that are played.
    var renditionsInUse: [Rendition.ID] { StreamRole.media.compactMap { tracks[$0]?.renditionInUse } }
}

// MARK: Events
extension StreamPlayback {
    /// Handles an event and all passed deadlines.
    mutating func handle(_ event: StreamEvent, now: Timestamp) {
        // Media that arrived before the event comes first, so that the session reports no stall while media was
        // available.
        takeParts(now)
        session.advance(to: now.instant)
        switch event {
        case .command(let command): perform(command, now)
        case .fetched(let number, let result): fetched(number, result, now)
        case .alarm: alarm(now)
        case .progressed: break
        }
        session.advance(to: now.instant)
        pump(now)
        // The end of loading may be the end of playback.
        session.advance(to: now.instant)
        if session.outcome != nil { endLoading() }
    }

    private mutating func perform(_ command: PlaybackCommand, _ now: Timestamp) {
        switch command {
        case .play: begin(now)
        case .seek(let target): jump(to: destination(of: target, now), now)
        case .relocate(let target): relocateContent(to: target, now)
        case .pause, .resume, .setRate, .stop, .hold, .release, .noteAd, .mark:
            session.perform(command, now: now.instant)
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
            session.count(fetching.finished(with: response, at: now.instant), at: now.instant)
            arrived(response, fetching, now)
        case .failure(let failure):
            session.count(fetching.ended(at: now.instant, hasFailed: true), at: now.instant)
            failed(fetching, failure, now)
        }
    }

    private mutating func alarm(_ now: Timestamp) {
        guard !isOver else { return }
        for fetching in fetches.overdue(at: now.instant) {
            // The failure of an earlier request may have cancelled this one.
            guard fetches.isRunning(fetching.number), !isOver else { continue }
            fetches.cancel(fetching.number, .tooLate)
            session.count(fetching.ended(at: now.instant, hasFailed: true), at: now.instant)
            failed(fetching, .tooLate, now)
        }
        reconsider(now)
        leaveDroppingRung(now)
    }
}

// MARK: Deadlines
extension StreamPlayback {
    func deadline(at timestamp: Timestamp) -> MonotonicInstant? {
        if isOver { return nil }
        let now = timestamp.instant
        let loaded = renditionsInUse + [subtitles.rendition].compactMap(\.self)
        var next = fetches.deadlines(after: now) + (isInspecting ? [] : manifest.deadlines(loaded, fetches))
        if let check = choice.reconsiderAt { next.append(check) }
        if let look = droppedFrames?.next { next.append(look) }
        next += StreamRole.media.compactMap { deadline(of: $0, timestamp) } + subtitleDeadlines(timestamp)
        guard let first = next.filter({ $0.nanoseconds < .max }).min() else { return nil }
        // A deadline that has passed without an effect depends on another event; an immediate alarm would repeat
        // endlessly.
        return first > now ? first : now.advanced(by: .milliseconds(10))
    }

    /// With enough media in the buffer, requests may begin a little later than planned, so that the threads of many
    /// streams wake up together. Players look for room at longer intervals; a short pause is exact, because many of
    /// them follow one another. The instants of signals are exact anyway.
    func tolerance(at now: MonotonicInstant) -> Duration {
        guard let model = session.model, model.hasStarted, !model.isWaiting,
            model.level(at: now) >= Self.comfortableLevel,
            !tracks.all.contains(where: { $0.pause(at: now).map { $0 < Self.shortPause } ?? false })
        else { return .zero }
        return Self.alarmTolerance
    }

    private static let comfortableLevel: Int64 = 2_000_000_000
    private static let alarmTolerance: Duration = .milliseconds(10)
    private static let shortPause: Duration = .milliseconds(100)

    /// The instant at which a track has room again, or its segment becomes available.
    private func deadline(of role: StreamRole, _ timestamp: Timestamp) -> MonotonicInstant? {
        let (now, wallTime) = (timestamp.instant, timestamp.wallTime)
        guard let track = tracks[role], !track.isAtEnd, !fetches.isBusy(role) else { return nil }
        if track.takesBreak { return now }
        switch track.phase {
        case .ended: return nil
        case .looking(let look):
            if let next = look.next, next > now, isBelowWantedLevel(role, track, timestamp) { return next }
            // The other track's next segment causes the next step.
            guard isInStep(role, now), let model = session.model else { return nil }
            // One nanosecond less, so that the buffer has room at that instant.
            let empty = track.loadedEnd.saturatingSubtract(wantedLevel(role, track)).saturatingAdd(1)
            return model.instant(ofPlaying: empty).map { track.check(for: $0, interval: profile.bufferCheck.interval) }
        case .awaiting(_, let next?): return next > now ? next : nil
        case .planned(let plan) where (plan.begins ?? now) > now: return plan.begins
        case .planned(let plan), .awaiting(let plan, nil):
            guard let availability = plan.segment?.availability, availability > wallTime else { return nil }
            return now.advanced(by: .milliseconds(availability.milliseconds.saturatingSubtract(wallTime.milliseconds)))
        }
    }
}
