internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// What is fetched next.
extension StreamPlayback {
    /// Begins everything that can begin now.
    mutating func pump(_ now: Timestamp) {
        guard !isOver, session.outcome == nil else { return }
        guard manifest.presentation != nil else { return retryManifest(now) }
        choice.endExclusions(at: now.instant)
        apply(manifest.refresh(renditionsInUse, fetches, now: now.instant), now)
        if isOver { return }
        if let state = tracks[.main]?.renditionInUse.flatMap({ manifest[$0] }) {
            apply(live.follow(state, view(now)), now)
        }
        if tracks[.main] == nil { tracks[.main] = TrackLoading(at: session.pendingSeek ?? 0) }
        for role in StreamRole.allCases where !isOver { advance(role, now) }
        if !isOver, tracks.values.allSatisfy(\.isAtEnd) { apply(.exhausted(nil), now) }
    }

    private mutating func retryManifest(_ now: Timestamp) {
        guard fetches.retryInstant(.manifest) != nil, case .http(let text) = source.location,
            let url = try? HTTPURL(text)
        else { return }
        apply(.fetch(.manifest, url, nil), now)
    }

    /// Takes the steps of a track that need no request, and begins the next request.
    ///
    /// Each such step (a gap, the start position) moves the track on. After many of them other tracks have their turn.
    private mutating func advance(_ role: StreamRole, _ now: Timestamp) {
        tracks[role]?.takesBreak = false
        for _ in 0..<1000 {
            guard let track = tracks[role], !track.isAtEnd, !fetches.isBusy(role), !isOver else { return }
            if track.plan == nil, !plan(role, track, now) { return }
            guard step(role, now) else { return }
        }
        tracks[role]?.takesBreak = true
    }

    /// Plans the next segment of a track; false if nothing is to be fetched now.
    private mutating func plan(_ role: StreamRole, _ track: TrackLoading, _ now: Timestamp) -> Bool {
        if track.hasLoadedAll(of: manifest) {
            tracks[role]?.end()
            return false
        }
        guard hasRoom(track, now) else {
            // A wait that the rule asked for is not idle time.
            if role == .main, track.waitUntilBuffered == nil { choice.beginIdling(at: now.instant) }
            return false
        }
        guard let (rung, rendition) = role == .main ? planMain(now) : planAudio() else { return false }
        if role == .main, let time = choice.takeIdleTime(at: now.instant) { observe(.idled(time), now) }
        tracks[role]?.choose(rung: rung, rendition: rendition)
        return true
    }

    private func hasRoom(_ track: TrackLoading, _ now: Timestamp) -> Bool {
        if track.level(at: view(now).position) < max(1, track.wantedLevel(profile, manifest.ladder)) { return true }
        // The maximum is reached, and playback waits nevertheless: for audio that ends a little before its video, say.
        return session.model?.isShort == true
            && tracks.values.allSatisfy { $0.isAtEnd || track.loadedEnd <= $0.loadedEnd }
    }

    private mutating func planMain(_ now: Timestamp) -> (rung: Int, rendition: Rendition.ID)? {
        guard let context = adaptationContext(now) else { return nil }
        switch choice.decide(in: context) {
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
            // A variant that contains its audio does not end the audio rendition that plays beside it.
            let rendition = choice.audio(of: variant, after: current, in: manifest) ?? current
        else { return nil }
        return (rung, rendition)
    }

    /// Takes one step of a plan; false if the track has to wait.
    private mutating func step(_ role: StreamRole, _ now: Timestamp) -> Bool {
        guard let plan = tracks[role]?.plan, let state = manifest[plan.rendition] else { return false }
        guard let index = state.index else {
            if let fetch = manifest.indexFetch(of: plan.rendition) { apply(fetch, now) }
            return false
        }
        // An empty live playlist does not say where playback begins.
        if index.isEmpty, !index.isComplete { return false }
        if role == .main, !live.isPlaced {
            placeStart(in: state, plan, now)
            return true
        }
        switch tracks[role]?.step(in: index, at: now.wallTime) {
        case .chosen: return true
        case .fetch(let segment): fetch(segment, role, now)
        case .gap(let segment):
            skip(segment, role, "the playlist declares a gap", now)
            return true
        case .expired(let first): jump(over: first, state, now)
        case .wait, .end, nil: break
        }
        return false
    }

    /// Places all tracks once the first index says where segments are.
    private mutating func placeStart(in state: RenditionState, _ plan: TrackLoading.Plan, _ now: Timestamp) {
        let position = live.place(in: state, offset: manifest.presentation?.startOffset, view(now))
        if position > 0 { apply(.start(at: position), now) }
        tracks[.main]?.place(at: position)
        let current = tracks[.audio]?.rendition
        if let variant = manifest.variant(at: plan.rung), choice.audio(of: variant, after: current, in: manifest) != nil
        {
            tracks[.audio] = TrackLoading(at: position)
        }
    }

    private mutating func fetch(_ segment: MediaSegment, _ role: StreamRole, _ now: Timestamp) {
        switch store.need(of: segment, role) {
        case .fetch(let purpose, let url, let range): apply(.fetch(purpose, url, range), now)
        case .unsupported(let encryption):
            let message = "the probe cannot decrypt segments with \(encryption); choose a stream without DRM"
            let url = segment.url.description
            apply(.exhausted(ProbeError(.unsupportedStream, .segment, source, message, url: url)), now)
        }
    }

    /// Continues with the oldest segment of the live window, once everything before has been played.
    private mutating func jump(over first: MediaSegment, _ state: RenditionState, _ now: Timestamp) {
        guard let model = session.model else { return apply(.jump(to: first.start), now) }
        guard model.level(at: now.instant) <= 0 || model.isWaiting else { return }
        let message = "segments left the live window before they were fetched"
        apply(.warned(StreamWarning(kind: .expiredSegments, message: message, url: nil)), now)
        apply(.jump(to: live.destination(behind: first, in: state)), now)
    }

    /// Asks the rule whether to abandon the running download for a lower rung.
    mutating func reconsider(_ now: Timestamp) {
        guard choice.takeReconsideration(at: now.instant), let fetching = fetches.fetching(.segment(.main)),
            let plan = tracks[.main]?.plan, let segment = plan.segment, var context = adaptationContext(now)
        else { return }
        let arrivals = fetching.buffer.arrivals
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
        apply(.cancelFetches(.main), now)
        tracks[.main]?.choose(rung: rung, rendition: variant.main)
    }
}
