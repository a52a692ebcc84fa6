internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentTransport

/// Loads and reloads the manifest and the playlists, and has their content: the ladder, the renditions and their
/// segments.
struct ManifestLoading: Sendable {
    /// The instant since which a live playlist is expected to change.
    private struct Watch: Hashable {
        var since: MonotonicInstant
        var isLate = false
    }

    /// The wait for the beginning of a presentation that is not worth a warning, in nanoseconds.
    private static let longestSilentWait: Int64 = 10_000_000_000

    private let source: MediaSource
    private let staleAfter: LivePolicy.Distance?
    /// Whether the bitrate of a rung includes the audio that is fetched apart.
    private let includesAudio: Bool
    private let selection: LadderSelection
    private let reloading: PlaylistReloading
    /// Whether the player loads patches of MPDs.
    private let usesPatches: Bool
    /// The clock of the server.
    private(set) var clock = ServerClock()
    /// The elements of the MPD that are elsewhere.
    var elements = ElementLoading()
    private var steering = ServerSteering()
    /// The servers that have the same content.
    private var locations = LocationTable()
    /// What playlists say of the playlists of other renditions.
    private var reports: [HTTPURL: RenditionReport] = [:]
    private(set) var presentation: Presentation?
    /// The rungs, each of which has the variant's place in the presentation as its `id`.
    private(set) var ladder: BitrateLadder?
    private var renditions: [Rendition.ID: RenditionState] = [:]
    /// Relates the playlists of all renditions to one timeline.
    private var axis = TimelineAxis()
    /// The instant of the MPD's next reload.
    private var updateAt: MonotonicInstant?
    private var watches: [Rendition.ID: Watch] = [:]
    /// The rendition of a variant's own playlist that came last.
    private var latestPlaylist: Rendition.ID?

    init(
        _ source: MediaSource,
        staleAfter: LivePolicy.Distance?,
        includesAudio: Bool = false,
        selection: LadderSelection = LadderSelection(),
        reloading: PlaylistReloading = PlaylistReloading(),
        usesPatches: Bool = false
    ) {
        self.reloading = reloading
        self.usesPatches = usesPatches
        self.source = source
        self.staleAfter = staleAfter
        self.includesAudio = includesAudio
        self.selection = selection
    }

    subscript(id: Rendition.ID) -> RenditionState? { renditions[id] }

    /// Whether the playlist of a rung has to be loaded before its next segment (HLS).
    func needsPlaylist(at rung: Int) -> Bool {
        guard let state = variant(at: rung).flatMap({ self[$0.main] }), state.playlistURL != nil else { return false }
        return state.timeline == nil || state.isLive
    }

    /// Whether the playlist of another variant came after that of a variant's main rendition, so that its live window
    /// may be an old one.
    func isSuperseded(_ id: Rendition.ID) -> Bool {
        guard let state = self[id], state.isLive, state.reloadAt != nil, state.timeline?.kind == .live else {
            return false
        }
        return latestPlaylist.map { $0 != id } ?? false
    }

    func variant(at rung: Int) -> Variant? {
        guard let ladder, let presentation else { return nil }
        let index = ladder[rung].id
        return presentation.variants.indices.contains(index) ? presentation.variants[index] : nil
    }

    /// Whether a rendition is the video of a variant, or its only media.
    func isMain(_ id: Rendition.ID) -> Bool { presentation?.variants.contains { $0.main == id } ?? false }

    func language(of id: Rendition.ID) -> String? { renditions[id]?.rendition.language }

    /// Removes the renditions that are neither in the manifest nor in use.
    mutating func keepOnly(_ kept: Set<Rendition.ID>) { renditions = renditions.filter { kept.contains($0.key) } }
}

// MARK: Arrivals
extension ManifestLoading {
    /// Takes a manifest that was fetched for the first time, or again.
    mutating func take(_ parsed: Presentation, begun: MonotonicInstant) throws(ResourceFailure) -> [StreamEffect] {
        var parsed = parsed
        if !usesPatches { parsed.forgetDocument() }
        let isFirst = presentation == nil
        if let format = presentation?.format, format != parsed.format {
            throw .wrongContent(
                "the reloaded manifest has another format (found \(parsed.format), expected \(format)); check the server"
            )
        }
        try Self.checkWholeMedia(parsed)
        let change = takeLadder(of: parsed)
        locations.take(parsed)
        for rendition in parsed.renditions { take(rendition, of: parsed, begun: begun) }
        var orderWarning: StreamWarning?
        if isFirst {
            locations.prefer(steering.take(parsed.steering, now: begun))
            orderWarning = takeWrittenOrder(of: parsed, now: begun)
            movePlaylists()
        }
        // Only renditions of this manifest: a representation that was removed would remain due permanently.
        let targets = parsed.renditions.compactMap { renditions[$0.id]?.index?.targetDuration }
        updateAt = parsed.live?.nextReload(afterLoadAt: begun, targetDuration: targets.min() ?? 0)
        if let change { return [.ladderChanged(change), .durationChanged(parsed.duration)] }
        guard isFirst else { return [.durationChanged(parsed.duration)] }
        let warnings = parsed.notices.map { StreamWarning(.notSupported, $0.message, parsed.url) }
        return [.manifestLoaded(duration: parsed.duration)]
            + (warnings + [orderWarning].compactMap(\.self)).map { .warned($0) }
    }

    /// The warning of a presentation that begins later than in a moment, for which playback waits; nil for others.
    func wait(at now: WallTime) -> StreamWarning? {
        guard let presentation, let begin = presentation.beginning, let first = presentation.firstAvailability,
            case let wait = first.nanoseconds(since: now), wait > Self.longestSilentWait
        else { return nil }
        let found =
            begin > now
            ? "the presentation begins at \(begin.rfc3339)" : "the first segment is available at \(first.rfc3339)"
        let message =
            "\(found), and playback waits until then; "
            + "correct availabilityStartTime if the stream is on air"
        var warning = StreamWarning(.notBegun, message, presentation.url)
        // Media that is far behind the beginning is a fault of the timeline.
        if begin > now { warning.wait = .nanoseconds(wait) }
        return warning
    }

    /// Refuses a playlist of keyframes in the place of the whole media: its gaps are no fault of the media.
    private static func checkWholeMedia(_ parsed: Presentation) throws(ResourceFailure) {
        for case .loaded(let playlist) in parsed.renditions.map(\.source) where playlist.isIFramesOnly {
            throw .wrongContent(
                "the playlist has keyframes alone (EXT-X-I-FRAMES-ONLY), for trick play; play that of the whole media"
            )
        }
    }

    /// Takes a media playlist that was fetched for the first time, or again.
    ///
    /// - Parameter received: the begin of the response, which a server may have held; nil for `begun`.
    mutating func take(
        _ parsed: HLSPlaylist,
        of id: Rendition.ID,
        at url: HTTPURL,
        isNumberedAlike: Bool,
        begun: MonotonicInstant,
        received: MonotonicInstant? = nil
    ) throws(ResourceFailure) -> [StreamEffect] {
        guard var state = renditions[id] else { return [] }
        guard case .media(let playlist) = parsed else {
            throw .wrongContent("expected a media playlist, found a multivariant playlist; check the variant's address")
        }
        guard playlist.skippedCount == 0 || state.timeline != nil else {
            throw .wrongContent(
                "the playlist is a delta update (EXT-X-SKIP), which nobody asked for; check the server"
            )
        }
        if reloading.usesParts { take(reportsOf: playlist) }
        state.take(
            playlist,
            on: &axis,
            isNumberedAlike: isNumberedAlike,
            begun: begun,
            received: received ?? begun
        )
        if isMain(id) { latestPlaylist = id }
        var effects: [StreamEffect] = state.takeNotices().map {
            .warned(StreamWarning(.notSupported, $0.message, url))
        }
        renditions[id] = state
        // Subtitles may end earlier or later than video and audio.
        if state.rendition.kind == .subtitles { return effects }
        presentation?.kind = state.timeline?.kind ?? .onDemand
        if let index = state.index, index.isComplete {
            let duration = max(presentation?.duration ?? 0, index.end)
            presentation?.duration = duration
            effects.append(.durationChanged(duration))
        }
        return effects
    }

    /// Takes what a playlist says of the playlists of other renditions. Only a server that holds requests understands
    /// the directives that follow from it (rfc8216bis section 6.3.8).
    private mutating func take(reportsOf playlist: HLSMediaPlaylist) {
        guard !playlist.renditionReports.isEmpty else { return }
        if playlist.control.canBlockReload {
            for report in playlist.renditionReports { reports[report.url] = report }
        }
        let addresses = Set(renditions.values.compactMap(\.playlistURL))
        reports = reports.filter { addresses.contains($0.key) }
    }

    /// The number of reports on playlists that are kept.
    var reportCount: Int { reports.count }

    /// Takes bytes of the index of a file (`sidx`).
    mutating func take(indexBytes bytes: [UInt8], of id: Rendition.ID, begun: MonotonicInstant) throws(ResourceFailure)
    {
        guard let presentation else { return }
        do throws(ManifestError) {
            try renditions[id]?.take(indexBytes: bytes, of: presentation, begun: begun)
        } catch {
            throw ResourceFailure(error)
        }
    }

    /// Replaces the presentation.
    ///
    /// - Returns: how rungs change; nil if the ladder is the first one or stays as it is.
    private mutating func takeLadder(of new: Presentation) -> LadderChange? {
        defer { presentation = new }
        guard let old = presentation else {
            ladder = ladder(of: new)
            return nil
        }
        guard Self.changesLadder(from: old, to: new), let oldLadder = ladder else { return nil }
        ladder = ladder(of: new)
        guard let ladder else { return nil }
        let places = Dictionary(ladder.indices.map { (new.variants[ladder[$0].id].id, $0) }) { first, _ in first }
        var rungs: [Int: Int] = [:]
        for (rung, content) in zip(oldLadder.indices, oldLadder) {
            rungs[rung] = places[old.variants[content.id].id]
        }
        return LadderChange(rungs: rungs, ladder: ladder, renditions: Set(new.renditions.map(\.id)))
    }

    /// Whether variants, their bitrates, or renditions that play with them differ: a rendition of audio or subtitles
    /// may leave the manifest while the variants stay.
    private static func changesLadder(from old: Presentation, to new: Presentation) -> Bool {
        guard old.variants.count == new.variants.count else { return true }
        let differs = zip(old.variants, new.variants).contains { old, new in
            (old.id, old.main, old.peakBitrate) != (new.id, new.main, new.peakBitrate) || old.audio != new.audio
                || old.subtitles != new.subtitles
        }
        return differs || Set(old.renditions.map(\.id)) != Set(new.renditions.map(\.id))
    }

    /// The rung that the manifest lists first; the lowest rung where the order has no meaning (DASH).
    var firstListedRung: Int {
        guard let presentation, presentation.firstListedVariant != nil, let ladder else { return 0 }
        let first = LadderSelection.firstListed(presentation.variants, ladder.map(\.id))
        return ladder.indices.first { presentation.variants[ladder[$0].id].id == first?.id } ?? 0
    }

    private func ladder(of presentation: Presentation) -> BitrateLadder? {
        // The bitrate of an HLS variant contains its audio.
        let addsAudio = includesAudio && presentation.format == .dash
        return BitrateLadder(
            selection.places(in: presentation).map { index in
                let variant = presentation.variants[index]
                let audio = addsAudio ? Self.audioBitrate(of: variant, in: presentation) : 0
                return LadderRung(
                    id: index,
                    peakBitrate: Int(clamping: variant.peakBitrate.saturatingAdd(audio)),
                    averageBitrate: variant.averageBitrate.map { Int(clamping: $0.saturatingAdd(audio)) },
                    width: variant.resolution?.width ?? 0,
                    height: variant.resolution?.height ?? 0,
                    frameRate: variant.frameRate ?? 0
                )
            }
        )
    }

    /// The bitrate of the audio that is fetched apart from a variant's video; 0 without it.
    private static func audioBitrate(of variant: Variant, in presentation: Presentation) -> Int64 {
        guard let audio = variant.audio.first, audio != variant.main else { return 0 }
        return presentation.rendition(audio)?.bitrate ?? 0
    }

    private mutating func take(_ rendition: Rendition, of presentation: Presentation, begun: MonotonicInstant) {
        var reloading = reloading
        // A part of WebVTT has no header.
        if rendition.kind == .subtitles { reloading.usesParts = false }
        var state = renditions[rendition.id] ?? RenditionState(rendition, reloading: reloading)
        switch rendition.source {
        case .segments, .parts: state.take(rendition, of: presentation, begun: begun)
        case .loaded(let playlist):
            state.take(playlist, on: &axis, isNumberedAlike: true, begun: begun, received: begun)
        case .playlist: break
        }
        renditions[rendition.id] = state
    }
}

// MARK: The server's clock
extension ManifestLoading {
    /// Asks for the server's time before a live MPD is used for the first time; nil if the MPD can be used.
    mutating func askClock(
        for parsed: Presentation,
        _ response: ResourceResponse,
        _ fetching: Fetching
    ) -> StreamEffect? {
        clock.hold(parsed, response, fetching) ? askNextClock() : nil
    }

    /// Asks the next source; nil if none is left.
    mutating func askNextClock() -> StreamEffect? {
        clock.nextSource().map { .fetch(.clock($0.method), $0.url, nil) }
    }

    /// Uses the MPD that waited for the server's time.
    ///
    /// - Parameters:
    ///   - parsed: the MPD by the server's clock; nil uses the local clock.
    ///   - offset: the nanoseconds by which the server's clock is ahead.
    mutating func take(clockOffset offset: Int64, _ parsed: Presentation?) throws(ResourceFailure) -> [StreamEffect] {
        guard let waiting = clock.take(offset: offset) else { return [] }
        return try take(parsed ?? waiting.parsed, begun: waiting.begun)
    }
}

// MARK: Steering
extension ManifestLoading {
    /// Whether nothing else is fetched before the steering server's answer.
    var holdsStart: Bool { steering.holdsStart }

    /// The address of the request to the steering server.
    private func steeringAddress(bitrate: Double?) -> HTTPURL? {
        guard let presentation else { return nil }
        return steering.address(presentation.format, using: locations.locationInUse, bitrate: bitrate)
    }

    /// Takes the order of the servers. Returns the renditions whose playlists have another server now.
    mutating func take(_ manifest: SteeringManifest, now: MonotonicInstant) -> Set<Rendition.ID> {
        steering.take(manifest, now: now)
        locations.prefer(manifest.priority, adding: manifest.clones)
        return movePlaylists()
    }

    /// Takes the order that a manifest has itself, in a `data:` address. Returns the warning about an order that cannot
    /// be used; nil for one that can, and without one.
    private mutating func takeWrittenOrder(of parsed: Presentation, now: MonotonicInstant) -> StreamWarning? {
        guard let text = parsed.steering?.text else { return nil }
        do throws(ManifestError) {
            _ = take(try SteeringManifest(parsing: text, at: parsed.url), now: now)
            return nil
        } catch {
            return StreamWarning(.steering, "the servers keep their order: \(error.message)", parsed.url)
        }
    }

    mutating func steeringFailed(_ failure: RetryPolicy.Failure, now: MonotonicInstant) {
        steering.failed(failure, now: now)
    }

    private func steeringDue(_ fetches: FetchTable) -> MonotonicInstant? {
        fetches.fetching(.steering) == nil ? steering.askAt : nil
    }
}

// MARK: Servers
extension ManifestLoading {
    /// The address of a resource at the server in use. Of an MPD, only the media has several servers; an HLS playlist
    /// is loaded from its server, and names the segments there.
    func address(of url: HTTPURL, for purpose: FetchPurpose) -> HTTPURL {
        purpose.isOfMedia && presentation?.format == .dash ? locations.address(of: url) : url
    }

    /// Uses another server than that of a failed resource, if one has the resource.
    ///
    /// - Parameters:
    ///   - segment: the segment to which the resource belongs; nil for a playlist or an index.
    ///   - id: the rendition to which the resource belongs.
    ///   - time: the duration of the server's exclusion; nil for the rest of the playback.
    /// - Returns: the renditions whose resources have another address now; nil if no other server has the resource.
    mutating func leaveServer(
        of purpose: FetchPurpose,
        _ segment: MediaSegment?,
        _ id: Rendition.ID,
        for time: Duration?,
        now: MonotonicInstant
    ) -> Set<Rendition.ID>? {
        guard let presentation, let url = manifestAddress(of: purpose, segment, id),
            locations.leaveServer(of: url, for: time, now: now)
        else { return nil }
        return presentation.format == .hls ? movePlaylists() : [id]
    }

    /// Loads playlists from the servers in use. Returns the renditions that have another server now.
    @discardableResult
    private mutating func movePlaylists() -> Set<Rendition.ID> {
        guard presentation?.format == .hls else { return [] }
        var moved: Set<Rendition.ID> = []
        for (id, state) in renditions {
            guard case .playlist(let url) = state.rendition.source else { continue }
            let address = locations.address(of: url)
            if address != state.playlistURL { moved.insert(id) }
            renditions[id]?.movePlaylist(to: address)
        }
        return moved
    }

    mutating func endExclusions(at now: MonotonicInstant) { locations.endExclusions(at: now) }

    /// The address of a resource in the manifest; of an HLS segment, the address of its playlist.
    private func manifestAddress(of purpose: FetchPurpose, _ segment: MediaSegment?, _ id: Rendition.ID) -> HTTPURL? {
        if case .playlist(let url)? = renditions[id]?.rendition.source { return url }
        switch purpose {
        case .manifest, .patch, .element, .clock, .steering, .playlist, .key, .licence, .hint: return nil
        case .index: return renditions[id]?.missingIndex?.file.url
        case .initialization: return segment?.initialization?.url
        case .segment: return segment?.url
        }
    }
}

// MARK: Reloads
extension ManifestLoading {
    /// The request that brings the segments of a rendition.
    func indexFetch(of id: Rendition.ID) -> StreamEffect? {
        guard let state = renditions[id] else { return nil }
        if let missing = state.missingIndex { return .fetch(.index(id), missing.file.url, missing.range) }
        return state.playlistURL.map { .fetch(.playlist(id), reported($0), nil) }
    }

    /// The request for the index of the file that a track without a next segment reaches; nil if it reaches none.
    func indexFetch(after track: TrackLoading, at now: WallTime) -> StreamEffect? {
        guard let plan = track.plan, plan.segment == nil, let missing = renditions[plan.rendition]?.missingIndex,
            let timeline = renditions[plan.rendition]?.timeline
        else { return nil }
        let start = missing.file.periodStart
        let hasBegun = timeline.origin.map { now.nanoseconds(since: $0) >= start } ?? true
        // Segments may end a little before their period.
        guard hasBegun || start.saturatingSubtract(track.timeNeeded) < 1_000_000_000 else { return nil }
        return .fetch(.index(plan.rendition), missing.file.url, missing.range)
    }

    /// The address of a playlist with the segment and part that another playlist reported, so that a cache does not
    /// answer with an older playlist (rfc8216bis section 6.2.5.2).
    private func reported(_ url: HTTPURL) -> HTTPURL {
        guard let report = reports[url] else { return url }
        let part = report.lastPart.map { ["_HLS_part=\($0)"] } ?? []
        return url.addingQuery(["_HLS_msn=\(report.lastSequence)"] + part) ?? url
    }

    /// Fetches what is due, and checks that live playlists change.
    ///
    /// - Parameters:
    ///   - inUse: the renditions that are played.
    ///   - subtitles: the rendition of subtitles, which may be late without an end of playback.
    ///   - bitrate: the measured throughput, which a steering server learns.
    ///   - wallTime: the calendar time, until which a patch may be available.
    mutating func refresh(
        _ inUse: [Rendition.ID],
        subtitles: Rendition.ID? = nil,
        _ fetches: FetchTable,
        bitrate: @autoclosure () -> Double? = nil,
        wallTime: WallTime = WallTime(milliseconds: 0),
        now: MonotonicInstant
    ) -> [StreamEffect] {
        guard presentation != nil else { return [] }
        var effects: [StreamEffect] = []
        if let update = manifestDue(fetches), update <= now {
            updateAt = nil
            // A patch does not repeat a load of the whole manifest that has failed.
            let patch = fetches.retryInstant(.manifest) == nil ? patchReload(at: wallTime) : nil
            effects += [patch ?? wholeReload].compactMap(\.self)
        }
        if let due = steeringDue(fetches), due <= now, let url = steeringAddress(bitrate: bitrate()) {
            effects.append(.fetch(.steering, url, nil))
        }
        watches = watches.filter { inUse.contains($0.key) }
        for id in inUse + [subtitles].compactMap(\.self) {
            guard let state = renditions[id], state.isLive else { continue }
            if let due = playlistDue(state, fetches), due <= now, let url = state.reloadAddress(at: now) {
                effects.append(.fetch(.playlist(state.rendition.id), url, nil))
            }
            // While a server does not answer, nobody knows whether it has a newer playlist.
            guard inUse.contains(id), !isAsked(for: state, fetches),
                let finding = checkFreshness(of: state, wallTime, now)
            else { continue }
            effects.append(finding)
        }
        return effects
    }

    /// The reload of the whole manifest.
    var wholeReload: StreamEffect? {
        presentation.map { .fetch(.manifest, $0.live?.reloadURL ?? $0.url, nil) }
    }

    /// The load of the manifest's changes; nil if the manifest offers none now.
    private func patchReload(at now: WallTime) -> StreamEffect? {
        guard let presentation, presentation.acceptsPatches, let patch = presentation.live?.patch,
            patch.isAvailable(at: now)
        else { return nil }
        return .fetch(.patch, patch.url, nil)
    }

    /// The instants at which a reload is due.
    func deadlines(_ inUse: [Rendition.ID], _ fetches: FetchTable) -> [MonotonicInstant] {
        guard presentation != nil else { return [] }
        let playlists = inUse.compactMap { renditions[$0] }.filter(\.isLive).compactMap { playlistDue($0, fetches) }
        return playlists + [manifestDue(fetches), steeringDue(fetches)].compactMap(\.self)
    }

    /// Whether the content of a playlist or manifest was loaded before, so that its request is a reload.
    func isReload(_ purpose: FetchPurpose) -> Bool {
        switch purpose {
        case .manifest: presentation != nil
        case .playlist(let id): renditions[id]?.index != nil
        default: false
        }
    }

    /// Continues with the earlier content after a failed reload.
    ///
    /// - Parameter instant: the instant of the next reload; nil for none.
    mutating func survivesReload(_ purpose: FetchPurpose, nextAt instant: MonotonicInstant?) {
        switch purpose {
        case .manifest: updateAt = instant
        case .playlist(let id): renditions[id]?.reloadFailed(nextAt: instant)
        default: break
        }
    }

    private func manifestDue(_ fetches: FetchTable) -> MonotonicInstant? {
        guard !isManifestAsked(fetches), !elements.isWaiting else { return nil }
        return fetches.retryInstant(.manifest) ?? updateAt
    }

    private func playlistDue(_ state: RenditionState, _ fetches: FetchTable) -> MonotonicInstant? {
        let purpose = FetchPurpose.playlist(state.rendition.id)
        guard let reload = state.reloadAt, fetches.fetching(purpose) == nil else { return nil }
        return max(reload, fetches.retryInstant(purpose) ?? reload)
    }

    /// Whether a request for a newer playlist, or MPD, of a rendition waits for its answer.
    private func isAsked(for state: RenditionState, _ fetches: FetchTable) -> Bool {
        if state.playlistURL != nil { return fetches.fetching(.playlist(state.rendition.id)) != nil }
        return isManifestAsked(fetches)
    }

    private func isManifestAsked(_ fetches: FetchTable) -> Bool {
        fetches.fetching(.manifest) != nil || fetches.fetching(.patch) != nil
    }

    /// Finds a live playlist that is late (a warning) or stale.
    private mutating func checkFreshness(
        of state: RenditionState,
        _ wallTime: WallTime,
        _ now: MonotonicInstant
    ) -> StreamEffect? {
        guard let changed = state.timeline?.lastChange, let limit = changePeriod(of: state), limit > .zero else {
            return nil
        }
        let name = state.playlistURL == nil ? "manifest" : "playlist"
        // While a rendition was not in use, no request asked whether its playlist had changed.
        var watch = watches[state.rendition.id] ?? Watch(since: now)
        var age = max(changed, watch.since).duration(to: now)
        if let availability = state.index?.lastTimes?.availability {
            // A template of an MPD needs no reload before its period ends.
            age = min(age, .nanoseconds(wallTime.nanoseconds(since: availability)))
        }
        if let stale = staleAfter?.duration(targetDuration: limit), stale > .zero, age > stale {
            let message =
                "the live \(name) has not changed for \(age.milliseconds) ms (limit \(stale.milliseconds) ms); "
                + "check whether the stream is still on air"
            return .stale(state.rendition.id, ProbeError(.stalePlaylist, .playlist, source, message))
        }
        // RFC 8216 section 6.2.2: a new playlist has to appear within 1.5 target durations.
        let isLate = age > limit * 3 / 2
        defer {
            watch.isLate = isLate
            watches[state.rendition.id] = watch
        }
        guard isLate, !watch.isLate else { return nil }
        let message =
            "the live \(name) has not changed for \(age.milliseconds) ms, a change is expected every \(limit.milliseconds) ms"
        return .warned(StreamWarning(.latePlaylist, message, state.playlistURL ?? presentation?.url))
    }

    /// The time within which a reload has to add segments; nil if the rendition needs no reload, or plays a file.
    private func changePeriod(of state: RenditionState) -> Duration? {
        if state.endsWithFile { return nil }
        if state.playlistURL != nil { return state.reloadAt.map { _ in state.targetDuration } }
        return presentation?.live?.updatePeriod.map { max(state.targetDuration, .nanoseconds($0)) }
    }
}
