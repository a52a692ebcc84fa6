internal import Instrument

/// Errors, logs, quality and sound.
extension AVPlayerModel {
    /// A fatal error. The item and the notice of its end often report the same error: the second report adds nothing.
    mutating func fail(_ failure: PlayerFailure, at now: MonotonicInstant) {
        guard failures.insert(failure.withoutWords).inserted else { return }
        conclude(isFollowed: false)
        if phase == .playing { closeBlocks(at: now) } else { closeBuffering(at: now) }
        report(failure, isFatal: true, at: now)
        if phase != .idle { (phase, earliestStart) = (.failed, nil) }
    }

    /// Entries of the error log that were not seen before. None of them ends the playback.
    mutating func errorLogChanged(to entries: [PlayerFailure], at now: MonotonicInstant) {
        for failure in entries.dropFirst(errorLogCount) { report(failure, isFatal: false, at: now) }
        errorLogCount = entries.count
    }

    private mutating func report(_ failure: PlayerFailure, isFatal: Bool, at now: MonotonicInstant) {
        var attributes = Self.attributes(of: failure)
        attributes[.isFatal] = isFatal ? true : nil
        emit(.error, at: now, attributes: attributes)
    }

    static func attributes(of failure: PlayerFailure) -> Attributes {
        var attributes = Attributes()
        attributes[.errorCode] = failure.withoutWords.description
        attributes[.errorDescription] =
            failure.message.map(SourceText.redactedAddresses) ?? failure.withoutWords.description
        attributes[.underlyingErrorCode] = failure.cause?.description
        return attributes
    }

    /// The player hides the picture of protected media while a connected display does not protect it.
    mutating func obscured(_ isObscured: Bool, at now: MonotonicInstant) {
        defer { self.isObscured = isObscured }
        guard isObscured, !self.isObscured, phase != .idle else { return }
        var attributes = Attributes()
        attributes[.errorCode] = "insufficientExternalProtection"
        attributes[.errorDescription] = "the picture is hidden: a connected display does not protect it (HDCP)"
        emit(.error, at: now, attributes: attributes)
    }

    /// A request counts while the item is there, before the start as well.
    mutating func requestEnded(_ request: MediaRequestFacts, at now: MonotonicInstant) {
        guard phase != .idle else { return }
        var attributes = Attributes()
        attributes[.requestKind] = request.kind.rawValue
        attributes[.requestTime] = MediaTime.duration(request.time)
        attributes[.timeToFirstByte] = request.timeToFirstByte.flatMap(MediaTime.duration)
        attributes[.requestBytes] = request.byteCount.flatMap { $0 > 0 ? $0 : nil }
        attributes[.requestFailed] = request.isFailed ? true : nil
        emit(.requestFinish, at: now, attributes: attributes)
    }

    /// The log's last entry is of the current rendition. Its bit rate is a change only once playback has started.
    mutating func accessLogChanged(to entries: [AccessLogEntry], at now: MonotonicInstant) {
        logs.take(entries)
        guard let last = entries.last else { return }
        values.observedBitrate = MediaTime.known(last.observedBitrate) ?? values.observedBitrate
        if hasVariants { return }
        values.averageBitrate = MediaTime.known(last.indicatedAverageBitrate) ?? values.averageBitrate
        guard let bitrate = MediaTime.known(last.indicatedBitrate) else { return }
        report(quality.set(bitrate: bitrate, at: now), at: now)
    }

    /// Where AVFoundation reports switches of variants, the access log's bit rates are not asked.
    mutating func variantChanged(to variant: VariantFacts, at now: MonotonicInstant) {
        hasVariants = true
        values.averageBitrate = MediaTime.known(variant.averageBitrate) ?? values.averageBitrate
        let framesPerSecond = variant.framesPerSecond.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        values.framesPerSecond = framesPerSecond ?? values.framesPerSecond
        guard let bitrate = MediaTime.known(variant.peakBitrate) ?? MediaTime.known(variant.averageBitrate) else {
            return
        }
        report(quality.set(bitrate: bitrate, at: now), at: now)
    }

    /// A change of the quality counts while something is played; before that it is the choice to begin with.
    mutating func report(_ isUp: Bool?, at now: MonotonicInstant) {
        guard let isUp, phase == .playing else { return }
        emit(isUp ? .qualityChangeUp : .qualityChangeDown, at: now)
    }

    /// A change of the sound counts while something is played, paused or not: before that nobody hears it.
    mutating func soundChanged(at now: MonotonicInstant, _ change: (inout AVPlayerValues) -> Void) {
        let before = (values.percentVolume, values.isMuted)
        change(&values)
        guard phase == .playing, before.0 != nil, before.1 != nil, before != (values.percentVolume, values.isMuted)
        else { return }
        emit(.volumeChange, at: now)
    }
}

extension PlayerFailure {
    /// The same error in other words is the same error.
    var withoutWords: Code { Code(domain: domain, number: code) }
}

/// The latest values of AVPlayer that the model reports unchanged.
struct AVPlayerValues: Hashable {
    var duration: Duration?
    var framesPerSecond: Double?
    var language: String?
    var subtitles: String?
    /// 0 to 1.
    var volume: Double?
    var isMuted: Bool?
    var observedBitrate: Int?
    var averageBitrate: Int?

    /// 0 to 100; nil for a volume that is not a number.
    var percentVolume: Int? {
        guard let volume, volume.isFinite else { return nil }
        return Int((min(1, max(0, volume)) * 100).rounded())
    }

    /// Forgets what belonged to the last item.
    mutating func forgetItem() {
        (duration, framesPerSecond, language, subtitles) = (nil, nil, nil, nil)
        (observedBitrate, averageBitrate) = (nil, nil)
    }

    /// The part of the status that does not depend on the time.
    var status: PlayerStatus {
        var status = PlayerStatus()
        status.duration = duration
        status.framesPerSecond = framesPerSecond
        (status.volume, status.isMuted) = (percentVolume, isMuted)
        (status.language, status.subtitles) = (language, subtitles)
        return status
    }
}

/// Live streams: the part that can be sought, and the distance from its end.
extension AVPlayerModel {
    /// Whether the media has no end. A duration that is not loaded yet has no seekable part.
    var isLive: Bool { values.duration == nil && window != nil }

    /// How far the playhead is behind the live edge, in seconds; nil if the media is not live.
    func liveOffset(at instant: MonotonicInstant) -> Double? {
        guard isLive, let edge = window?.end, let position = position(at: instant) else { return nil }
        return edge - position
    }

    mutating func windowChanged(to window: SeekableWindow) {
        guard let start = MediaTime.position(window.start), let end = MediaTime.position(window.end), start <= end
        else { return }
        self.window = window
    }

    /// Whether a movement is the player's, which restores its distance from the live edge after a wait.
    func keepsLiveOffset(movingTo position: Double, at now: MonotonicInstant) -> Bool {
        guard isLive, let window, window.keepsOffset, let offset = wait.offset, let sample, position > sample.position,
            isBuffering || wait.end.map({ Self.isOneChange($0, now) }) ?? false
        else { return false }
        return abs(window.end - position - offset) <= Self.offsetTolerance
    }
}

/// The latest wait for data of a live stream.
struct LiveWait: Hashable {
    /// How far the playhead was behind the live edge when the wait began, in seconds.
    var offset: Double?
    /// The end of the wait; nil while it lasts.
    var end: MonotonicInstant?
}
