internal import Instrument

/// Translates what the IMA SDK reports into ad signals: a value without the SDK.
///
/// The ad's description is kept until the next ad: events that come without an ad, and an end, carry it, too.
struct IMAModel: Sendable {
    private var sequence = AdSequence()
    private var ad: AdFacts?
    private var playback: AdPlayback?
    private var volume: Double?
    /// The break was opened by an ad, without a request to pause the content: it closes with the ad.
    private var isBreakImplied = false
    private var signals: [AdPlayerSignal] = []

    /// Takes an observation that was made at `now`, with what the SDK says of the playback at that moment.
    mutating func observe(
        _ observation: IMAObservation,
        _ playback: AdPlayback?,
        at now: MonotonicInstant
    ) -> [AdPlayerSignal] {
        // An ad whose end was not reported ends with its own description.
        if case .event(.started, _) = observation { emit(sequence.finishAd(), at: now) }
        update(observation, playback)
        switch observation {
        case .event(let event, _): take(event, at: now)
        case .error(let failure):
            emit([.adError], at: now, attributes: attributes(of: failure))
            emit(sequence.finishBreak(), at: now)
        case .contentPauseRequest: beginBreak(at: now)
        case .contentResumeRequest: finishBreak(at: now)
        case .progress: emit(sequence.finishBuffering(), at: now)
        case .bufferingStart: emit(sequence.beginBuffering(), at: now)
        case .playbackReady: emit(sequence.finishBuffering(), at: now)
        }
        if !sequence.isInBreak { isBreakImplied = false }
        defer { signals = [] }
        return signals
    }

    /// The status of the ad; empty outside a break.
    var status: AdStatus { sequence.isInBreak ? describedStatus : AdStatus() }

    private mutating func take(_ event: IMAEvent, at now: MonotonicInstant) {
        switch event {
        case .loaded, .other: break
        case .started:
            if !sequence.isInBreak { isBreakImplied = true }
            emit(sequence.beginAd(), at: now)
        case .firstQuartile: emit(sequence.reach(quartile: 1), at: now)
        case .midpoint: emit(sequence.reach(quartile: 2), at: now)
        case .thirdQuartile: emit(sequence.reach(quartile: 3), at: now)
        case .complete: finishAd(at: now) { $0.reach(quartile: 3) + $0.finishAd() }
        case .skipped: finishAd(at: now) { $0.finishAd(isSkipped: true) }
        case .paused: emit(sequence.beginPause(), at: now)
        case .resumed: emit(sequence.finishPause(), at: now)
        case .tapped, .clicked: emit([.adClick], at: now)
        case .breakStarted: beginBreak(at: now)
        case .breakEnded, .allAdsCompleted: finishBreak(at: now)
        case .breakFetchError:
            let failure = IMAFailure(code: 0, type: "adLoadingFailed", message: "the ad break could not be fetched")
            var attributes = attributes(of: failure)
            attributes[.errorCode] = "AD_BREAK_FETCH_ERROR"
            emit([.adError], at: now, attributes: attributes)
        }
    }

    private mutating func beginBreak(at now: MonotonicInstant) {
        isBreakImplied = false
        emit(sequence.beginBreak(), at: now)
    }

    private mutating func finishBreak(at now: MonotonicInstant) {
        emit(sequence.finishBreak(), at: now)
        (ad, playback) = (nil, nil)
    }

    private mutating func finishAd(at now: MonotonicInstant, _ finish: (inout AdSequence) -> [Action]) {
        emit(finish(&sequence), at: now)
        if isBreakImplied { finishBreak(at: now) }
    }

    private mutating func update(_ observation: IMAObservation, _ playback: AdPlayback?) {
        if case .event(let event, let facts?) = observation {
            // The next ad of a pod is loaded while the present one plays.
            let isOfNext = event == .loaded && sequence.isInAd
            if !isOfNext {
                if facts.id != ad?.id || event == .started { self.playback = nil }
                ad = facts
            }
        }
        volume = playback?.volume ?? volume
        // Without an ad all times are 0.
        if let playback, playback.totalTime > 0 { self.playback = playback }
    }

    private mutating func emit(_ actions: [Action], at now: MonotonicInstant, attributes: Attributes = Attributes()) {
        for action in actions {
            signals.append(AdPlayerSignal(action, at: now, status: describedStatus, attributes: attributes))
        }
    }

    private func attributes(of failure: IMAFailure) -> Attributes {
        var attributes = Attributes()
        attributes[.errorCode] = "\(failure.code)"
        attributes[.errorType] = failure.type
        attributes[.errorDescription] = failure.message
        return attributes
    }

    private var describedStatus: AdStatus {
        var status = AdStatus()
        status.position = Self.duration(playback?.currentTime)
        status.bufferedTime = Self.duration(playback?.bufferedTime)
        status.volume = volume.flatMap { $0.isFinite ? Int((min(1, max(0, $0)) * 100).rounded()) : nil }
        guard let ad else { return status }
        status.duration = Self.duration(ad.duration > 0 ? ad.duration : playback?.totalTime)
        status.roll = ad.podIndex.map { $0 == 0 ? .pre : $0 == -1 ? .post : .mid }
        (status.id, status.title) = (Self.known(ad.id), Self.known(ad.title))
        (status.description, status.system) = (Self.known(ad.description), Self.known(ad.system))
        (status.advertiserName, status.creativeID) = (Self.known(ad.advertiserName), Self.known(ad.creativeID))
        // VAST counts kbit/s.
        let (bitrate, overflow) = ad.vastBitrate.multipliedReportingOverflow(by: 1000)
        status.bitrate = ad.vastBitrate > 0 && !overflow ? bitrate : nil
        status.resolutionWidth = ad.vastWidth > 0 ? ad.vastWidth : nil
        status.resolutionHeight = ad.vastHeight > 0 ? ad.vastHeight : nil
        return status
    }

    private static func known(_ text: String) -> String? { text.isEmpty ? nil : text }

    /// Beyond 292 years the nanoseconds of a duration end.
    private static func duration(_ seconds: Double?) -> Duration? {
        guard let seconds, seconds.isFinite, seconds >= 0, seconds < 9e9 else { return nil }
        return .seconds(seconds)
    }
}
