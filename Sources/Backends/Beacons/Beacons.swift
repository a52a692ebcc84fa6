public import Instrument
public import InstrumentAds

/// Appends the beacons of ads to the shared queue, which a ``BeaconBackend`` empties.
///
/// ```swift
/// let queue = BatchQueue(store: store, backends: [BeaconBackend(transport: transport)])
/// let beacons = Beacons(queue: queue)
/// beacons.send(ads.handle(.started), of: playback, ad: ad)
/// ```
///
/// Macros are filled in when a beacon is appended, so that a beacon that is sent late reports the time of its event.
/// Once `send` returns, the beacons are as durable as the queue's store makes them. Consent and field rules of the
/// queue apply: without consent nothing is appended, and a rule for `adBeaconUrl` changes or removes the address, so
/// that the beacon is not sent. Macros that may identify a person are withheld (`-2`) unless the app chooses their
/// field, for example `adMacroIFA`, in its `PrivacyRules.choices`, and no field rule names it.
public final class Beacons: Sendable {
    /// The time after which a beacon that fails is given up, unless the ad states one.
    package static let usualLifetime = Duration.seconds(3_600)
    /// The longest time after which a beacon that fails is given up, whatever the ad states: a server that never
    /// answers must not keep the beacons of other ads waiting.
    package static let longestLifetime = Duration.seconds(86_400)

    /// The longest time after which a beacon for a position in an ad (quartiles, `progress`, `complete`) is given up:
    /// such a beacon means little by itself, and those of many ads for a server that is down would be a long backlog.
    /// Impressions, clicks and errors keep the lifetime of their ad.
    package static let longestLifetimeOfPositions = Duration.seconds(300)

    private let queue: BatchQueue
    private let tracker: TrackerID
    private let clock: any SchedulingClock
    private let randomness: RandomSource
    private let privacy: PrivacyRules
    private let macros: MacroValues

    /// Creates an appender for a queue that has a ``BeaconBackend``.
    ///
    /// - Parameters:
    ///   - queue: takes the beacons.
    ///   - tracker: the ads tracker that reports the ads.
    ///   - macros: the values of macros that do not change: the page, the content, the player.
    ///   - privacy: the rules of the queue.
    ///   - clock: stamps beacons.
    ///   - randomness: the source of cache busters.
    public init(
        queue: BatchQueue,
        tracker: TrackerID = TrackerID(0),
        macros: MacroValues = MacroValues(),
        privacy: PrivacyRules = PrivacyRules(),
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource()
    ) {
        (self.queue, self.tracker, self.privacy) = (queue, tracker, privacy)
        (self.clock, self.randomness) = (clock, randomness)
        self.macros = privacy.permitted(macros)
    }

    /// Appends beacons, in order, all of them or none.
    ///
    /// - Parameters:
    ///   - beacons: the beacons.
    ///   - playback: the playback of the ad; beacons of one playback for one server keep their order.
    ///   - ad: the ad, for its macros and its expiry; nil for beacons without an ad.
    ///   - media: the media file that plays, for its macros.
    ///   - current: the values of macros at this moment, for example MEDIAPLAYHEAD.
    @discardableResult
    public func send(
        _ beacons: [AdBeacon],
        of playback: String,
        ad: ResolvedAd? = nil,
        media: MediaFile? = nil,
        macros current: MacroValues = MacroValues()
    ) -> EmitResult {
        if beacons.isEmpty { return .stored }
        let values = macros.merging(ad?.macros(media: media) ?? MacroValues()).merging(privacy.permitted(current))
        let lifetime = min(
            ad?.ad.inLine?.expires.map { Duration.seconds($0) } ?? Self.usualLifetime,
            Self.longestLifetime
        )
        let time = clock.timestamp
        let samples = beacons.map { beacon in
            let call = MacroValues.perCall(now: time.wallTime, randomness: randomness).merging(values)
            let lifetime = beacon.kind.isPosition ? min(lifetime, Self.longestLifetimeOfPositions) : lifetime
            return Self.sample(beacon, beacon.expanded(call), playback, tracker, time, lifetime, ad?.ad.id)
        }
        return queue.append(samples, for: .beacons)
    }

    private static func sample(
        _ beacon: AdBeacon,
        _ url: AdURL,
        _ playback: String,
        _ tracker: TrackerID,
        _ time: Timestamp,
        _ lifetime: Duration,
        _ ad: String?
    ) -> Sample {
        var event = Event(.adBeacon, tracker: tracker, time: time)
        event[.adBeaconUrl] = url.secretText
        event[.adBeaconEvent] = beacon.kind.name
        event[.adBeaconGroup] = playback
        event[.adBeaconExpiry] = Int(clamping: time.wallTime.milliseconds.saturatingAdd(Int64(lifetime.milliseconds)))
        event[.adId] = ad
        return .event(event)
    }
}

extension AdBeacon.Kind {
    /// Whether the beacon reports that the playhead has reached a position in the ad.
    fileprivate var isPosition: Bool {
        guard case .event(let name) = self else { return false }
        return [.firstQuartile, .midpoint, .thirdQuartile, .progress, .complete].contains(name)
    }
}
