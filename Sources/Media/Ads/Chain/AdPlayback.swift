package import Instrument

/// One ad from its load to its end: which actions it reports, and which addresses are called.
///
/// A value without clock or network. ``AdsTracker`` reports the actions; the app passes the beacons to `Beacons`.
package struct AdPlayback: Hashable, Sendable {
    /// An action with its attributes.
    package struct Report: Hashable, Sendable {
        /// The action.
        package var action: Action
        /// The attributes of the action alone.
        package var attributes: Attributes

        init(_ action: Action, _ attributes: Attributes = Attributes()) {
            (self.action, self.attributes) = (action, attributes)
        }
    }

    /// The consequences of an event.
    package struct Outcome: Hashable, Sendable {
        /// The actions to report, in order.
        package var reports: [Report] = []
        /// The addresses to call, in order.
        package var beacons: [AdBeacon] = []
    }

    private enum Phase: Hashable { case waiting, playing, over }

    /// The ad.
    package let ad: ResolvedAd
    /// The media file that plays; nil if none is playable.
    package let media: MediaFile?
    private var tracking: AdTracking
    private var phase = Phase.waiting
    private var quartiles = 0
    private var isPaused = false
    private var isBuffering = false

    /// Creates the playback of an ad.
    /// - Parameters:
    ///   - ad: the ad with its wrappers.
    ///   - media: the media file that plays.
    ///   - mediaDuration: the duration of the media in nanoseconds, which wins over the declared one; nil if unknown.
    package init(_ ad: ResolvedAd, media: MediaFile?, mediaDuration: Int64? = nil) {
        (self.ad, self.media) = (ad, media)
        tracking = AdTracking(ad, mediaDuration: mediaDuration)
    }

    /// The position in the ad.
    package var position: Duration { .nanoseconds(tracking.playhead) }
    /// Whether the ad has begun and not ended.
    package var isPlaying: Bool { phase == .playing }
    /// Whether the person may skip the ad now.
    package var canSkip: Bool { tracking.canSkip }

    /// The attributes that describe the ad.
    package var attributes: Attributes {
        var attributes = Attributes()
        let inLine = ad.ad.inLine
        let creative = ad.ad.creatives.first { $0.linear != nil } ?? ad.ad.creatives.first
        attributes[.adId] = ad.ad.id
        attributes[.adTitle] = inLine?.title
        attributes[.adDescription] = inLine?.description
        attributes[.adSystem] = ad.ad.system
        attributes[.adAdvertiserName] = inLine?.advertiser
        attributes[.adCreativeId] = creative?.id ?? creative?.adID ?? creative?.universalIDs.first?.value
        attributes[.adDuration] = tracking.duration.map { .nanoseconds($0) }
        attributes[.adPosition] = position
        attributes[.adBitrate] = (media?.bitrate ?? media?.maxBitrate).map { $0.saturatingMultiply(1_000) }
        attributes[.adResolutionWidth] = media?.width
        attributes[.adResolutionHeight] = media?.height
        return attributes
    }

    /// The positions at which a beacon or a quartile is due, in order: a player that reports
    /// ``AdPlaybackEvent/moved(to:)`` there loses no time.
    package var dueTimes: [Duration] {
        let duration = tracking.duration ?? 0
        let shares = duration > 0 ? [25, 50, 75].compactMap { AdOffset.percent($0).nanoseconds(of: duration) } : []
        return Set(shares + tracking.dueTimes).sorted().map { .nanoseconds($0) }
    }

    /// Handles an event of the player.
    package mutating func handle(_ event: AdPlaybackEvent) -> Outcome {
        var outcome = Outcome()
        let canSkip = tracking.canSkip
        outcome.beacons = tracking.handle(event)
        switch event {
        case .started where phase == .waiting:
            phase = .playing
            outcome.reports.append(Report(.adBegin))
        case .moved where phase == .playing: outcome.reports += reach(tracking.playhead)
        case .paused where phase == .playing && !isPaused:
            isPaused = true
            outcome.reports.append(Report(.adPauseBegin))
        case .resumed where phase == .playing && isPaused:
            isPaused = false
            outcome.reports.append(Report(.adPauseFinish))
        case .buffering(let isBuffering) where phase == .playing && isBuffering != self.isBuffering:
            self.isBuffering = isBuffering
            outcome.reports.append(Report(isBuffering ? .adBufferBegin : .adBufferFinish))
        case .clicked where phase == .playing: outcome.reports.append(Report(.adClick))
        case .skipped where phase == .playing && canSkip:
            outcome.reports.append(Report(.adSkip))
            outcome.reports += finish()
        case .closed where phase == .playing: outcome.reports += finish()
        case .ended where phase == .playing: outcome.reports += reach(.max) + finish()
        // Nobody saw an ad without a first frame.
        case .ended: phase = .over
        case .failed(let code) where phase != .over: outcome.reports += fail(code)
        default: break
        }
        return outcome
    }

    /// The quartiles up to a position, each once. An ad without known duration has none.
    private mutating func reach(_ position: Int64) -> [Report] {
        guard let duration = tracking.duration, duration > 0 else { return [] }
        let actions: [Action] = [.adFirstQuartile, .adSecondQuartile, .adThirdQuartile]
        var reports: [Report] = []
        while quartiles < actions.count {
            let due = AdOffset.percent(Double(quartiles + 1) * 25).nanoseconds(of: duration) ?? .max
            guard due <= position else { break }
            reports.append(Report(actions[quartiles]))
            quartiles += 1
        }
        return reports
    }

    private mutating func finish() -> [Report] {
        var reports: [Report] = []
        if isBuffering { reports.append(Report(.adBufferFinish)) }
        if isPaused { reports.append(Report(.adPauseFinish)) }
        (phase, isPaused, isBuffering) = (.over, false, false)
        return reports + [Report(.adFinish)]
    }

    private mutating func fail(_ code: VASTErrorCode) -> [Report] {
        var attributes = Attributes()
        attributes[.adErrorCode] = code.rawValue
        attributes[.errorDescription] = "VAST error \(code)"
        let error = Report(.adError, attributes)
        guard phase == .playing else {
            phase = .over
            return [error]
        }
        return [error] + finish()
    }
}
