internal import Instrument

/// The state of a probe's playback; turns the transitions of the model into signals.
///
/// A value that engines change under a lock. Signals gather in `outbox`, and are delivered outside the lock.
struct PlaybackSession {
    private(set) var model: PlaybackModel?
    private(set) var info = MediaInfo()
    private(set) var outcome: ProbeOutcome?
    private(set) var isRequested = false
    /// Where the reader, or the loading, has to continue.
    private(set) var pendingSeek: Int64?
    var outbox: [PlayerSignal] = []

    private let source: MediaSource
    /// Looked up once: the file may have gone by the end.
    private let sourceText: String
    private let configuration: ProbeConfiguration
    private var quality = Quality(width: 0, height: 0, bitrate: 0)
    /// The quality of the latest media, which the playhead may not have reached.
    private var newestQuality: Quality?
    /// Quality changes that were reported before the tracks were known.
    private var earlyCues: [(quality: Quality, position: Int64)] = []
    /// Why loading ended early; nil at the regular end.
    private var failure: ProbeError?
    /// The state before a seek, which returns if the source refuses the seek.
    private var beforeSeek: (model: PlaybackModel, failure: ProbeError?)?
    private var bytes = 0
    private var furthest: Int64 = 0
    private var hasKeyframe = false
    /// The number of consecutive packets that did not extend the buffer.
    private var idlePackets = 0
    private var isPaused = false
    private var rate = 1.0
    private(set) var catchUpRate = 1.0
    private var network = NetworkSums()
    private var stallCount = 0

    /// More than any media needs between two keyframes, or until a track that lags catches up.
    private static var mostIdlePackets: Int { 200_000 }

    init(source: MediaSource, configuration: ProbeConfiguration) {
        self.source = source
        sourceText = source.sourceText
        self.configuration = configuration
    }
}

// MARK: What is true now
extension PlaybackSession {
    func status(at now: MonotonicInstant) -> PlayerStatus { status(position: model?.position(at: now)) }

    func progress(at now: MonotonicInstant) -> ProbeProgress {
        ProbeProgress(
            state: state,
            position: .nanoseconds(model?.position(at: now) ?? 0),
            duration: info.duration.map { .nanoseconds($0) },
            buffered: .nanoseconds(model?.level(at: now) ?? 0)
        )
    }

    /// Whether the reader should read on.
    func wantsData(at now: MonotonicInstant) -> Bool { model?.wantsData(at: now) ?? false }

    private var state: ProbeProgress.State {
        if outcome != nil { return .finished }
        guard isRequested else { return .idle }
        guard let model else { return .loading }
        if model.isSeeking { return .seeking }
        if model.isWaiting { return model.hasStarted ? .stalled : .loading }
        return model.isPaused ? .paused : .playing
    }

    private func status(position: Int64?) -> PlayerStatus {
        var status = PlayerStatus()
        status.position = position.map { .nanoseconds($0) }
        status.duration = info.duration.map { .nanoseconds($0) }
        if quality.width > 0, quality.height > 0 {
            status.resolutionWidth = quality.width
            status.resolutionHeight = quality.height
        }
        status.bitrate = bitrate
        status.framesPerSecond = info.framesPerSecond
        status.language = info.language
        status.title = configuration.title ?? info.title ?? source.fileName
        status.source = sourceText
        return status
    }

    /// As declared; else what was read so far, over the time that it plays.
    private var bitrate: Int? {
        if quality.bitrate > 0 { return quality.bitrate }
        if let declared = info.bitrate { return declared }
        guard furthest > 0 else { return nil }
        return Int(clamping: Int64(clamping: Double(bytes) * 8e9 / Double(furthest)))
    }
}

// MARK: What the reader brings
extension PlaybackSession {
    /// The tracks are known, so that the model can be created.
    ///
    /// - Parameter canLag: whether a track may turn out to be sparse or to end early, because one source delivers all
    ///   tracks together. A segment holds as much of each track as exists.
    mutating func opened(_ info: MediaInfo, canLag: Bool = true, now: MonotonicInstant) {
        self.info = info
        if info.width > 0 || info.height > 0 {
            quality = Quality(width: info.width, height: info.height, bitrate: 0)
        }
        var tracks: Set<PlaybackModel.Track> = []
        if info.hasVideo { tracks.insert(.video) }
        if info.hasAudio { tracks.insert(.audio) }
        var model = PlaybackModel(
            tracks: tracks,
            policy: configuration.buffer,
            canLag: canLag,
            backBuffer: configuration.profile.backBuffer,
            quality: quality,
            now: now
        )
        model.setRate(rate, now: now)
        if isPaused { model.pause(now: now) }
        for cue in earlyCues { model.addCue(cue.quality, at: cue.position, now: now) }
        earlyCues = []
        self.model = model
        if let wish = pendingSeek { seek(to: wish, now: now) }
    }

    /// A packet has arrived. Video counts from its first keyframe on: nothing can be shown before.
    ///
    /// While a jump waits for the reader, what it brings is from before the jump and is dropped.
    mutating func received(_ packet: Packet, now: MonotonicInstant) {
        guard pendingSeek == nil else { return }
        bytes += packet.size
        furthest = max(furthest, packet.end)
        if packet.track == .video {
            if packet.isKeyframe { hasKeyframe = true }
            guard hasKeyframe else { return }
        }
        if let size = packet.pictureSize { notice(size, at: packet.start, now) }
        let reached = model?.bufferedEnd
        model?.append(packet.track, end: packet.end, now: now)
        advance(to: now)
        idlePackets = model?.bufferedEnd == reached ? idlePackets + 1 : 0
        if idlePackets > Self.mostIdlePackets {
            let message = "the source keeps sending data that contains no playable media; check the source"
            exhausted(ProbeError(.readFailed, .read, source, message), now: now)
        }
    }

    /// There is no more, or nothing more can be read.
    mutating func exhausted(_ error: ProbeError?, now: MonotonicInstant) {
        guard outcome == nil, model == nil || pendingSeek == nil else { return }
        failure = error ?? prematureEnd
        // A playback that waits with an empty buffer does not resume before the error.
        let isDry = model.map { $0.isWaiting && $0.level(at: now) <= 0 } ?? true
        guard let failure, furthest == 0 || isDry else {
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
        hasKeyframe = true
        let position = earlier.model.position(at: now)
        model?.takeBack(seekFrom: earlier.model, now: now)
        model?.setRate(rate, now: now)
        if isPaused { model?.pause(now: now) } else { model?.resume(now: now) }
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

    private mutating func notice(_ size: PictureSize, at position: Int64, _ now: MonotonicInstant) {
        approach(Quality(width: size.width, height: size.height, bitrate: 0), at: position, now: now)
    }

    /// A viewer would not call it the end when a good part is missing (spared: guessed durations and small
    /// differences).
    private var prematureEnd: ProbeError? {
        if furthest == 0 {
            return ProbeError(.endedEarly, .read, source, "the source contains no media; check the file")
        }
        guard let declared = info.duration, !info.isDurationEstimated else { return nil }
        let missing = declared - furthest
        guard missing > max(1_000_000_000, declared / 50) else { return nil }
        let seconds = { (nanoseconds: Int64) in "\((Double(nanoseconds) / 1e8).rounded() / 10) s" }
        let message =
            "the media ends after \(seconds(furthest)), expected \(seconds(declared)); the file or the transfer is truncated"
        return ProbeError(.endedEarly, .read, source, message)
    }
}

// MARK: What segments bring
extension PlaybackSession {
    /// The manifest is there; `info` says what is known of the stream by now.
    mutating func manifestLoaded(_ info: MediaInfo, now: MonotonicInstant) {
        guard outcome == nil else { return }
        self.info = info
        signal(.manifestLoad, at: now)
        loadStream(now: now)
    }

    /// How long the stream plays, which a live one says at its end.
    mutating func learn(duration: Int64?) { info.duration = duration }

    /// Media of a track is there up to `end`, since `instant`.
    mutating func received(_ track: PlaybackModel.Track, end: Int64, at instant: MonotonicInstant) {
        guard outcome == nil, pendingSeek == nil else { return }
        furthest = max(furthest, end)
        model?.append(track, end: end, now: instant)
    }

    /// How far behind the live edge the playhead is.
    mutating func learn(latency: Duration) { network.liveLatency = latency }

    /// A request has ended.
    mutating func count(requestOf bytes: Int, throughput: Int?, hasFailed: Bool) {
        network.requests += 1
        if hasFailed { network.failures += 1 }
        network.bytes = network.bytes.saturatingAdd(bytes)
        network.throughput = throughput ?? network.throughput
    }

    /// Goes a little faster or slower than the person wants, to keep near the live edge.
    mutating func catchUp(at rate: Double, now: MonotonicInstant) {
        guard rate != catchUpRate, rate.isFinite, rate > 0 else { return }
        catchUpRate = rate
        model?.setRate(self.rate * rate, now: now)
    }

    /// The viewer has jumped over media up to `position`, which playback therefore does not miss at the end.
    mutating func passOver(to position: Int64) { furthest = max(furthest, position) }

    /// A read-only copy of what loading may know.
    func view(at now: Timestamp) -> PlaybackView {
        PlaybackView(
            now: now,
            model: model,
            pendingSeek: pendingSeek,
            catchUpRate: catchUpRate,
            stallCount: stallCount
        )
    }

    /// Bytes of media have come.
    mutating func received(bytes count: Int) { bytes = bytes.saturatingAdd(count) }

    /// From `position` on the picture, or the stream, has this quality.
    mutating func approach(_ found: Quality, at position: Int64, now: MonotonicInstant) {
        let known = newestQuality ?? quality
        let isFirst = newestQuality == nil && model?.hasStarted != true
        newestQuality = found
        if found == known { return }
        if isFirst {
            quality = found
            model?.setFirstQuality(found)
        } else if model != nil {
            model?.addCue(found, at: position, now: now)
        } else {
            earlyCues.append((found, position))
        }
    }

    /// Something failed that playback survives.
    mutating func survive(_ error: ProbeError, now: MonotonicInstant) {
        guard outcome == nil else { return }
        report(error, isFatal: false, at: now, position: nil)
    }

    /// Reports a defect that playback survives.
    mutating func warn(_ warning: StreamWarning, now: MonotonicInstant) {
        guard outcome == nil else { return }
        let status = status(position: model?.position(at: now))
        outbox.append(PlayerSignal(.streamWarning, at: now, status: status, attributes: warning.attributes))
    }
}

// MARK: What the person does
extension PlaybackSession {
    /// Carries out a command of the viewer.
    mutating func perform(_ command: PlaybackCommand, now: MonotonicInstant) {
        switch command {
        case .play: _ = request(now: now)
        case .pause: pause(now: now)
        case .resume: resume(now: now)
        case .seek(let target): seek(to: target, now: now)
        case .setRate(let rate): setRate(rate, now: now)
        case .stop: stop(now: now)
        }
    }

    /// Requests playback; false if it was requested or has ended before.
    mutating func request(now: MonotonicInstant) -> Bool {
        if isRequested || outcome != nil { return false }
        isRequested = true
        for action: Action in [.mediaRequest, .prepareItem] { signal(action, at: now) }
        return true
    }

    /// Loading of the media itself begins.
    mutating func loadStream(now: MonotonicInstant) {
        for action: Action in [.streamLoad, .bufferBegin] { signal(action, at: now) }
    }

    private mutating func pause(now: MonotonicInstant) {
        guard outcome == nil, !isPaused else { return }
        advance(to: now)
        isPaused = true
        model?.pause(now: now)
        if model?.hasStarted == true, outcome == nil { signal(.pauseBegin, at: now) }
    }

    private mutating func resume(now: MonotonicInstant) {
        guard outcome == nil, isPaused else { return }
        advance(to: now)
        isPaused = false
        if model?.hasStarted == true { signal(.pauseFinish, at: now) }
        model?.resume(now: now)
        advance(to: now)
    }

    private mutating func setRate(_ rate: Double, now: MonotonicInstant) {
        guard rate.isFinite, rate > 0 else { return }
        advance(to: now)
        self.rate = rate
        model?.setRate(rate * catchUpRate, now: now)
    }

    /// Jumps; a target beyond either end is brought to it.
    mutating func seek(to target: Int64, now: MonotonicInstant) {
        guard outcome == nil else { return }
        let target = min(max(0, target), info.duration ?? .max)
        advance(to: now)
        guard var earlier = model, outcome == nil else { return pendingSeek = target }
        if !earlier.isSeeking, earlier.hasStarted || !earlier.isWaiting { signal(.seekBegin, at: now) }
        if model?.seek(to: target, now: now) == true {
            if beforeSeek == nil || !earlier.isSeeking {
                earlier.stand(at: now)
                beforeSeek = (earlier, failure)
            }
            pendingSeek = target
            failure = nil
            hasKeyframe = false
            // Media that was read but never shown no longer counts.
            newestQuality = nil
        }
        advance(to: now)
    }

    private mutating func stop(now: MonotonicInstant) {
        guard outcome == nil else { return }
        advance(to: now)
        guard outcome == nil else { return }
        if model?.hasStarted == true { signal(.stop, at: now) }
        outcome = .stopped
    }

    /// Lets time pass.
    mutating func advance(to now: MonotonicInstant) {
        guard outcome == nil, let transitions = model?.advance(to: now) else { return }
        for transition in transitions { handle(transition) }
    }

    private mutating func handle(_ transition: PlaybackModel.Transition) {
        let (instant, position) = (transition.instant, transition.position)
        switch transition.kind {
        case .stalled:
            stallCount += 1
            signal(.bufferBegin, at: instant, position: position)
        case .filled(.seek): signal(.seekFinish, at: instant, position: position)
        case .filled(.start), .filled(.stall): signal(.bufferFinish, at: instant, position: position)
        case .started: signal(.start, at: instant, position: position)
        case .reached(let reached): change(to: reached, at: instant, position: position)
        case .ended:
            if let failure { return fail(failure, at: instant, position: position) }
            signal(.end, at: instant, position: position)
            outcome = .ended
        }
    }

    private mutating func change(to reached: Quality, at instant: MonotonicInstant, position: Int64) {
        let isBetter = reached.isBetter(than: quality)
        let isChange = reached != quality
        quality = reached
        if isChange { signal(isBetter ? .qualityChangeUp : .qualityChangeDown, at: instant, position: position) }
    }

    private mutating func fail(_ error: ProbeError, at instant: MonotonicInstant, position: Int64?) {
        report(error, isFatal: true, at: instant, position: position)
        outcome = .failed(error)
    }

    private mutating func report(_ error: ProbeError, isFatal: Bool, at instant: MonotonicInstant, position: Int64?) {
        var attributes = network.attributes
        attributes[.errorDescription] = error.message
        attributes[.isFatal] = isFatal
        attributes[.errorCode] = error.code.description
        attributes[.errorPhase] = error.phase.rawValue
        attributes[.errorURL] = error.url
        attributes[.errorStatus] = error.status
        outbox.append(
            PlayerSignal(.error, at: instant, status: status(position: position), attributes: attributes)
        )
    }

    private mutating func signal(_ action: Action, at instant: MonotonicInstant, position: Int64? = nil) {
        let position = position ?? model?.position(at: instant)
        let status = status(position: position)
        outbox.append(PlayerSignal(action, at: instant, status: status, attributes: network.attributes))
    }
}
