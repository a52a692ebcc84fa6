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

    /// Continues with new settings.
    init(_ settings: PlaceSettings, continuing old: PlaceBook) {
        self.init(settings, at: old.readSince)
        (places, streamCount, samples, refused) = (old.places, old.streamCount, old.samples, old.refused)
        (isCaughtUp, failure, isFailureReported) = (old.isCaughtUp, old.failure, old.isFailureReported)
    }

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

    // MARK: Incidents

    /// The alerts of incidents about the reading of samples.
    private enum Alert {
        static let silence = "silence"
        static let source = "source"
    }

    /// A source that fails for this long is an incident.
    private static let sourcePatience = Duration.seconds(60)
    private static let sourceSubject = "source of samples"

    private static func subject(_ place: String) -> String { "place \(StreamOrigin.name(of: place))" }

    /// Notes that the source of samples cannot be read.
    mutating func note(failure reason: String, at now: Timestamp) { failure = (reason, failure?.since ?? now) }

    /// The incident of a source that cannot be read.
    mutating func judgeSource(_ receivers: [String], at now: Timestamp) -> [IncidentNews] {
        guard let failure else {
            defer { isFailureReported = false }
            return isFailureReported ? [.resolves(alert: Alert.source, subject: Self.sourceSubject)] : []
        }
        guard !isFailureReported, failure.since.instant.duration(to: now.instant) >= Self.sourcePatience else {
            return []
        }
        isFailureReported = true
        var cause = StreamCause(.check, "The samples of all places cannot be read", since: failure.since.wallTime)
        cause.text = failure.reason
        let signal = IncidentSignal(
            alert: Alert.source,
            facts: .init(condition: "the source cannot be read", receivers: receivers, severity: .critical),
            stream: Self.sourceSubject,
            labels: [:],
            cause: cause,
            since: failure.since
        )
        return [.fires(signal)]
    }

    /// Takes note that a place has fallen silent; returns the incident.
    mutating func silence(_ name: String, _ receivers: [String]) -> [IncidentNews] {
        guard let place = places[name] else { return [] }
        places[name]?.isSilent = true
        let (since, shown) = (place.latest.wallTime, StreamOrigin.name(of: name))
        var cause = StreamCause(.check, "No samples from \(shown) since \(since.timeOfDay.prefix(8)) UTC", since: since)
        cause.text =
            "The monitor in \(shown) has sent nothing since \(since.rfc3339). Its streams are in no known state: look at that monitor, "
            + "its machine and its network."
        let refused = place.refused.filter { $0.key == .future }.values.reduce(0, +)
        if refused > 0 { cause.text += " \(refused) samples were refused because their time is ahead: set its clock." }
        let signal = IncidentSignal(
            alert: Alert.silence,
            facts: .init(
                condition: "no samples for \(Int(settings.silence.seconds)) s",
                receivers: receivers,
                severity: .warning
            ),
            stream: Self.subject(name),
            labels: ["location": shown],
            cause: cause,
            since: place.latest
        )
        return [.fires(signal)]
    }

    /// Takes note that a place is silent no more; returns the end of its incident.
    mutating func endSilence(of name: String) -> [IncidentNews] {
        guard places[name]?.isSilent == true else { return [] }
        places[name]?.isSilent = false
        return [.resolves(alert: Alert.silence, subject: Self.subject(name))]
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
