internal import Instrument
internal import InstrumentHTTP

/// The requests of a stream that fail now, and since when; bounded.
///
/// A failure belongs to a resource: a playlist by its address, segments by their folder. It is open until the same
/// resource succeeds, answered until the stream plays, and then forgotten.
struct FailureTracker: Sendable {
    struct Failure: Hashable, Sendable {
        let resource: StreamCause.Resource
        /// The address of a playlist, the folder of segments.
        let place: String
        let address: String?
        let kind: RequestObservation.Failure
        let status: Int?
        /// When the first request that failed began.
        let begin: Timestamp
        /// When the latest request that failed ended.
        var latest: MonotonicInstant
        var count = 1
        /// Whether bytes of the first request arrived.
        let hasReceivedBytes: Bool
        /// Whether the resource had succeeded before, which shows that the player uses it.
        let isInUse: Bool
        /// Whether the same resource has succeeded since.
        var isAnswered = false
        /// Whether another resource of this kind has succeeded since the latest failure.
        var isPassed = false

        var host: String? { address.flatMap { try? HTTPURL($0) }?.host }
    }

    /// The number of failures and of places that are remembered.
    private static let mostFailures = 8
    private static let mostPlaces = 24
    /// A failure that does not occur again for this long is over if the stream plays.
    private static let longestQuiet = Duration.seconds(30)
    /// A single failure of a stream that plays says nothing before this time.
    private static let shortestSilence = Duration.seconds(6)

    private(set) var failures: [Failure] = []
    /// The places that have succeeded lately.
    private var places: [String] = []
    private(set) var arrivals = SegmentArrivals()

    mutating func observe(_ request: RequestObservation, at now: Timestamp) {
        guard let resource = StreamCause.Resource(rawValue: request.kind), request.failure != .cancelled else { return }
        let place = Self.place(of: request, resource)
        let begin = request.begin ?? now.before(request.total)
        guard let kind = request.failure else {
            succeeded(resource, place)
            if resource == .segment { arrivals.add(from: begin.instant, for: request.total) }
            return
        }
        if let index = failures.firstIndex(where: { $0.resource == resource && $0.place == place }) {
            failures[index].count += 1
            failures[index].latest = now.instant
            (failures[index].isAnswered, failures[index].isPassed) = (false, false)
            return
        }
        if failures.count >= Self.mostFailures,
            let oldest = failures.indices.min(by: { failures[$0].latest < failures[$1].latest })
        {
            failures.remove(at: oldest)
        }
        failures.append(
            Failure(
                resource: resource,
                place: place,
                address: request.address,
                kind: kind,
                status: request.status,
                begin: begin,
                latest: now.instant,
                hasReceivedBytes: request.byteCount > 0,
                isInUse: places.contains(place)
            )
        )
    }

    private mutating func succeeded(_ resource: StreamCause.Resource, _ place: String) {
        if !places.contains(place) {
            places.append(place)
            if places.count > Self.mostPlaces { places.removeFirst() }
        }
        for index in failures.indices where failures[index].resource == resource {
            if failures[index].place == place {
                failures[index].isAnswered = true
            } else {
                failures[index].isPassed = true
            }
        }
    }

    /// Takes the buffer of the session that plays.
    mutating func note(playing: Int, buffered: Int, at now: MonotonicInstant) {
        arrivals.note(playing: playing, buffered: buffered, at: now)
    }

    /// Forgets how fast media arrived in the session before.
    mutating func beginSession() { arrivals.reset() }

    /// Forgets what is over, of a stream that plays.
    mutating func settle(whilePlayingAt now: MonotonicInstant) {
        guard !failures.isEmpty else { return }
        failures.removeAll { failure in
            failure.isAnswered || failure.isPassed && failure.latest.duration(to: now) >= Self.longestQuiet
        }
    }

    /// Forgets the failures before a session that shows a picture now.
    mutating func forget(before begin: MonotonicInstant) {
        failures.removeAll { $0.latest < begin }
    }

    /// The first failure that explains why a viewer sees no picture; nil without one.
    /// - Parameter stall: since when playback waits for media; nil for a playback that has not begun or is over. A
    ///   later failure explains a stall only if it lasts.
    func reason(ofStall stall: MonotonicInstant?) -> Failure? {
        let usable = failures.filter { failure in
            guard failure.isInUse || !failure.isPassed else { return false }
            guard let stall else { return true }
            return failure.begin.instant <= stall || (failure.count > 1 && !failure.isAnswered)
        }
        return Self.first(of: usable.filter { !$0.isAnswered }) ?? Self.first(of: usable)
    }

    /// The first failure that a stream that plays from its buffer has; a single one says nothing.
    func threat(at now: MonotonicInstant) -> Failure? {
        guard !failures.isEmpty else { return nil }
        let usable = failures.filter { failure in
            !failure.isAnswered && (failure.isInUse || !failure.isPassed)
                && (failure.count > 1 || failure.begin.instant.duration(to: now) >= Self.shortestSilence)
        }
        return Self.first(of: usable)
    }

    private static func first(of failures: [Failure]) -> Failure? {
        failures.min { $0.begin.instant < $1.begin.instant }
    }

    private static func place(of request: RequestObservation, _ resource: StreamCause.Resource) -> String {
        guard let address = request.address else { return "" }
        switch resource {
        case .manifest, .playlist, .licence: return address
        case .segment, .initialization, .key:
            let end = address.utf8.lastIndex(of: UInt8(ascii: "/")) ?? address.endIndex
            return String(address[..<end])
        }
    }
}

extension Timestamp {
    /// The time before this one.
    func before(_ duration: Duration) -> Timestamp {
        Timestamp(
            instant: instant.advanced(by: .zero - duration),
            wallTime: WallTime(milliseconds: wallTime.milliseconds.saturatingSubtract(Int64(duration.milliseconds)))
        )
    }
}
