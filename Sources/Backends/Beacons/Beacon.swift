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
    /// The calendar time of the event that the beacon reports.
    let time: WallTime
    /// The lane of the beacon.
    let lane: Lane

    /// Beacons that keep their order: those of one playback of an ad for one server. Servers of one ad are independent:
    /// none waits for another.
    struct Lane: Hashable, Sendable {
        var playback: String
        var server: String
    }

    /// The beacon of a record; nil for any other sample.
    init?(_ record: SampleRecord) {
        guard case .event(let event) = record.sample, event.action == .adBeacon else { return nil }
        (id, sequence) = (record.id, record.sequence)
        url = AdURL(event[.adBeaconUrl] ?? "")
        do throws(HTTPError) { server = try url.resolved().origin } catch { server = "" }
        time = event.time.wallTime
        lane = Lane(playback: event[.adBeaconGroup] ?? "", server: server)
        let lifetime = Beacons.usualLifetime.components.seconds.saturatingMultiply(1_000)
        let latest = event.time.wallTime.milliseconds.saturatingAdd(lifetime)
        expiry = WallTime(milliseconds: event[.adBeaconExpiry].map(Int64.init) ?? latest)
    }

    /// Whether the beacon is given up if an attempt fails.
    func isExpired(at now: WallTime) -> Bool { now.milliseconds >= expiry.milliseconds }
}

/// One attempt to send a beacon.
struct BeaconAttempt: Sendable {
    var result: BeaconResult
    /// Whether the server let the request run out of time.
    var isTimeOut = false
}

/// The result of one attempt to send a beacon.
enum BeaconResult: Hashable, Sendable {
    /// The server answered with success.
    case sent
    /// The server answered that it never takes the beacon, or the beacon cannot be sent.
    case refused(String)
    /// The beacon's time is over, and its last attempt has failed.
    case givenUp(String)
    /// The beacon is sent again later, and the beacons of its ad for the same server after it.
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
    var afterExpiry: BeaconResult {
        if case .waiting(_, let reason) = self { .givenUp("given up after its expiry: \(reason)") } else { self }
    }

    /// Why the beacon becomes a dead letter; nil unless it does.
    var refusal: String? {
        switch self {
        case .refused(let reason), .givenUp(let reason): reason
        case .sent, .waiting: nil
        }
    }
}
