internal import Instrument

/// The state of a probe's playback; turns the transitions of the model into signals.
///
/// A value that engines change under a lock. Signals gather in `outbox`, and are delivered outside the lock.
struct PlaybackSession {
    private(set) var model: PlaybackModel?
    private(set) var info = MediaInfo()
    private(set) var outcome: ProbeOutcome?
    private(set) var isRequested = false
    /// The position at which the reader, or the loading, has to continue.
    private(set) var pendingSeek: Int64?
    /// What the driver has to deliver, in order.
    var news: [PlaybackNews] = []
    /// Whether an ad break holds the playhead.
    private(set) var isHeld = false
    /// The position that is reported while the playhead is held: a break may move the playhead before it ends.
    private var heldPosition: Int64?
    /// The markers for the model, before the model exists.
    private var earlyMarkers: [PlaybackMarker] = []

    private let source: MediaSource
    /// Looked up once: the file may have gone by the end.
    private let sourceText: String
    private let configuration: ProbeConfiguration
    private var quality = Quality(width: 0, height: 0, bitrate: 0)
    /// The quality of the latest media, which the playhead may not have reached.
    private var newestQuality: Quality?
    /// Quality changes that were reported before the tracks were known.
    private var earlyCues: [(quality: Quality, position: Int64)] = []
    /// The reason for which loading ended early; nil at the regular end.
    private var failure: ProbeError?
    /// The state before a seek, which returns if the source refuses the seek.
    private var beforeSeek: (model: PlaybackModel, failure: ProbeError?, isRelocation: Bool)?
    private var bytes = 0
    private var furthest: Int64 = 0
    private var hasKeyframe = false
    /// The number of consecutive packets that did not extend the buffer.
    private var idlePackets = 0
    private var isPaused = false
    private var rate = 1.0
    private(set) var catchUpRate = 1.0
    private var reportsRate = false
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
    func status(at now: MonotonicInstant) -> PlayerStatus { status(position: position(at: now)) }

    /// The signals that wait for their delivery.
    var outbox: [PlayerSignal] { news.compactMap { if case .signal(let signal) = $0 { signal } else { nil } } }

    /// The position that is reported; nil before the tracks are known.
    private func position(at now: MonotonicInstant) -> Int64? { heldPosition ?? model?.position(at: now) }

    func progress(at now: MonotonicInstant) -> ProbeProgress {
        ProbeProgress(
            state: state,
            position: .nanoseconds(position(at: now) ?? pendingSeek ?? 0),
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
        return model.isPaused || model.isHeld ? .paused : .playing
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
        guard furthest > 0, bytes > 0 else { return nil }
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
            decodeDelay: configuration.profile.decodeDelay,
            quality: quality,
            now: now
        )
        model.setRate(rate, now: now)
        if isPaused { model.pause(now: now) }
        if isHeld { model.hold(now: now) }
        model.setMarkers(earlyMarkers, from: 0, now: now)
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

    /// The duration of the stream, which is known at the end of a live stream.
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
        guard rate != catchUpRate, rate.isFinite, rate > 0 else { return }
        catchUpRate = rate
        rateChanged(at: now)
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
        let status = status(position: position(at: now))
        news.append(.signal(PlayerSignal(.streamWarning, at: now, status: status, attributes: warning.attributes)))
    }
}

// MARK: What an ad break does
extension PlaybackSession {
    /// Tells what a stream says of ads.
    mutating func tell(_ ads: StreamAds) {
        if outcome == nil { news.append(.ads(ads)) }
    }

    private mutating func hold(now: MonotonicInstant) {
        guard outcome == nil, !isHeld else { return }
        advance(to: now)
        guard outcome == nil, !isHeld else { return }
        isHeld = true
        model?.hold(now: now)
        noteHold(at: now, position: model?.position(at: now))
    }

    /// The content pauses for a break; before the start it only does not begin.
    private mutating func noteHold(at instant: MonotonicInstant, position: Int64?) {
        heldPosition = position
        if model?.hasStarted == true, !isPaused {
            news.append(.held(made(.pauseBegin, at: instant, position: position)))
        }
    }

    private mutating func passed(_ marker: PlaybackMarker, at instant: MonotonicInstant, position: Int64) {
        // Content that failed has no end that a break could follow.
        if marker.position == PlaybackMarker.endPosition, failure != nil {
            model?.release(now: instant)
            return
        }
        if marker.holds {
            isHeld = true
            noteHold(at: instant, position: position)
        }
        news.append(.reached(marker, instant, position: position))
    }

    private mutating func release(now: MonotonicInstant) {
        guard outcome == nil, isHeld else { return }
        advance(to: now)
        (isHeld, heldPosition) = (false, nil)
        if model?.hasStarted == true, !isPaused { news.append(.held(made(.pauseFinish, at: now))) }
        model?.release(now: now)
        advance(to: now)
    }

    private mutating func relocate(to target: Int64, now: MonotonicInstant) {
        guard outcome == nil, isHeld else { return }
        let target = min(max(0, target), info.duration ?? .max)
        advance(to: now)
        guard var earlier = model else { return pendingSeek = target }
        if model?.relocate(to: target, now: now) == true {
            earlier.stand(at: now)
            beforeSeek = (earlier, failure, true)
            pendingSeek = target
            failure = nil
            hasKeyframe = false
            newestQuality = nil
        }
        advance(to: now)
    }

    private mutating func mark(_ markers: [PlaybackMarker], from position: Int64, now: MonotonicInstant) {
        guard outcome == nil else { return }
        advance(to: now)
        if model == nil { earlyMarkers = markers }
        model?.setMarkers(markers, from: position, now: now)
        advance(to: now)
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
        case .hold: hold(now: now)
        case .release: release(now: now)
        case .relocate(let target): relocate(to: target, now: now)
        case .mark(let markers, let position): mark(markers, from: position, now: now)
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
        guard rate != self.rate else { return }
        self.rate = rate
        rateChanged(at: now)
    }

    /// Plays at the product of the rates of the viewer and of the live edge. While it was always 1, no event has a rate.
    private mutating func rateChanged(at now: MonotonicInstant) {
        reportsRate = true
        model?.setRate(rate * catchUpRate, now: now)
        if model?.hasStarted == true, outcome == nil { signal(.playbackRateChange, at: now) }
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
                beforeSeek = (earlier, failure, false)
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
        // A transition may release the playhead, so that others follow.
        while outcome == nil, let transitions = model?.advance(to: now), !transitions.isEmpty {
            for transition in transitions { handle(transition) }
        }
    }

    private mutating func handle(_ transition: PlaybackModel.Transition) {
        let (instant, position) = (transition.instant, transition.position)
        switch transition.kind {
        case .stalled:
            stallCount += 1
            signal(.bufferBegin, at: instant, position: position)
        case .filled(.seek): signal(.seekFinish, at: instant, position: position)
        case .filled(.start), .filled(.stall): signal(.bufferFinish, at: instant, position: position)
        case .filled(.hold): break
        case .passed(let marker): passed(marker, at: instant, position: position)
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
        var attributes = networkAttributes(at: instant)
        attributes[.errorDescription] = error.message
        attributes[.isFatal] = isFatal
        attributes[.errorCode] = error.code.description
        attributes[.errorPhase] = error.phase.rawValue
        attributes[.errorURL] = error.url
        attributes[.errorStatus] = error.status
        let signal = PlayerSignal(.error, at: instant, status: status(position: position), attributes: attributes)
        news.append(.signal(signal))
    }

    private mutating func signal(
        _ action: Action,
        at instant: MonotonicInstant,
        position: Int64? = nil,
        adding others: Attributes = Attributes()
    ) {
        news.append(.signal(made(action, at: instant, position: position, adding: others)))
    }

    private func made(
        _ action: Action,
        at instant: MonotonicInstant,
        position: Int64? = nil,
        adding others: Attributes = Attributes()
    ) -> PlayerSignal {
        let status = status(position: heldPosition ?? position ?? model?.position(at: instant))
        var attributes = networkAttributes(at: instant)
        attributes.merge(others)
        return PlayerSignal(action, at: instant, status: status, attributes: attributes)
    }

    /// The playback rate, the sums of the requests, and the media that they brought into the buffer. Progressive media has no
    /// requests of the probe.
    private func networkAttributes(at instant: MonotonicInstant) -> Attributes {
        var attributes = network.attributes
        if reportsRate { attributes[.playbackRate] = rate * catchUpRate }
        guard network.requests > 0, let model else { return attributes }
        attributes[.bufferLevel] = .nanoseconds(max(0, model.level(at: instant)))
        return attributes
    }
}
