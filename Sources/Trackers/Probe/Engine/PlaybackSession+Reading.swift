internal import Instrument

extension PlaybackSession {
    /// The tracks are known, so that the model can be created.
    ///
    /// - Parameter canLag: whether a track may turn out to be sparse or to end early, because one source delivers all
    ///   tracks together. A segment holds as much of each track as exists.
    /// - Parameter isTransmuxed: whether a browser's player has to transmux the media.
    mutating func opened(
        _ info: MediaInfo,
        canLag: Bool = true,
        isTransmuxed: Bool = false,
        now: MonotonicInstant
    ) {
        self.info = info
        quality.opened(info)
        var tracks: Set<PlaybackModel.Track> = []
        if info.hasVideo { tracks.insert(.video) }
        if info.hasAudio { tracks.insert(.audio) }
        var decodeDelay = configuration.profile.decodeDelay
        if isTransmuxed { decodeDelay.start = decodeDelay.transmuxedStart ?? decodeDelay.start }
        var model = PlaybackModel(
            tracks: tracks,
            policy: configuration.buffer,
            canLag: canLag,
            backBuffer: configuration.profile.backBuffer,
            decodeDelay: decodeDelay,
            quality: quality.current,
            now: now
        )
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
        let isDry = model.map { $0.isWaiting && $0.level(at: now) <= 0 } ?? true
        guard let failure, media.end == 0 || isDry else {
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
}
