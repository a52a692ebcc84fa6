internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

// Subtitles: chosen, fetched and counted beside video and audio.
extension StreamPlayback {
    /// Takes the steps of subtitles that need no request, and begins the next request.
    mutating func advanceSubtitles(_ now: Timestamp) {
        // The main track comes first: its playlist places the others, and its first segment decides the start.
        guard live.isPlaced else { return }
        chooseSubtitles(now)
        noteLateSubtitles(now)
        // Other tracks continue after many steps without a request; the next event continues here.
        for _ in 0..<1000 {
            guard subtitles.isLoading, !fetches.isBusy(.subtitles), let track = subtitles.track else { return }
            if track.plan == nil {
                guard track.level(at: position(at: now)) < wantedSubtitles else { return }
                subtitles.plan()
            }
            guard stepSubtitles(now) else { return }
        }
    }

    private var wantedSubtitles: Int64 { max(1, profile.buffer.maximum.nanoseconds) }

    private mutating func chooseSubtitles(_ now: Timestamp) {
        guard !subtitles.isOff, let main = tracks[.main], let rung = main.plan?.rung ?? main.rung,
            let variant = manifest.variant(at: rung)
        else { return }
        let audio = (tracks[.audio] ?? main).renditionInUse.flatMap(manifest.language)
        switch subtitles.choose(of: variant, audioLanguage: audio, in: manifest, at: position(at: now)) {
        case .unchanged: break
        case .chosen(let rendition):
            apply(.cancelFetches(.subtitles), now)
            session.learn(subtitles: rendition.language ?? "und", cues: subtitles.cueCount)
        case .absent(let language, let found):
            let offer = found.isEmpty ? "none" : found.joined(separator: ", ")
            let message = "the stream must have subtitles in '\(language)' (found \(offer)); choose another language"
            apply(.warned(StreamWarning(kind: .missingSubtitles, message: message, url: nil)), now)
        }
    }

    /// Takes one step of the planned segment; false if subtitles have to wait.
    private mutating func stepSubtitles(_ now: Timestamp) -> Bool {
        guard let id = subtitles.rendition, let state = manifest[id] else { return false }
        guard let timeline = state.timeline else {
            if let fetch = manifest.indexFetch(of: id) { apply(fetch, now) }
            return false
        }
        if timeline.index.isEmpty, !timeline.index.isComplete { return false }
        switch subtitles.step(in: timeline, at: now.wallTime) {
        case .chosen: return true
        case .fetch(let segment):
            if subtitles.hasLoaded(segment) {
                subtitles.pass(segment)
                return true
            }
            fetch(subtitles: segment, now)
            return false
        case .gap(let segment):
            skipSubtitles(segment, "the playlist declares a gap", now)
            return true
        case .expired(let first):
            let message = "subtitles left the live window before they were fetched; check the delay of the server"
            apply(.warned(StreamWarning(.missingSubtitles, message, first.url)), now)
            subtitles.jump(over: first)
            return true
        case .wait:
            fetchIndex(after: subtitles.track, now)
            return false
        case .end: return false
        }
    }

    private mutating func fetch(subtitles segment: MediaSegment, _ now: Timestamp) {
        switch store.need(of: segment, .subtitles) {
        case .fetch(let purpose, let url, let range): apply(.fetch(purpose, url, range), now)
        case .unsupported(let encryption):
            subtitles.giveUp()
            let message = "the probe cannot decrypt subtitles with \(encryption), and fetches no more of them"
            apply(.warned(StreamWarning(.missingSubtitles, message, segment.url)), now)
        }
    }

    /// Takes a segment with subtitles.
    mutating func arrived(
        subtitles response: ResourceResponse,
        _ fetching: Fetching,
        _ now: Timestamp
    ) throws(ResourceFailure) {
        guard let segment = subtitles.track?.plan?.segment else { return }
        let bytes = try store.plain(response, fetching.request.range, of: segment)
        let content = SubtitleContent(
            bytes.array,
            initialization: segment.initialization.flatMap { store.bytes(of: $0) } ?? [],
            hasReadableSamples: segment.encryption?.coversContainer ?? true,
            range: segment.mediaTime.map { $0..<max($0, $0.saturatingAdd(segment.duration)) }
        )
        noteLateSubtitles(now)
        subtitles.take(content, of: segment)
        session.learn(cues: subtitles.cueCount)
        if let start = content.firstOutside, let range = segment.mediaTime {
            let message =
                "\(content.outsideCount) cues of segment \(segment.sequence) are outside its time (the first at "
                + "\(start / 1_000_000) ms, the segment from \(range / 1_000_000) ms for \(segment.duration / 1_000_000) ms)"
            apply(.warned(StreamWarning(.subtitleTimes, message, segment.url)), now)
        }
        guard let defect = content.defect else { return }
        let message = "the subtitles of segment \(segment.sequence) are malformed: \(defect)"
        apply(.warned(StreamWarning(.malformedSubtitles, message, segment.url)), now)
    }

    /// Reports subtitles that the playhead has reached before they arrived.
    private mutating func noteLateSubtitles(_ now: Timestamp) {
        guard let due = subtitles.lateFrom, let model = session.model, model.hasStarted,
            model.position(at: now.instant) > due
        else { return }
        subtitles.noteLate(at: due)
        let segment = subtitles.track?.plan?.segment
        let subject = segment.map { "the subtitles of segment \($0.sequence)" } ?? "the next subtitles of the playlist"
        let cause = subtitles.latestFailure.map { ": \($0)" } ?? "; check the delay of the server and the packager"
        let message = "\(subject) have not arrived before the playhead\(cause)"
        let url = segment?.url ?? subtitles.rendition.flatMap { manifest[$0]?.playlistURL }
        apply(.warned(StreamWarning(.lateSubtitles, message, url)), now)
    }

    private mutating func skipSubtitles(_ segment: MediaSegment, _ reason: String, _ now: Timestamp) {
        let message = "the subtitles of segment \(segment.sequence) are missing: \(reason)"
        apply(.warned(StreamWarning(.missingSubtitles, message, segment.url)), now)
        subtitles.skip(segment)
    }

    /// Responds to a failed request for subtitles: with the profile's retries, then without these subtitles. The server
    /// and the variant stay as they are, because video and audio do not depend on subtitles.
    mutating func subtitlesFailed(_ failure: ResourceFailure, _ fetching: Fetching, _ now: Timestamp) {
        let chance = randomness.number(in: 0...1)
        if fetches.planRetry(of: fetching, after: failure, randomness: chance, now: now.instant) {
            return subtitles.noteFailure(failure.message)
        }
        let purpose = fetching.purpose
        if purpose.role == .subtitles {
            if let segment = subtitles.track?.plan?.segment { skipSubtitles(segment, failure.message, now) }
            return
        }
        var message = "the playlist of the subtitles cannot be read: \(failure.message)"
        if manifest.isReload(purpose) {
            manifest.survivesReload(purpose, nextAt: now.instant.advanced(by: Self.reloadPause))
        } else {
            subtitles.giveUp()
            message = "the probe plays without subtitles, because \(message)"
        }
        apply(.warned(StreamWarning(.missingSubtitles, message, fetching.request.url)), now)
    }

    /// The instants at which subtitles are late, find room in the buffer, or become available.
    func subtitleDeadlines(_ now: Timestamp) -> [MonotonicInstant] {
        guard subtitles.isLoading, let model = session.model, let track = subtitles.track else { return [] }
        var next = [subtitles.lateFrom.flatMap { model.instant(ofPlaying: $0.saturatingAdd(1)) }]
        if !fetches.isBusy(.subtitles) {
            if let plan = track.plan {
                let wait = plan.segment?.availability.map { $0.nanoseconds(since: now.wallTime) } ?? 0
                if wait > 0 { next.append(now.instant.advanced(by: .nanoseconds(wait))) }
            } else {
                let empty = track.loadedEnd.saturatingSubtract(wantedSubtitles).saturatingAdd(1)
                next.append(model.instant(ofPlaying: empty))
            }
        }
        return next.compactMap(\.self)
    }
}
