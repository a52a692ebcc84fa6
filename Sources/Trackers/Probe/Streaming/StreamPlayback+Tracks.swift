internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// The choice of the next request.
extension StreamPlayback {
    /// The most rounds after one event; later ones follow at the next deadline.
    private static let pumpLimit = 100

    /// Starts all requests that can start now; called once for each event, at the end of ``handle(_:now:)``.
    ///
    /// A jump moves all tracks, also those that have taken their steps before it: a round follows.
    mutating func pump(_ now: Timestamp) {
        for _ in 0..<Self.pumpLimit {
            hasMoved = false
            advanceAll(now)
            if !hasMoved { return }
        }
    }

    private mutating func advanceAll(_ now: Timestamp) {
        guard !isOver, session.outcome == nil else { return }
        guard manifest.presentation != nil else { return retryManifest(now) }
        choice.endExclusions(at: now.instant)
        manifest.endExclusions(at: now.instant)
        if !isInspecting { refreshManifest(now) }
        if isOver || manifest.holdsStart { return }
        // An ad break ends where the content left off: meanwhile the live edge moves away.
        if !session.isHeld, let state = tracks[.main]?.renditionInUse.flatMap({ manifest[$0] }) {
            apply(live.follow(state, view(now)), now)
        }
        if tracks[.main] == nil { beginLoading(now) }
        for role in StreamRole.media where !isOver { advance(role, now) }
        if profile.pacing.audioReleasesVideo, !isOver { advance(.main, now) }
        watchDroppedFrames(now)
        if !isOver { fetchLicence(now) }
        if !isOver { advanceSubtitles(now) }
        if isOver || !tracks.all.allSatisfy(\.isAtEnd) { return }
        if phase == .loading { apply(.exhausted(nil), now) } else if !subtitles.isLoading { endLoading() }
    }

    private mutating func beginLoading(_ now: Timestamp) {
        var track = TrackLoading(at: session.pendingSeek ?? 0)
        let processing = manifestProcessing
        if processing > .zero { track.works(until: now.instant.advanced(by: processing)) }
        firstMedia.begins(at: now.instant.advanced(by: processing))
        tracks[.main] = track
    }

    /// The time for which the player works on the manifest before it requests more.
    private var manifestProcessing: Duration {
        if manifest.presentation?.format == .dash { return profile.processing.presentation }
        let isMediaPlaylist = manifest.variant(at: 0).flatMap { manifest[$0.main]?.timeline } != nil
        return isMediaPlaylist ? profile.processing.mediaPlaylist : profile.processing.multivariantPlaylist
    }

    private mutating func refreshManifest(_ now: Timestamp) {
        let due = manifest.refresh(
            renditionsInUse,
            subtitles: subtitles.rendition,
            fetches,
            bitrate: choice.measuredBitrate,
            wallTime: now.wallTime,
            now: now.instant
        )
        for effect in due where !isOver { apply(effect, now) }
    }

    private mutating func retryManifest(_ now: Timestamp) {
        guard fetches.retryInstant(.manifest) != nil, case .http(let text) = source.location,
            let url = try? HTTPURL(text)
        else { return }
        apply(.fetch(.manifest, url, nil), now)
    }

    /// Takes the steps of a track that need no request, and begins the next request.
    ///
    /// Each such step (a gap, the start position) advances the track. After many steps the other tracks continue first.
    private mutating func advance(_ role: StreamRole, _ now: Timestamp) {
        tracks[role]?.takesBreak = false
        if case .awaiting(_, let next?) = tracks[role]?.phase {
            if next > now.instant { return }
            tracks[role]?.endWait()
        }
        for _ in 0..<1000 {
            guard let track = tracks[role], !fetches.isBusy(role), !isOver else { return }
            switch track.phase {
            case .ended: return
            case .looking: guard plan(role, track, now), step(role, now) else { return }
            case .planned, .awaiting:
                if let begins = track.plan?.begins, begins > now.instant { return }
                guard step(role, now) else { return }
            }
        }
        tracks[role]?.takesBreak = true
    }

    /// Plans the next segment of a track; false if nothing is to be fetched now.
    private mutating func plan(_ role: StreamRole, _ track: TrackLoading, _ now: Timestamp) -> Bool {
        if track.hasLoadedAll(of: manifest) {
            tracks[role]?.end()
            return false
        }
        let hasRoom = hasRoom(role, track, now)
        guard hasRoom, isInStep(role, now.instant) else {
            let interval = hasRoom ? profile.bufferCheck.leadInterval : profile.bufferCheck.interval
            let hasMissed = !hasRoom && isBelowWantedLevel(role, track, now)
            tracks[role]?.looksLater(than: now.instant, interval: interval, hasMissed: hasMissed)
            // A wait that the rule requests is not idle time.
            if role == .main, track.waitUntilBuffered == nil, track.segmentCount > 0 {
                choice.beginIdling(at: now.instant)
            }
            return false
        }
        // A segment whose parts are being loaded is finished first: other renditions need not begin at a part.
        let change = profile.live.changeAtEdge
        let unfinished = track.segmentInParts(of: manifest, change: change)
            .flatMap { choice.excludes($0.rung) ? nil : $0 }
        guard let (rung, rendition) = unfinished ?? (role == .main ? planMain(now) : planAudio()) else { return false }
        if role == .main, let time = choice.takeIdleTime(at: now.instant) { observe(.idled(time), now) }
        if role == .main {
            replaceMedia(track, rung, now)
            leavePlaylist(of: track.renditionInUse, for: rendition)
        }
        let isContinuation = change == .loadsAgain && unfinished != nil
        tracks[role]?.choose(rung: rung, rendition: rendition, isContinuation: isContinuation)
        return true
    }

    /// Cancels the request for the playlist of a rendition that another one replaces: the server may hold it.
    private mutating func leavePlaylist(of earlier: Rendition.ID?, for rendition: Rendition.ID) {
        guard profile.live.changeAtEdge == .loadsAgain, let earlier, earlier != rendition,
            let running = fetches.fetching(.playlist(earlier))
        else { return }
        fetches.cancel(running.number)
    }

    /// Fetches media of lower rungs again after a change to a higher rung, if the profile does so and enough is
    /// buffered.
    private mutating func replaceMedia(_ track: TrackLoading, _ rung: Int, _ now: Timestamp) {
        guard let distance = profile.replacementDistance, let earlier = track.rung, rung > earlier else { return }
        let position = position(at: now)
        let ahead = Duration(clampingSeconds: distance * track.nextSegment(in: manifest).duration.seconds).nanoseconds
        guard track.level(at: position) >= ahead else { return }
        tracks[.main]?.replaceMedia(below: rung, from: position.saturatingAdd(ahead))
    }

    /// Whether the profile allows a request of a track now, given the other track's buffer.
    func isInStep(_ role: StreamRole, _ now: MonotonicInstant) -> Bool {
        if profile.pacing.isIndependent { return true }
        let otherRole: StreamRole = role == .main ? .audio : .main
        guard let track = tracks[role], let other = tracks[otherRole], !other.isAtEnd else { return true }
        if role == .audio, other.segmentCount == 0, liveAudioAwaitsPictures { return false }
        // A segment that is loaded again after a failure counts as being loaded.
        let isLoading = fetches.isBusy(otherRole) || fetches.retryInstant(.segment(otherRole)) != nil
        if isLoading, other.segmentCount == 0, track.segmentCount > 0, profile.pacing.firstAudioLook != nil, !isLive {
            return false
        }
        let request = PacedRequest(
            isOfAudio: role == .audio,
            track: PacedTrack(track, in: manifest),
            other: PacedTrack(other, in: manifest),
            isOtherLoading: isLoading || other.pause(at: now) != nil,
            position: session.model?.position(at: now) ?? session.pendingSeek ?? 0
        )
        return profile.pacing.permits(request)
    }

    /// Whether audio waits until the player has read the first pictures, which tell the times of a live stream.
    var liveAudioAwaitsPictures: Bool { profile.pacing.liveAudioAwaitsPictures && isLive }

    /// Whether a rendition in use is live.
    var isLive: Bool { renditionsInUse.contains { manifest[$0]?.isLive == true } }

    private func hasRoom(_ role: StreamRole, _ track: TrackLoading, _ now: Timestamp) -> Bool {
        if isBelowWantedLevel(role, track, now) {
            return track.looks(at: now.instant, interval: profile.bufferCheck.interval)
        }
        // The maximum is reached, but playback waits, for example for audio that ends before its video.
        return session.model?.isShort == true
            && tracks.all.allSatisfy { $0.isAtEnd || track.loadedEnd <= $0.loadedEnd }
    }

    /// Whether less is buffered than the track wants.
    func isBelowWantedLevel(_ role: StreamRole, _ track: TrackLoading, _ now: Timestamp) -> Bool {
        track.level(at: position(at: now)) < max(1, wantedLevel(role, track))
    }

    /// The buffer level below which a track loads.
    func wantedLevel(_ role: StreamRole, _ track: TrackLoading) -> Int64 {
        var maximum = profile.buffer.maximum
        if let rung = track.currentRung, let ladder = manifest.ladder {
            maximum = profile.maximumBuffer(
                bitrate: ladder[rung].peakBitrate,
                isHighest: profile.topRungBuffer != nil && rung == choice.highestRung(of: ladder),
                duration: manifest.presentation?.duration.map { .nanoseconds($0) }
            )
        }
        if role == .main, profile.bufferCheck.countsNextSegment {
            let segment = track.nextSegment(in: manifest).duration
            if segment < maximum { maximum -= segment }
        }
        return track.wantedLevel(maximum: maximum)
    }

    private mutating func planMain(_ now: Timestamp) -> (rung: Int, rendition: Rendition.ID)? {
        guard let context = adaptationContext(now) else { return nil }
        switch choice.decide(in: context, firstListed: manifest.firstListedRung) {
        case .wait(let level):
            tracks[.main]?.wait(untilBuffered: level)
            return nil
        case .rung(let rung): return manifest.variant(at: rung).map { (rung, $0.main) }
        }
    }

    private func planAudio() -> (rung: Int, rendition: Rendition.ID)? {
        let current = tracks[.audio]?.rendition
        guard let main = tracks[.main], let rung = main.plan?.rung ?? main.rung,
            let variant = manifest.variant(at: rung),
            // A variant that contains audio does not end the separate audio rendition.
            let rendition = choice.audio(of: variant, after: current, in: manifest) ?? current
        else { return nil }
        return (rung, rendition)
    }

    /// Takes one step of a plan; false if the track has to wait.
    private mutating func step(_ role: StreamRole, _ now: Timestamp) -> Bool {
        guard let phase = tracks[role]?.phase, let plan = phase.plan, let state = manifest[plan.rendition] else {
            return false
        }
        guard let timeline = state.timeline else {
            if let fetch = manifest.indexFetch(of: plan.rendition) { apply(fetch, now) }
            if role == .main, profile.requestsPlaylistsTogether { fetchAudioPlaylist(for: plan, now) }
            return false
        }
        let change = profile.live.changeAtEdge
        if role == .main, change == .loadsAgain, manifest.isSuperseded(plan.rendition) { return false }
        // An empty live playlist has no start position.
        if timeline.index.isEmpty, !timeline.index.isComplete { return false }
        if role == .main, !live.isPlaced {
            if let segment = segmentToInspect(plan, state, now) { return fetch(segment, role, now) }
            placeStart(in: state, plan, now)
            return true
        }
        let mode = profile.lowLatency.flatMap { isLowLatencyDASH(state) ? $0 : nil }
        var time = now.wallTime
        if mode?.requestsUnavailable == true, let track = tracks[role] {
            time = time.advanced(nanoseconds: track.nextSegment(in: manifest).duration.nanoseconds)
        }
        switch tracks[role]?.step(in: timeline, at: time, change: change) {
        case .chosen: return true
        case .fetch where phase.name == .awaiting:
            tracks[role]?.endWait()
            return true
        case .fetch(let segment):
            let isThere = fetch(segment, role, now)
            if mode?.requestsTwo == true { requestSecond(after: segment, role, in: timeline, at: time, now) }
            return isThere
        case .gap(let segment):
            skip(segment, role, "the playlist declares a gap", now)
            return true
        case .expired(let first): jump(over: first, state, now)
        case .wait:
            fetchIndex(after: tracks[role], now)
            preload(role, in: timeline, now)
            if fetches.fetching(.index(plan.rendition)) == nil { awaitSegment(role, of: state, now) }
        case .end, nil: break
        }
        return false
    }

    private func isLowLatencyDASH(_ state: RenditionState) -> Bool {
        manifest.presentation?.format == .dash && state.isLowLatency
    }

    private mutating func awaitSegment(_ role: StreamRole, of state: RenditionState, _ now: Timestamp) {
        let interval = profile.live.searchInterval(targetDuration: state.targetDuration)
        tracks[role]?.awaitSegment(from: now.instant, interval: state.isLowLatency ? .zero : interval)
    }

    /// Requests the index of the file that a track without a next segment reaches, if it reaches one.
    mutating func fetchIndex(after track: TrackLoading?, _ now: Timestamp) {
        if let fetch = track.flatMap({ manifest.indexFetch(after: $0, at: now.wallTime) }) { apply(fetch, now) }
    }

    /// Places all tracks after the first index has arrived.
    private mutating func placeStart(in state: RenditionState, _ plan: TrackLoading.Plan, _ now: Timestamp) {
        enterLowLatency(for: state)
        // Where both playlists declare a start, that of the multivariant playlist counts (rfc8216bis section 4.4.2).
        let offset = manifest.presentation?.startOffset ?? state.startOffset
        let position = live.place(in: state, offset: offset, view(now))
        if position > 0 { apply(.start(at: position), now) }
        let lookup = lookup(for: position)
        tracks[.main]?.place(at: position, from: lookup)
        if audio(of: plan) != nil { tracks[.audio] = TrackLoading(at: position, from: lookup) }
        inspection.placed(at: lookup)
    }

    /// The time whose segment a track loads first, to play from `position`.
    func lookup(for position: Int64) -> Int64 {
        let isLowLatency = tracks[.main]?.renditionInUse.flatMap { manifest[$0] }?.isLowLatency ?? false
        return isLowLatency ? position : max(0, position.saturatingSubtract(profile.lookupTolerance.nanoseconds))
    }

    /// The rendition of the audio that is fetched apart from a plan's video; nil for none.
    private func audio(of plan: TrackLoading.Plan) -> Rendition.ID? {
        manifest.variant(at: plan.rung).flatMap { choice.audio(of: $0, after: tracks[.audio]?.rendition, in: manifest) }
    }

    /// The segment that the profile's player reads for its closed captions before it plays; nil if it reads none, or
    /// has read it. Meanwhile, it loads the playlist of the audio.
    private mutating func segmentToInspect(_ plan: TrackLoading.Plan, _ state: RenditionState, _ now: Timestamp)
        -> MediaSegment?
    {
        if inspection.isRunning(plan) { return plan.segment }
        guard inspection.isDue else { return nil }
        guard manifest.presentation?.hasUndeclaredCaptions == true, state.rendition.kind != .audio,
            let segment = state.index.flatMap({ CaptionInspection.segment(of: $0, isLive: state.isLive) })
        else {
            inspection.end()
            return nil
        }
        inspection.begin(plan)
        tracks[.main]?.inspect(segment)
        fetchAudioPlaylist(for: plan, now)
        return segment
    }

    /// Requests the playlist of the audio that plays with a plan's video, unless it is there.
    private mutating func fetchAudioPlaylist(for plan: TrackLoading.Plan, _ now: Timestamp) {
        guard let audio = audio(of: plan), audio != plan.rendition, manifest[audio]?.timeline == nil,
            let fetch = manifest.indexFetch(of: audio)
        else { return }
        apply(fetch, now)
    }

    /// Requests what a segment needs next.
    ///
    /// - Returns: whether that is there already, so that the track can take another step.
    private mutating func fetch(_ segment: MediaSegment, _ role: StreamRole, _ now: Timestamp) -> Bool {
        askLicence(for: segment, now)
        store.enter(segment.initialization, role, at: now.instant)
        switch store.need(of: segment, role) {
        case .fetch(let purpose, let url, let range):
            if let plan = tracks[role]?.plan, held.holds(role, plan) {
                // Only the initialization section is missing; or it has arrived for another track.
                guard purpose.kind == .segment else { return request(purpose, url, range, now) }
                takeHeld(role, now)
                return false
            }
            if purpose == .segment(.main), let inspected = inspection.take(url, range) {
                arrived(inspected.response, inspected.fetching.promoted(to: purpose, at: now.instant), now)
                return !fetches.isBusy(role)
            }
            let isThere = request(purpose, url, range, now)
            guard !isThere, purpose.kind == .initialization, profile.initializationLoading == .withSegment else {
                return isThere
            }
            return request(.segment(role), segment.url, segment.byteRange, now)
        case .unsupported(let encryption):
            let message =
                "the probe cannot decrypt segments with \(encryption); choose a stream with another encryption"
            let url = segment.url.description
            apply(.exhausted(ProbeError(.unsupportedStream, .segment, source, message, url: url)), now)
            return false
        }
    }

    /// Continues inside the live window after the end of the buffer, or ends there, as the profile says.
    private mutating func jump(over first: MediaSegment, _ state: RenditionState, _ now: Timestamp) {
        guard let model = session.model else { return apply(.jump(to: first.start), now) }
        let message = "segments left the live window before they were fetched"
        guard let position = live.destination(behind: first, in: state, view(now)) else {
            let advice = "; check whether the network carries the stream, and the length of its window"
            let url = first.url.description
            return apply(.exhausted(ProbeError(.behindLiveWindow, .segment, source, message + advice, url: url)), now)
        }
        guard model.level(at: now.instant) <= 0 || model.isWaiting else { return }
        apply(.warned(StreamWarning(kind: .expiredSegments, message: message, url: nil)), now)
        apply(.jump(to: position), now)
    }

    /// Asks the rule whether to abandon the running download for a lower rung.
    mutating func reconsider(_ now: Timestamp) {
        guard choice.takeReconsideration(at: now.instant), !isInspecting,
            let fetching = fetches.fetching(.segment(.main)),
            let plan = tracks[.main]?.plan, !plan.isContinuation, let segment = plan.segment
        else { return }
        // A segment that the server is still producing is not slow because of the network.
        if let completion = segment.completion, completion > now.wallTime { return }
        let arrivals = fetching.buffer.arrivals
        choice.learn(from: arrivals, of: .main, number: fetching.number, begun: fetching.transferBegun, .running)
        if let audio = fetches.fetching(.segment(.audio)) {
            let begun = audio.transferBegun
            choice.learn(from: audio.buffer.arrivals, of: .audio, number: audio.number, begun: begun, .running)
        }
        guard var context = adaptationContext(now) else { return }
        let download = SegmentDownload(
            segment,
            plan.rung,
            fetching,
            arrivals,
            isWhole: false,
            until: now.instant
        )
        context.currentRung = plan.rung
        guard let rung = choice.abandonment(of: download, in: context), let variant = manifest.variant(at: rung) else {
            return
        }
        learn(fromAbandoned: fetching, now)
        apply(.cancelFetches(.main), now)
        tracks[.main]?.choose(rung: rung, rendition: variant.main)
    }

    private mutating func learn(fromAbandoned fetching: Fetching, _ now: Timestamp) {
        choice.learn(
            from: fetching.buffer.arrivals,
            of: .main,
            number: fetching.number,
            begun: fetching.transferBegun,
            .abandoned(now.instant)
        )
    }

    private mutating func watchDroppedFrames(_ now: Timestamp) {
        guard let policy = profile.droppedFrames else { return }
        if droppedFrames == nil, !isInspecting, tracks[.main]?.plan != nil {
            droppedFrames = DroppedFrameWatch(policy, from: now.instant)
        }
        let (rung, width) = (tracks[.main]?.currentRung, session.quality.current.width)
        droppedFrames?.follow(rung: rung, width: width, decision: choice.lastDecision, session.model, now.instant)
    }

    /// Leaves a rung for a time whose pictures were dropped too often, and a download of it.
    mutating func leaveDroppingRung(_ now: Timestamp) {
        guard droppedFrames?.looks(at: session.model, now.instant) == true, let time = profile.droppedFrames?.exclusion,
            let track = tracks[.main], let rung = track.currentRung, let ladder = manifest.ladder,
            choice.exclude(rung, of: ladder, for: time, now: now.instant)
        else { return }
        if let fetching = fetches.fetching(.segment(.main)), track.plan?.segment != nil {
            learn(fromAbandoned: fetching, now)
        }
        apply(.cancelFetches(.main), now)
        tracks[.main]?.dropPlan()
    }
}
