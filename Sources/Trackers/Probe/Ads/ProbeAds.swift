public import Instrument
public import InstrumentAds

/// Addresses of an ad to call now. Pass them to `Beacons.send(_:of:ad:media:macros:)`, which queues them.
public struct AdBeaconCall: Hashable, Sendable {
    /// The addresses, in order.
    public var beacons: [AdBeacon]
    /// Identifies the playback of the ad: beacons of one playback keep their order.
    public var playback: String
    /// The ad, for its macros and its expiry; nil for beacons of a break.
    public var ad: ResolvedAd?
    /// The media file that plays.
    public var media: MediaFile?
    /// The macros of the moment.
    public var macros: MacroValues
}

/// The ads of a ``Probe``: reports breaks, ads, signals and beacons.
///
/// ```swift
/// let content = instrument.add(PlayerTracker(probe))
/// if let ads = probe.ads {
///     instrument.add(AdTracker(ads), adsOf: content)
///     ads.report(beaconsTo: { call in
///         beacons.send(call.beacons, of: call.playback, ad: call.ad, media: call.media, macros: call.macros)
///     })
/// }
/// ```
/// Use it with an `AdsHub`. Safe from any thread.
public final class ProbeAds: AdPlayer {
    private struct State {
        var observer: (@Sendable (AdPlayerSignal) -> Void)?
        var beacons: (@Sendable (AdBeaconCall) -> Void)?
        var status: (@Sendable () -> AdStatus)?
        var actions: (@Sendable (AdCourse.Viewer) -> Void)?
    }

    private let state = Lock(State())

    init() {}

    /// Sent as `trackerTarget`.
    public var name: String { "probe" }
    /// The fields of signals and errors of ads.
    public var declaredFields: PrivacyCatalogue { .ads }
    /// The ad that plays; empty without an ad.
    public var status: AdStatus { state.withLock { $0.status }?() ?? AdStatus() }

    /// Reports actions of ads to `observer`, in their order with the signals of the content.
    public func report(to observer: (@Sendable (AdPlayerSignal) -> Void)?) { state.withLock { $0.observer = observer } }

    /// Reports the addresses to call to `observer`; nil ends the reports. The observer must not block for long.
    public func report(beaconsTo observer: (@Sendable (AdBeaconCall) -> Void)?) {
        state.withLock { $0.beacons = observer }
    }

    /// The person skips the ad. Does nothing before the ad's skip offset, or without an ad.
    public func skip() { state.withLock { $0.actions }?(.skip) }

    /// The person clicks the ad.
    public func click() { state.withLock { $0.actions }?(.click) }

    /// Takes the place of an earlier engine, which a repetition of the playback has ended.
    func attach(
        status: @escaping @Sendable () -> AdStatus,
        actions: @escaping @Sendable (AdCourse.Viewer) -> Void
    ) {
        state.withLock { ($0.status, $0.actions) = (status, actions) }
    }

    func deliver(_ signal: AdPlayerSignal) { state.withLock { $0.observer }?(signal) }
    func deliver(_ call: AdBeaconCall) { state.withLock { $0.beacons }?(call) }
}
