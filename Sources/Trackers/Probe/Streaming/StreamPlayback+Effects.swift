internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// The only place where loading accesses the network and the session.
extension StreamPlayback {
    mutating func apply(_ effects: [StreamEffect], _ now: Timestamp) {
        for effect in effects { apply(effect, now) }
    }

    mutating func apply(_ effect: StreamEffect, _ now: Timestamp) {
        switch effect {
        case .fetch(let purpose, let address, let range):
            let url = manifest.address(of: address, for: purpose)
            let report = report(on: purpose, to: url, now)
            let body = purpose == .licence ? licence.body ?? [] : []
            guard
                let fetching = fetches.begin(purpose, url, range: range, body: body, report: report, now: now.instant)
            else { return }
            if let report {
                let view = view(now)
                reports?.begun(report.report, view)
            }
            watch(fetching, since: fetching.begun)
        case .cancelFetches(let role):
            held.discard(role)
            hints.discard(role)
            for fetching in fetches.cancel(role) {
                session.count(fetching.ended(at: now.instant, hasFailed: false), at: now.instant)
            }
        case .manifestLoaded(let duration):
            session.manifestLoaded(MediaInfo(duration: duration), now: now.instant)
            if let warning = manifest.wait(at: now.wallTime) { apply(.warned(warning), now) }
        case .durationChanged(let duration): session.learn(duration: duration)
        case .ladderChanged(let change): adopt(change, now)
        case .latencyMeasured(let latency): session.learn(latency: latency)
        case .warned(let warning):
            if warnings.admits(warning.kind) { session.warn(warning, now: now.instant) }
        case .opened(let tracks): open(tracks)
        case .received(let media): session.received(media.track, end: media.end, at: media.instant)
        case .qualityChanges(let quality, let position): session.approach(quality, at: position, now: now.instant)
        case .start(let position): session.seek(to: position, now: now.instant)
        case .jump(let position): jump(to: position, now)
        case .sufficientMedia(let level): session.limitThresholds(to: level, now: now.instant)
        case .catchUp(let rate): session.catchUp(at: rate, now: now.instant)
        case .stale(let id, let error): leaveStalePlaylist(id, error, now)
        case .survived(let error): session.survive(error, now: now.instant)
        case .exhausted(let error):
            // What plays out of the buffer may still need subtitles.
            if error == nil, subtitles.isLoading { phase.change(.mediaLoaded) } else { endLoading() }
            for media in feed.takeHeldPictures(at: now.instant) { apply(.received(media), now) }
            feed.dropWaiting()
            session.exhausted(error, now: now.instant)
        }
    }

    /// The report of a request; nil for a host that is not configured.
    private func report(on purpose: FetchPurpose, to url: HTTPURL, _ now: Timestamp) -> ReportedRequest? {
        guard let reports, reports.isConfigured(url.host) else { return nil }
        let view = view(now)
        let reporter = RequestReporter(
            tracks: tracks,
            subtitles: subtitles.track,
            manifest: manifest,
            live: live.context,
            throughput: choice.measuredBitrate,
            measured: measured,
            maximumBuffer: profile.buffer.maximum,
            view: view
        )
        var report = reports.report(on: purpose, view)
        reporter.describe(purpose, to: url, in: &report)
        return ReportedRequest(mode: reports.reporting.mode, report: report)
    }

    /// Lets the adaptation rule look at the download of a segment while it runs.
    mutating func watch(_ fetching: Fetching, since instant: MonotonicInstant) {
        guard fetching.purpose == .segment(.main), (manifest.ladder?.count ?? 0) > 1 else { return }
        choice.watchDownload(since: instant)
    }

    /// Cancels all requests; nothing more is loaded.
    mutating func endLoading() {
        phase.change(.ended)
        fetches.cancelAll()
        for role in StreamRole.media {
            held.discard(role)
            hints.discard(role)
        }
    }

    /// Moves the playhead, and loading with it if the target is not buffered.
    mutating func jump(to position: Int64, _ now: Timestamp) {
        session.seek(to: position, now: now.instant)
        follow(now)
    }

    /// Moves the held playhead, and loading with it if the target is not buffered.
    mutating func relocateContent(to position: Int64, _ now: Timestamp) {
        session.perform(.relocate(to: position), now: now.instant)
        follow(now)
    }

    /// Continues loading where the session has moved to.
    private mutating func follow(_ now: Timestamp) {
        guard session.model != nil else {
            if let start = session.pendingSeek { relocate(to: start, now) }
            return
        }
        guard let target = session.takePendingSeek() else { return }
        session.passOver(to: target)
        relocate(to: target, now)
    }

    private mutating func relocate(to position: Int64, _ now: Timestamp) {
        guard manifest.presentation != nil else { return }
        for role in StreamRole.media + [.subtitles] { apply(.cancelFetches(role), now) }
        let lookup = lookup(for: position)
        for role in tracks.roles { tracks[role]?.move(to: position, from: lookup) }
        subtitles.move(to: position)
        // Media that arrived before the tracks were known belongs to the earlier position.
        feed.dropWaiting()
        phase.change(.moved)
        hasMoved = true
        store.leave()
        observe(.seeked, now)
    }

    private mutating func open(_ tracks: OpenedTracks) {
        var info = session.info
        info.hasVideo = tracks.hasVideo
        info.hasAudio = tracks.hasAudio
        info.framesPerSecond = tracks.framesPerSecond
        info.language = tracks.language
        // Each segment contains all existing media of each track.
        session.opened(
            info,
            canLag: false,
            isTransmuxed: tracks.isTransmuxed,
            preparation: preparation,
            now: tracks.instant
        )
        if let start = session.takePendingSeek() { session.passOver(to: start) }
    }

    /// The part of the delay before the first picture that passes before the last track arrives: less than nothing
    /// where the tracks wait for one another afterwards.
    private var preparation: Duration {
        guard tracks[.audio] != nil else { return .zero }
        if isLive { return profile.pacing.liveAudioAwaitsPictures ? profile.firstProcessing : .zero }
        return firstMedia.wait.map { profile.firstProcessing - $0 } ?? .zero
    }

    private mutating func adopt(_ change: LadderChange, _ now: Timestamp) {
        choice.adopt(change)
        failureCount.adopt(change)
        for role in tracks.roles where tracks[role]?.adopt(change) == false { apply(.cancelFetches(role), now) }
        if !subtitles.adopt(change) { apply(.cancelFetches(.subtitles), now) }
        let kept = change.renditions.union(tracks.all.compactMap(\.rendition))
        manifest.keepOnly(kept)
        feed.keepOnly(kept)
    }

    /// Reports an event to the adaptation rule.
    mutating func observe(_ event: AdaptationEvent, _ now: Timestamp) {
        guard let context = adaptationContext(now) else { return }
        choice.observe(event, in: context)
    }

    func adaptationContext(_ now: Timestamp) -> AdaptationContext? {
        guard let ladder = manifest.ladder, let track = tracks[.main] else { return nil }
        return choice.context(ladder, track, in: manifest, live.context, view(now))
    }
}
