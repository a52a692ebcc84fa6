internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP

/// A beacon as the queue delivers it.
struct Beacon {
    let id: SampleID
    let sequence: UInt64
    let url: AdURL
    let expiry: WallTime
    /// The scheme, host and port of the server; empty for an address that cannot be called.
    let server: String
    /// The playback of the ad, and the server: beacons with one lane are sent in order.
    let lane: Lane

    /// Beacons that keep their order: those of one playback of an ad.
    struct Lane: Hashable, Sendable {
        var playback: String
    }

    /// The beacon of a record; nil for any other sample.
    init?(_ record: SampleRecord) {
        guard case .event(let event) = record.sample, event.action == .adBeacon else { return nil }
        (id, sequence) = (record.id, record.sequence)
        url = AdURL(event[.adBeaconUrl] ?? "")
        do throws(HTTPError) { server = try url.resolved().origin } catch { server = "" }
        lane = Lane(playback: event[.adBeaconGroup] ?? "")
        let lifetime = Beacons.usualLifetime.components.seconds.saturatingMultiply(1_000)
        let latest = event.time.wallTime.milliseconds.saturatingAdd(lifetime)
        expiry = WallTime(milliseconds: event[.adBeaconExpiry].map(Int64.init) ?? latest)
    }
}

/// The result of one attempt to send a beacon.
enum BeaconResult: Hashable, Sendable {
    /// The server answered with success.
    case sent
    /// The beacon will never be sent.
    case refused(String)
    /// The beacon is sent again later, and the beacons of its ad after it.
    case waiting(after: Duration?, String)

    /// The meaning of a response or an error for a beacon, by the table of delivery outcomes. A beacon has no
    /// credential: what asks for one, and what is gone, concerns this beacon alone.
    init(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .acknowledged, .acknowledgedExcept: self = .sent
        case .retry(let delay, let reason): self = .waiting(after: delay, reason)
        case .unauthorized(let reason), .tooLarge(let reason), .refused(let reason), .gone(let reason):
            self = .refused(reason)
        }
    }

    /// Whether the beacon is not sent again.
    var isFinal: Bool { if case .waiting = self { false } else { true } }

    /// The same for a beacon whose time is over.
    var givenUp: BeaconResult {
        if case .waiting(_, let reason) = self { .refused("given up after its expiry: \(reason)") } else { self }
    }
}
