internal import Instrument

/// Translates the observations of one media element into playback signals: a value without a browser and a clock.
///
/// Instants of signals never decrease. Starts and stalls are known some time after they happened, so their signals
/// carry the instant of the event.
struct MediaModel: Sendable {
    enum Phase: Hashable, Sendable {
        /// Nothing was requested.
        case idle
        /// The element loads, and nobody has asked for playback.
        case prepared
        /// `StreamLoad` was reported, `Start` was not.
        case loading
        case playing
        /// `End`, `Stop` or a fatal error was reported.
        case finished
    }

    /// The longest time between the begin of loading and a `play()` without a person's act that counts as one request.
    private static let maxPreparation = Duration.seconds(10)

    private(set) var phase = Phase.idle
    var interruptions = PlayerInterruptions()
    /// The ads of the page's player, and what they do with the element.
    var ads = PageAds()
    var occupant = Occupant.content
    /// Whether the content has been paused since the break began.
    var isHeldByAds = false
    var hasEndedInBreak = false
    private(set) var isEncrypted = false
    private(set) var figures = MediaFigures()
    /// What the player of the page says, such as hls.js.
    private(set) var player = PagePlayerFigures()
    private(set) var requests = RequestCounts()
    /// Why the latest request of the page for media failed; nil if it did not.
    private var requestFailure: String?
    private var source: MediaSource?
    private var manifest: String?
    private var framesPerSecond: Double?
    private var prepared: MonotonicInstant?
    var isMoving = false
    private var reportedRate = 1.0
    private var reportedArea: Int?
    private var sound: Sound?
    private var anchor: MonotonicInstant?
    var signals = PlayerSignals()

    private struct Sound: Hashable {
        var volume: Int?
        var isMuted: Bool?
    }

    private var isOpen: Bool { phase == .loading || phase == .playing }

    // MARK: - Inputs

    /// Takes an observation of what happened at `now` and was reported later, and returns the signals that follow.
    mutating func observe(
        _ observation: MediaObservation,
        at now: MonotonicInstant,
        reported: MonotonicInstant
    ) -> [PlayerSignal] {
        if let news = observation.news {
            // What the content had reached when its ads began; the document has no figures.
            if occupant == .content, !ads.isInBreak, observation.number > 0 { take(observation, at: reported) }
            let isReset = observation.number > 0 && (observation.figures.position ?? 0) == 0
            take(news, isReset: isReset, at: now)
        }
        if observation.kind == .ad || isOfAds(observation, at: now) { return signals.take() }
        // An element without media has no figures of the playback that ends; the document has none at all.
        if ![.emptied, .left, .gone].contains(observation.kind) { take(observation, at: reported) }
        switch observation.kind {
        case .loadstart: loadStarted(observation, at: now)
        case .joined: joined(at: now)
        case .play: play(at: now)
        case .pause: if !observation.figures.isEnded { pause(at: now) }
        case .moves: moves(observation, at: now)
        case .stands: stands(at: now)
        case .seeking: seekBegan(at: now)
        // A paused element shows the picture of the new position, and no other.
        case .seeked: if figures.isPaused { emit(interruptions.closeSeek(), at: now) }
        case .ended: ended(at: now)
        case .error: failed(observation, at: now)
        case .encrypted: isEncrypted = true
        case .emptied, .left, .removed, .gone: stop(at: now)
        case .ratechange: rateChanged(at: now)
        case .volumechange: soundChanged(at: now)
        case .resize, .loadedmetadata: sizeChanged(at: now)
        case .state: catchUp(at: now)
        case .hello, .overflow, .crowd, .ad, .playing, .waiting: break
        }
        return signals.take()
    }

    /// The document is left.
    mutating func left(at now: MonotonicInstant) -> [PlayerSignal] {
        stop(at: now)
        return signals.take()
    }

    /// The page, or the browser, is no more there.
    mutating func gone(_ words: String, at now: MonotonicInstant) -> [PlayerSignal] {
        if isOpen { fail(code: nil, words, at: now) }
        return signals.take()
    }

    /// The tracker watches no more; the playback may continue.
    mutating func detached(at now: MonotonicInstant) -> [PlayerSignal] {
        if isOpen { emit(.detach, at: now) }
        phase = .finished
        return signals.take()
    }

    /// Takes what the player of the page says.
    mutating func take(_ player: PagePlayerFigures) { self.player = player }

    /// Takes the address of a manifest that the page has requested: the source of an element whose own is `blob:`.
    mutating func take(manifest: String) { if self.manifest == nil { self.manifest = manifest } }

    /// Takes a request of the page for media. Returns a signal if requests are reported.
    mutating func take(_ request: FinishedRequest, isReported: Bool, at now: MonotonicInstant) -> [PlayerSignal] {
        guard isOpen else { return [] }
        requests.take(request)
        requestFailure = request.cause
        if isReported { emit(.requestFinish, at: now, attributes: request.attributes) }
        return signals.take()
    }

    // MARK: - Status

    /// The status at an instant.
    func status(at now: MonotonicInstant) -> PlayerStatus {
        var status = PlayerStatus()
        if var position = figures.position, position >= 0 {
            if isMoving, let anchor { position += anchor.duration(to: now).seconds * (figures.rate ?? 1) }
            if let duration = figures.duration { position = min(position, duration) }
            if position.isFinite, abs(position) < 9e9 { status.position = .seconds(max(0, position)) }
        }
        status.duration = figures.duration.map { .seconds($0) }
        (status.resolutionWidth, status.resolutionHeight) = (figures.width, figures.height)
        status.bitrate = player.bitrate
        status.framesPerSecond = framesPerSecond
        (status.volume, status.isMuted) = (currentSound.volume, figures.isMuted)
        status.title = source.flatMap { $0.title.isEmpty ? nil : $0.title }
        status.source = sourceText
        return status
    }

    /// The address of the media; nil for none, and for a `blob:`, which says nothing.
    var mediaAddress: String? {
        guard let address = source?.address, SourceText.split(address) != nil, !address.hasPrefix("blob:") else {
            return nil
        }
        return address
    }

    private var sourceText: String? {
        guard let source else { return nil }
        let text = mediaAddress ?? manifest ?? source.page
        return text.isEmpty ? nil : SourceText.redacted(text)
    }

    private var currentSound: Sound {
        Sound(volume: figures.volume.map { Int(($0 * 100).rounded()) }, isMuted: figures.isMuted)
    }

    private mutating func take(_ observation: MediaObservation, at now: MonotonicInstant) {
        figures = observation.figures
        anchor = now
        if let source = observation.source { self.source = source }
        if figures.isPaused || figures.isSeeking { isMoving = false }
    }

    // MARK: - Begin and end

    private mutating func loadStarted(_ observation: MediaObservation, at now: MonotonicInstant) {
        // Media that replace others empty the element before; so this is the load that was found before its event.
        if phase == .loading || phase == .prepared { return }
        stop(at: now)
        (phase, prepared) = (.prepared, now)
        (signals.isLate, isEncrypted, framesPerSecond, reportedArea, manifest) = (false, false, nil, nil, nil)
        (player, requests, requestFailure) = (PagePlayerFigures(), RequestCounts(), nil)
        interruptions = PlayerInterruptions(isPaused: figures.isPaused)
        if !figures.isPaused || figures.isAutoplay { request(at: now) }
    }

    private mutating func joined(at now: MonotonicInstant) {
        stop(at: now)
        signals.isLate = true
        request(at: now)
    }

    /// Somebody asks for playback.
    mutating func request(at instant: MonotonicInstant) {
        (phase, interruptions) = (.loading, PlayerInterruptions())
        (reportedRate, sound) = (figures.rate ?? 1, currentSound)
        emit(.streamLoad, at: instant)
    }

    private mutating func play(at now: MonotonicInstant) {
        switch phase {
        case .prepared:
            // A page that begins by itself began with the loading; a person's request begins with the person's act.
            let isOneRequest = prepared.map { $0.duration(to: now) <= Self.maxPreparation } ?? false
            request(at: figures.isUserActive || !isOneRequest ? now : prepared ?? now)
        case .finished: request(at: now)
        case .playing, .idle, .loading: emit(interruptions.resume(), at: now)
        }
    }

    private mutating func moves(_ observation: MediaObservation, at instant: MonotonicInstant) {
        framesPerSecond = observation.framesPerSecond ?? framesPerSecond
        guard !figures.isPaused else { return }
        isMoving = true
        if phase == .loading {
            phase = .playing
            (reportedArea, sound, reportedRate) = (figures.area, currentSound, figures.rate ?? 1)
            emit(.start, at: instant)
            signals.isLate = false
        }
        guard phase == .playing else { return }
        if !figures.isSeeking { emit(interruptions.closeSeek(), at: instant) }
        emit(interruptions.closeBuffering(), at: instant)
    }

    private mutating func ended(at now: MonotonicInstant) {
        guard isOpen else { return }
        // Too short to be seen moving.
        if phase == .loading { emit(.start, at: now) }
        finish(.end, at: now)
    }

    private mutating func stop(at now: MonotonicInstant) {
        if isOpen { finish(.stop, at: now) }
        if phase == .prepared { phase = .idle }
    }

    private mutating func failed(_ observation: MediaObservation, at now: MonotonicInstant) {
        if phase == .prepared { request(at: prepared ?? now) }
        guard isOpen else { return }
        let code = MediaErrorName.name(of: observation.errorCode)
        let words = observation.errorMessage.isEmpty ? "the browser gives no reason" : observation.errorMessage
        // The browser's own message names neither the status of HTTP nor the failure of the connection.
        let cause = requestFailure.map { " (the latest request failed: \($0))" } ?? ""
        fail(code: code, SourceText.redactedAddresses(in: words) + cause, at: now)
    }

    private mutating func fail(code: String?, _ words: String, at now: MonotonicInstant) {
        var attributes = Attributes()
        attributes[.errorDescription] = words
        attributes[.errorCode] = code
        attributes[.isFatal] = true
        finish(.error, at: now, attributes: attributes)
    }

    mutating func finish(_ action: Action, at now: MonotonicInstant, attributes: Attributes = Attributes()) {
        closeAds(at: now)
        emit(interruptions.end(), at: now)
        emit(action, at: now, attributes: attributes)
        (phase, isMoving) = (.finished, false)
    }

    // MARK: - Pause, stall, seek

    private mutating func pause(at now: MonotonicInstant) {
        if isOpen { emit(interruptions.pause(isReported: phase == .playing), at: now) }
    }

    private mutating func stands(at instant: MonotonicInstant) {
        guard phase == .playing, !interruptions.isBuffering, !interruptions.isSeeking, !figures.isPaused,
            !figures.isSeeking, !figures.isEnded
        else { return }
        isMoving = false
        emit(interruptions.openBuffering(), at: instant)
    }

    private mutating func seekBegan(at now: MonotonicInstant) {
        // The jump to where a playback begins is no seek of a person's.
        guard phase == .playing, !interruptions.isSeeking else { return }
        emit(interruptions.closeBuffering() + interruptions.openSeek(), at: now)
    }

    /// What holds after reports were left out.
    private mutating func catchUp(at now: MonotonicInstant) {
        if figures.isEnded { return ended(at: now) }
        if figures.isPaused { pause(at: now) } else { play(at: now) }
        if figures.isSeeking {
            seekBegan(at: now)
        } else if figures.isPaused {
            emit(interruptions.closeSeek(), at: now)
        }
        rateChanged(at: now)
        soundChanged(at: now)
        sizeChanged(at: now)
    }

    // MARK: - Quality, sound, rate

    private mutating func sizeChanged(at now: MonotonicInstant) {
        guard phase == .playing, let after = figures.area else { return }
        defer { reportedArea = after }
        guard let before = reportedArea, before != after else { return }
        emit(after > before ? .qualityChangeUp : .qualityChangeDown, at: now)
    }

    private mutating func rateChanged(at now: MonotonicInstant) {
        guard phase == .playing, let rate = figures.rate, rate != reportedRate else { return }
        reportedRate = rate
        var attributes = Attributes()
        attributes[.playbackRate] = rate
        emit(.playbackRateChange, at: now, attributes: attributes)
    }

    /// A change counts while something is played, paused or not: before that nobody hears it.
    private mutating func soundChanged(at now: MonotonicInstant) {
        guard phase == .playing, sound != currentSound else { return }
        sound = currentSound
        emit(.volumeChange, at: now)
    }

    // MARK: - Output

    mutating func emit(_ actions: [Action], at instant: MonotonicInstant) {
        for action in actions { emit(action, at: instant) }
    }

    private mutating func emit(_ action: Action, at instant: MonotonicInstant, attributes: Attributes = Attributes()) {
        var attributes = attributes
        attributes[.bufferLevel] = figures.bufferedAhead.map { .seconds(max(0, $0)) }
        attributes[.liveLatency] = figures.duration == nil ? player.latency : nil
        attributes[.throughput] = player.throughput
        attributes[.droppedFrames] = figures.droppedFrames
        if isEncrypted { attributes[.isEncrypted] = true }
        if requests.count > 0 {
            attributes[.countRequests] = requests.count
            attributes[.countFailedRequests] = requests.failedCount
        }
        let instant = signals.instant(for: instant)
        let signal = PlayerSignal(action, at: instant, status: status(at: instant), attributes: attributes)
        signals.add(signal, at: instant)
    }
}

/// The names of `MediaError.code` (HTML, "Error codes").
enum MediaErrorName {
    static func name(of code: Int) -> String? {
        switch code {
        case 1: "MEDIA_ERR_ABORTED"
        case 2: "MEDIA_ERR_NETWORK"
        case 3: "MEDIA_ERR_DECODE"
        case 4: "MEDIA_ERR_SRC_NOT_SUPPORTED"
        default: nil
        }
    }
}
