internal import Instrument

extension PlaybackSession {
    /// The manifest is there; `info` says what is known of the stream by now.
    mutating func manifestLoaded(_ info: MediaInfo, now: MonotonicInstant) {
        guard outcome == nil else { return }
        self.info = info
        signal(.manifestLoad, at: now)
        loadStream(now: now)
    }

    /// The duration of the stream, which is known at the end of a live stream.
    mutating func learn(duration: Int64?) { info.duration = duration }

    /// Media of a track is there up to `end`, since `instant`.
    mutating func received(_ track: PlaybackModel.Track, end: Int64, at instant: MonotonicInstant) {
        guard outcome == nil, pendingSeek == nil else { return }
        media.reach(end)
        model?.append(track, end: end, now: instant)
    }

    /// How far behind the live edge the playhead is.
    mutating func learn(latency: Duration) { network.liveLatency = latency }

    /// Subtitles in a language are loaded from now on.
    mutating func learn(subtitles language: String, cues: Int) {
        info.subtitles = language
        network.subtitleCues = cues
    }

    /// The cues of all loaded subtitles.
    mutating func learn(cues: Int) { network.subtitleCues = cues }

    /// A request has ended.
    mutating func count(_ request: FinishedRequest, at now: MonotonicInstant) {
        network.requests += 1
        if request.hasFailed { network.failures += 1 }
        network.bytes = network.bytes.saturatingAdd(request.bytes)
        network.throughput = request.throughput ?? network.throughput
        guard configuration.reportsRequests, outcome == nil else { return }
        signal(.requestFinish, at: now, adding: request.attributes)
    }

    /// Goes a little faster or slower than the person wants, to keep near the live edge.
    mutating func catchUp(at rate: Double, now: MonotonicInstant) {
        if self.rate.setCatchUp(rate) { rateChanged(at: now) }
    }

    /// At most `level` of media is needed to start or to continue with.
    mutating func limitThresholds(to level: Duration, now: MonotonicInstant) {
        guard model?.limitThresholds(to: level) == true else { return }
        model?.settle(now)
        advance(to: now)
    }

    /// The viewer has jumped over media up to `position`, which playback therefore does not miss at the end.
    mutating func passOver(to position: Int64) { media.passOver(to: position) }

    /// A read-only copy of what loading may know.
    func view(at now: Timestamp) -> PlaybackView {
        PlaybackView(
            now: now,
            model: model,
            pendingSeek: pendingSeek,
            catchUpRate: rate.catchUp,
            stallCount: stallCount,
            startDelay: startDelay
        )
    }

    /// Bytes of media have come.
    mutating func received(bytes count: Int) { media.count(bytes: count) }

    /// From `position` on the picture, or the stream, has this quality.
    mutating func approach(_ found: Quality, at position: Int64, now: MonotonicInstant) {
        quality.approach(found, at: position, in: &model, now: now)
    }

    /// Something failed that playback survives.
    mutating func survive(_ error: ProbeError, now: MonotonicInstant) {
        guard outcome == nil else { return }
        report(error, isFatal: false, at: now, position: nil)
    }

    /// Reports a defect that playback survives.
    mutating func warn(_ warning: StreamWarning, now: MonotonicInstant) {
        guard outcome == nil else { return }
        let status = status(position: position(at: now))
        news.append(.signal(PlayerSignal(.streamWarning, at: now, status: status, attributes: warning.attributes)))
    }
}
