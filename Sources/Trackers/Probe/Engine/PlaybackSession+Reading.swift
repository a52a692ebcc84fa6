internal import Instrument

extension PlaybackSession {
    /// The tracks are known, so that the model can be created.
    ///
    /// - Parameter canLag: whether a track may turn out to be sparse or to end early, because one source delivers all
    ///   tracks together. A segment holds as much of each track as exists.
    /// - Parameter isTransmuxed: whether a browser's player has to transmux the media.
    /// - Parameter preparation: the part of the delay before the first picture that passes before the last track
    ///   arrives; may be negative.
    mutating func opened(
        _ info: MediaInfo,
        canLag: Bool = true,
        isTransmuxed: Bool = false,
        preparation: Duration = .zero,
        now: MonotonicInstant
    ) {
        self.info = info
        quality.opened(info)
        var tracks: Set<PlaybackModel.Track> = []
        if info.hasVideo { tracks.insert(.video) }
        if info.hasAudio { tracks.insert(.audio) }
        var decodeDelay = configuration.profile.decodeDelay
        if isTransmuxed { decodeDelay.start = decodeDelay.transmuxedStart ?? decodeDelay.start }
        decodeDelay.start = max(.zero, decodeDelay.start - preparation)
        var model = PlaybackModel(
            tracks: tracks,
            policy: configuration.buffer,
            canLag: canLag,
            backBuffer: configuration.profile.backBuffer,
            decodeDelay: decodeDelay,
            quality: quality.current,
            now: now
        )
        if let framesPerSecond = info.framesPerSecond { model.setFrameRate(framesPerSecond) }
        model.setRate(rate.factor, now: now)
        if isPaused { model.pause(now: now) }
        if isHeld { model.hold(now: now) }
        model.setMarkers(earlyMarkers, from: 0, now: now)
        quality.addEarlyCues(to: &model, now: now)
        self.model = model
        if let wish = pendingSeek { seek(to: wish, now: now) }
    }

    /// A packet has arrived. Video counts from its first keyframe on: nothing can be shown before.
    ///
    /// While a jump waits for the reader, what it brings is from before the jump and is dropped.
    mutating func received(_ packet: Packet, now: MonotonicInstant) {
        guard pendingSeek == nil else { return }
        guard media.count(packet) else { return }
        if let size = packet.pictureSize {
            approach(Quality(width: size.width, height: size.height, bitrate: 0), at: packet.start, now: now)
        }
        let reached = model?.bufferedEnd
        model?.append(packet.track, end: packet.end, now: now)
        advance(to: now)
        if media.countIdle(extended: model?.bufferedEnd != reached) {
            let message = "the source keeps sending data that contains no playable media; check the source"
            exhausted(ProbeError(.readFailed, .read, source, message), now: now)
        }
    }

    /// There is no more, or nothing more can be read.
    mutating func exhausted(_ error: ProbeError?, now: MonotonicInstant) {
        guard outcome == nil, model == nil || pendingSeek == nil else { return }
        failure = error ?? media.prematureEnd(of: info, from: source)
        // A playback that waits with an empty buffer does not resume before the error.
        guard let failure, media.end == 0 || model?.isDry != false else {
            model?.reachedEnd(now: now)
            return advance(to: now)
        }
        // Nothing to play out first.
        fail(failure, at: now, position: model?.position(at: now))
    }

    /// The source cannot seek: playback continues at its earlier position.
    mutating func cannotSeek(_ error: ProbeError, now: MonotonicInstant) {
        guard outcome == nil, pendingSeek == nil, let earlier = beforeSeek else { return }
        guard error.code == .notSeekable else { return exhausted(error, now: now) }
        beforeSeek = nil
        failure = earlier.failure
        media.resumeWithoutKeyframe()
        let position = earlier.model.position(at: now)
        model?.takeBack(seekFrom: earlier.model, now: now)
        model?.setRate(rate.factor, now: now)
        if isPaused { model?.pause(now: now) } else { model?.resume(now: now) }
        if earlier.isRelocation {
            if !isHeld { model?.release(now: now) }
            report(error, isFatal: false, at: now, position: position)
            return advance(to: now)
        }
        if earlier.model.hasStarted || !earlier.model.isWaiting { signal(.seekFinish, at: now, position: position) }
        if earlier.model.isWaiting, earlier.model.hasStarted { signal(.bufferBegin, at: now, position: position) }
        report(error, isFatal: false, at: now, position: position)
        advance(to: now)
    }

    /// The position to which the reader has to move first; returned once.
    mutating func takePendingSeek() -> Int64? {
        defer { pendingSeek = nil }
        return pendingSeek
    }

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
