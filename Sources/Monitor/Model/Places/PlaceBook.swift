internal import Instrument
internal import InstrumentJSON
internal import InstrumentText
internal import InstrumentWatch

/// What is known of the places whose monitors send samples; bounded.
struct PlaceBook: Sendable {
    struct Place: Sendable {
        /// When the latest sample arrived.
        var latest: Timestamp
        var samples = 0
        var refused: [SampleRefusal: Int] = [:]
        /// Whether the place has sent nothing for the time that is an incident.
        var isSilent = false
        /// The slots of its streams.
        var slots: Set<Int> = []
    }

    /// Further places and streams are refused.
    static let mostPlaces = 200
    static let mostStreams = 20_000
    /// A stream of which no sample has arrived for this long is forgotten.
    static let memory = Duration.seconds(86_400)
    /// A sample whose time is further ahead is refused; the clocks of places differ.
    static let mostAhead: Int64 = 3_600_000

    let settings: PlaceSettings
    var places: [String: Place] = [:]
    var streamCount = 0
    var samples = 0
    var refused: [SampleRefusal: Int] = [:]
    /// Whether the source has been read to its end once: until then, streams are in states of the past.
    var isCaughtUp = false
    /// Why the source cannot be read; nil while it can.
    var failure: (reason: String, since: Timestamp)?
    var isFailureReported = false
    /// Since when the source is read without a break: silence before says nothing of a place.
    var readSince: MonotonicInstant

    init(_ settings: PlaceSettings, at now: MonotonicInstant) { (self.settings, readSince) = (settings, now) }

    /// Counts a sample of a place; false if there are too many places.
    mutating func arrive(_ name: String, at now: Timestamp) -> Bool {
        samples += 1
        if places[name] == nil {
            guard places.count < Self.mostPlaces else { return false }
            places[name] = Place(latest: now)
        }
        places[name]?.latest = now
        places[name]?.samples += 1
        return true
    }

    /// Counts samples that are not used.
    mutating func refuse(_ reason: SampleRefusal, of place: String? = nil, count: Int = 1) {
        refused[reason] = refused[reason, default: 0].saturatingAdd(count)
        if let place { places[place]?.refused[reason, default: 0] += count }
    }

    /// How long a place has sent nothing, as far as the source was read.
    func quiet(_ place: Place, at now: MonotonicInstant) -> Duration {
        max(place.latest.instant, readSince).duration(to: now)
    }

    // MARK: Pages

    /// The source for the page.
    var sourceDocument: JSONValue {
        var members: [String: JSONValue] = [
            "caughtUp": .bool(isCaughtUp), "samples": .int(samples), "refused": Self.document(of: refused),
        ]
        members["failure"] = failure.map { .string($0.reason) }
        members["failingSince"] = failure.map { .string($0.since.wallTime.rfc3339) }
        return .object(members)
    }

    static func document(of refused: [SampleRefusal: Int]) -> JSONValue {
        .object(Dictionary(refused.map { ($0.key.rawValue, JSONValue.int($0.value)) }) { first, _ in first })
    }

    func write(to writer: inout MetricsWriter) {
        let known = places.sorted { $0.key < $1.key }.map { name, place in
            (labels: MetricsWriter.labels([("location", StreamOrigin.name(of: name))]), place: place)
        }
        writer.begin("instrument_place_up", .gauge, "0 if the monitor of a location has fallen silent, else 1.")
        for place in known { writer.sample(place.place.isSilent ? 0 : 1, place.labels) }
        writer.begin("instrument_place_samples", .counter, "Samples that were read, by location.")
        for place in known { writer.sample(Double(place.place.samples), place.labels) }
        writer.begin("instrument_place_refused_samples", .counter, "Samples that were read and not used, by reason.")
        for reason in SampleRefusal.allCases {
            writer.sample(Double(refused[reason] ?? 0), MetricsWriter.labels([("reason", reason.rawValue)]))
        }
    }
}

/// A session that a monitor elsewhere plays.
struct RemoteRun: Sendable {
    /// Without a newer sample, a session is known to be in its state for this long: players send a ping every 30 s.
    static let reach = Duration.seconds(60)

    /// The sender and its playback.
    let session: String
    /// The sender's calendar at the first sample.
    let begin: WallTime
    private var clock: (sender: MonotonicInstant, here: MonotonicInstant)
    /// The number of the latest sample.
    private var last: (log: UInt64, sequence: UInt64)
    /// The time of the latest sample on this machine's clock.
    private(set) var latest: MonotonicInstant
    /// When the latest sample arrived.
    private(set) var arrival: MonotonicInstant

    /// - Parameters:
    ///   - session: the sender and its playback.
    ///   - record: the first sample.
    ///   - now: when the sample arrived.
    init(_ session: String, _ record: SampleRecord, at now: Timestamp) {
        let time = record.sample.time
        let age = max(0, now.wallTime.milliseconds.saturatingSubtract(time.wallTime.milliseconds))
        latest = now.instant.advanced(by: .milliseconds(-age))
        (self.session, begin, arrival) = (session, time.wallTime, now.instant)
        clock = (time.instant, latest)
        last = (record.id.log, record.sequence)
    }

    /// Takes a further sample; returns its time on this machine's clock, or nil for a late sample.
    ///
    /// The sender's monotonic clock measures, so that a calendar that is wrong or set changes no duration. A sample is
    /// never in the future.
    mutating func take(_ record: SampleRecord, at now: Timestamp) -> Timestamp? {
        if record.id.log == last.log, record.sequence <= last.sequence { return nil }
        last = (record.id.log, record.sequence)
        let elapsed = record.sample.time.instant.nanoseconds.saturatingSubtract(clock.sender.nanoseconds)
        var instant = MonotonicInstant(nanoseconds: clock.here.nanoseconds.saturatingAdd(elapsed))
        if instant > now.instant {
            instant = now.instant
            clock = (record.sample.time.instant, instant)
        }
        latest = max(latest, instant)
        arrival = now.instant
        return now.before(latest.duration(to: now.instant))
    }

    /// Whether another session is one of another tracker of the same process: the identifier of a sender is that of its
    /// instrument, and the number of its tracker.
    func isBeside(_ other: String) -> Bool {
        let sender = { (session: String) in session.prefix { $0 != "/" }.split(separator: "-") }
        let (own, others) = (sender(session), sender(other))
        return own != others && own.dropLast() == others.dropLast()
    }

    /// The time of the first sample on this machine's clock.
    func start(at now: Timestamp) -> Timestamp { now.before(latest.duration(to: now.instant)) }
}
