internal import Instrument

/// Translates what the player of interstitials shows into ad signals: each item of an interstitial event is an ad, the
/// event is the break.
///
/// The items are judged as any content is (``AVPlayerModel``); a playback of the interstitial player is an ad.
struct InterstitialModel: ObservationModel {
    private var player = AVPlayerModel()
    private var sequence = AdSequence()
    private var event: InterstitialFacts?
    private var signals: [AdPlayerSignal] = []

    mutating func observe(_ observation: AVPlayerObservation, at now: MonotonicInstant) -> [AdPlayerSignal] {
        switch observation {
        case .interstitialEvent(let facts): eventChanged(to: facts, at: now)
        case .interstitialSkipped(let identifier):
            if identifier == event?.identifier { emit(sequence.finishAd(isSkipped: true), at: now) }
        case .interstitialFailed(let identifier, let failure): eventFailed(identifier, failure, at: now)
        default:
            for signal in player.observe(observation, at: now) { take(signal, at: now) }
            if case .time = observation { reachQuartiles(at: now) }
        }
        defer { signals = [] }
        return signals
    }

    /// The status of the ad at an instant; empty without an ad or a break.
    func status(at instant: MonotonicInstant) -> AdStatus {
        guard sequence.isInBreak else { return AdStatus() }
        return status(of: player.status(at: instant))
    }

    private func status(of playback: PlayerStatus) -> AdStatus {
        var status = AdStatus()
        status.roll = event?.roll
        status.id = event?.identifier
        status.title = playback.title
        (status.position, status.duration) = (playback.position, playback.duration)
        (status.volume, status.bitrate) = (playback.volume, playback.bitrate)
        (status.resolutionWidth, status.resolutionHeight) = (playback.resolutionWidth, playback.resolutionHeight)
        return status
    }

    private mutating func eventChanged(to facts: InterstitialFacts?, at now: MonotonicInstant) {
        if let event, event.identifier != facts?.identifier { emit(sequence.finishBreak(), at: now) }
        if facts == nil { emit(sequence.finishBreak(), at: now) }
        event = facts
        if facts != nil { emit(sequence.beginBreak(), at: now) }
    }

    /// An event that cannot be played is an error, and no break.
    private mutating func eventFailed(_ identifier: String, _ failure: PlayerFailure, at now: MonotonicInstant) {
        var status = AdStatus()
        status.id = identifier
        emit([.adError], at: now, status: status, attributes: AVPlayerModel.attributes(of: failure))
    }

    private mutating func take(_ signal: PlayerSignal, at now: MonotonicInstant) {
        let actions: [Action] =
            switch signal.action {
            case .start: sequence.beginAd()
            case .end:
                // A short ad can end between two looks at the clock.
                sequence.reach(quartile: 3) + sequence.finishAd()
            case .next, .stop: sequence.finishAd()
            case .pauseBegin: sequence.beginPause()
            case .pauseFinish: sequence.finishPause()
            case .bufferBegin: sequence.beginBuffering()
            case .bufferFinish: sequence.finishBuffering()
            case .error:
                [.adError] + (signal.attributes[.isFatal] == true ? sequence.finishAd() : [])
            default: []
            }
        var attributes = Attributes()
        attributes[.errorCode] = signal.attributes[.errorCode]
        attributes[.errorDescription] = signal.attributes[.errorDescription]
        attributes[.underlyingErrorCode] = signal.attributes[.underlyingErrorCode]
        let status = status(of: signal.status ?? PlayerStatus())
        emit(actions, at: signal.instant ?? now, status: status, attributes: attributes)
    }

    private mutating func reachQuartiles(at now: MonotonicInstant) {
        let playback = player.status(at: now)
        guard sequence.isInAd, let position = playback.position, let duration = playback.duration, duration > .zero
        else { return }
        emit(sequence.reach(quartile: Int(position / duration * 4)), at: now)
    }

    private mutating func emit(
        _ actions: [Action],
        at instant: MonotonicInstant,
        status: AdStatus? = nil,
        attributes: Attributes = Attributes()
    ) {
        let status = status ?? self.status(of: player.status(at: instant))
        for action in actions {
            let added = action == .adError ? attributes : Attributes()
            signals.append(AdPlayerSignal(action, at: instant, status: status, attributes: added))
        }
    }
}
