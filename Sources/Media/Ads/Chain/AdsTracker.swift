public import Instrument

/// Reports the ads of one content tracker: breaks, ads, quartiles, errors and signals.
///
/// ```swift
/// let ads = AdsTracker()
/// let id = instrument.add(ads, adsOf: content)
/// ads.beginBreak(.pre, requested: selection.ads.count)
/// let beacons = ads.begin(selection.ads[0], media: file)
/// ```
/// Use it with an `AdsHub`. Safe from any thread; events of one ad must come in order. Actions are reported only while
/// the tracker belongs to an instrument; beacons are returned in any case.
public final class AdsTracker: Tracker {
    private struct State {
        var context: TrackerContext?
        var roll: AdRoll?
        var playback: AdPlayback?
    }

    private let state = Lock(State())

    /// Creates a tracker.
    public init() {}

    /// `Ads`.
    public var target: String? { "Ads" }
    /// The fields of signals and errors.
    public var declaredFields: PrivacyCatalogue { .ads }

    /// Begins to report.
    public func begin(in context: TrackerContext) {
        state.withLock { $0.context = context }
        context.register(.isAdsTracker) { true }
        context.emitInit()
    }

    /// Reports nothing more.
    public func end() { state.withLock { $0.context = nil } }

    /// A break begins: the content pauses.
    /// - Parameters:
    ///   - roll: where the break is in the content.
    ///   - requested: the number of ads that the break is to play, for the fill rate.
    public func beginBreak(_ roll: AdRoll, requested: Int) {
        let context = state.withLock { state in
            state.roll = roll
            return state.context
        }
        var attributes = Attributes()
        attributes[.adRoll] = roll
        attributes[.adsRequested] = requested
        context?.emit(.adBreakBegin, attributes: attributes)
    }

    /// The break ends: the content resumes. An ad that is still open ends first.
    @discardableResult
    public func endBreak() -> [AdBeacon] {
        let isOpen = state.withLock { $0.playback?.isPlaying ?? false }
        let beacons = isOpen ? handle(.closed) : []
        let (context, roll) = state.withLock { state in
            defer { (state.roll, state.playback) = (nil, nil) }
            return (state.context, state.roll)
        }
        var attributes = Attributes()
        attributes[.adRoll] = roll
        context?.emit(.adBreakFinish, attributes: attributes)
        return beacons
    }

    /// An ad is about to play; returns the beacons to send. An ad that is still open ends first.
    public func begin(_ ad: ResolvedAd, media: MediaFile?, mediaDuration: Int64? = nil) -> [AdBeacon] {
        let closing = state.withLock { $0.playback?.isPlaying ?? false } ? handle(.closed) : []
        state.withLock { $0.playback = AdPlayback(ad, media: media, mediaDuration: mediaDuration) }
        return closing + handle(.loaded)
    }

    /// An event of the ad that plays; returns the beacons to send, in order.
    public func handle(_ event: AdPlaybackEvent) -> [AdBeacon] {
        let (context, reports, beacons) = state.withLock { state in
            guard var playback = state.playback else { return (state.context, [AdPlayback.Report](), [AdBeacon]()) }
            let outcome = playback.handle(event)
            state.playback = playback
            var attributes = playback.attributes
            attributes[.adRoll] = state.roll
            let reports = outcome.reports.map { report in
                var all = attributes
                all.merge(report.attributes)
                return AdPlayback.Report(report.action, all)
            }
            return (state.context, reports, outcome.beacons)
        }
        for report in reports { context?.emit(report.action, attributes: report.attributes) }
        return beacons
    }

    /// An ad or a break could not be loaded.
    public func fail(_ failure: AdFailure) {
        let (context, roll) = state.withLock { ($0.context, $0.roll) }
        var attributes = Attributes()
        attributes[.adErrorCode] = failure.code.rawValue
        attributes[.errorDescription] = failure.message
        attributes[.adRoll] = roll
        context?.emit(.adError, attributes: attributes)
    }

    /// The playhead of the content reached a signal of the stream.
    package func report(_ signal: AdSignal) {
        var attributes = Attributes()
        attributes[.adSignalKind] = signal.kind.name
        attributes[.adSignalSource] = signal.source.rawValue
        attributes[.adSignalId] = signal.id
        attributes[.adSignalDuration] = signal.duration.map { .nanoseconds($0) }
        state.withLock { $0.context }?.emit(.adSignal, attributes: attributes)
    }
}
