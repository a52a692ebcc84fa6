internal import Instrument
internal import InstrumentCMCD

extension PlaybackSession {
    func status(at now: MonotonicInstant) -> PlayerStatus { status(position: position(at: now)) }

    /// The signals that wait for their delivery.
    var outbox: [PlayerSignal] { news.compactMap { if case .signal(let signal) = $0 { signal } else { nil } } }

    /// The position that is reported; nil before the tracks are known.
    func position(at now: MonotonicInstant) -> Int64? { heldPosition ?? model?.position(at: now) }

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
        guard requested != nil else { return .idle }
        guard let model else { return .loading }
        if model.isSeeking { return .seeking }
        if model.isWaiting { return model.hasStarted ? .stalled : .loading }
        return model.isPaused || model.isHeld ? .paused : .playing
    }

    func status(position: Int64?) -> PlayerStatus {
        var status = PlayerStatus()
        status.position = position.map { .nanoseconds($0) }
        status.duration = info.duration.map { .nanoseconds($0) }
        if quality.current.width > 0, quality.current.height > 0 {
            status.resolutionWidth = quality.current.width
            status.resolutionHeight = quality.current.height
        }
        status.bitrate = bitrate
        status.framesPerSecond = info.framesPerSecond
        status.language = info.language
        status.subtitles = info.subtitles
        status.title = configuration.title ?? info.title ?? fileName
        status.source = sourceText
        return status
    }

    /// As declared; else what was read so far, over the time that it plays.
    private var bitrate: Int? {
        if quality.current.bitrate > 0 { return quality.current.bitrate }
        return info.bitrate ?? media.meanBitrate
    }

    mutating func fail(_ error: ProbeError, at instant: MonotonicInstant, position: Int64?) {
        report(error, isFatal: true, at: instant, position: position)
        outcome = .failed(error)
    }

    mutating func report(_ error: ProbeError, isFatal: Bool, at instant: MonotonicInstant, position: Int64?) {
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

    mutating func signal(
        _ action: Action,
        at instant: MonotonicInstant,
        position: Int64? = nil,
        adding others: Attributes = Attributes()
    ) {
        news.append(.signal(made(action, at: instant, position: position, adding: others)))
    }

    func made(
        _ action: Action,
        at instant: MonotonicInstant,
        position: Int64? = nil,
        adding others: Attributes = Attributes()
    ) -> PlayerSignal {
        let status = status(position: heldPosition ?? position ?? model?.position(at: instant))
        var attributes = networkAttributes(at: instant)
        attributes[.requestSession] = requestSession
        attributes.merge(others)
        return PlayerSignal(action, at: instant, status: status, attributes: attributes)
    }

    /// The playback rate, the sums of the requests, and the media that they brought into the buffer. Progressive media
    /// has no requests of the probe.
    private func networkAttributes(at instant: MonotonicInstant) -> Attributes {
        var attributes = network.attributes
        if rate.isReported { attributes[.playbackRate] = rate.factor }
        guard network.requests > 0, let model else { return attributes }
        attributes[.bufferLevel] = .nanoseconds(max(0, model.level(at: instant)))
        return attributes
    }
}
