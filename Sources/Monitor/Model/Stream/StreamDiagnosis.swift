internal import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
internal import InstrumentText
internal import InstrumentWatch

/// Why viewers of a stream have trouble: what its requests say, and the course of the trouble.
struct StreamDiagnosis: Sendable {
    /// What else is known of the stream at a moment.
    struct Look: Sendable {
        var host: String
        /// Whether the picture moves.
        var isPlaying: Bool
        var isUp: Bool?
        var hasSession: Bool
        /// Since when playback waits for media, after the first picture.
        var stall: Timestamp?
        /// Milliseconds that a session that waits for media has played.
        var played = 0
        var findings: StreamFindings
        var age: PlaylistAge?
        var error: StreamState.Failure?
        var announcement: Announcement?
    }

    /// A cause that begins, or is over.
    enum Change: Sendable { case begins(StreamCause), ends(StreamCause) }

    /// The course of trouble: when it began, and what followed.
    private struct Course: Sendable {
        /// Since when viewers see no picture.
        var begin: Timestamp?
        /// When the buffer ran empty.
        var stall: Timestamp?
        /// The first error that ended a session.
        var failure: StreamState.Failure?
        /// The media that arrived in a second, in seconds, when it was last known to arrive too slowly.
        var speed: Double?
    }

    /// Why viewers have trouble; nil while all is well, and where the reason is unknown.
    private(set) var cause: StreamCause?
    private var requests = FailureTracker()
    private var course = Course()
    /// The cause of a stream that was down when an earlier process ended, until the stream plays.
    private var restoredCause: StreamCause?
    /// When the picture moved last.
    private(set) var lastPlayed: MonotonicInstant?

    // MARK: News

    mutating func beginSession() { requests.beginSession() }

    mutating func observe(_ request: RequestObservation, at now: Timestamp) { requests.observe(request, at: now) }

    /// Takes the buffer of the session that plays.
    mutating func note(played: Int, buffered: Int, at now: MonotonicInstant) {
        requests.note(playing: played, buffered: buffered, at: now)
    }

    /// Forgets the requests that failed before a session that shows its first picture now.
    mutating func notePicture(ofSessionSince begin: MonotonicInstant) { requests.forget(before: begin) }

    /// Takes note that the buffer ran empty.
    mutating func noteStall(at time: Timestamp) { course.stall = course.stall ?? time }

    /// Takes note of an error that ends a session.
    mutating func noteEnd(by failure: StreamState.Failure?) { course.failure = course.failure ?? failure }

    /// Forgets the state: nothing is known of the stream any more.
    mutating func forget() { (cause, restoredCause, requests, course) = (nil, nil, FailureTracker(), Course()) }

    /// Continues the trouble that an earlier process saw.
    mutating func restore(_ cause: StreamCause?, since begin: Timestamp) {
        (self.cause, restoredCause, course.begin) = (cause, cause, begin)
    }

    // MARK: The cause

    /// Brings the cause up to date.
    /// - Returns: whether the cause became different, and what begins or is over.
    mutating func settle(_ look: Look, at now: Timestamp) -> (isNew: Bool, change: Change?) {
        if look.isPlaying {
            (lastPlayed, restoredCause) = (now.instant, nil)
            requests.settle(whilePlayingAt: now.instant)
            course = Course()
        } else if course.begin == nil, look.isUp == false || look.stall != nil {
            course.begin = look.stall ?? now
        }
        if look.stall != nil,
            let speed = requests.arrivals.slowness(playing: look.played, buffered: 0, at: now.instant)
        {
            course.speed = speed
        }
        let (old, new) = (cause, findCause(look, at: now))
        guard new != old else { return (false, nil) }
        cause = new
        guard new?.identity != old?.identity else { return (true, nil) }
        return (true, new.map { Change.begins($0) } ?? old.map { Change.ends($0) })
    }

    private func findCause(_ look: Look, at now: Timestamp) -> StreamCause? {
        if look.isUp == false || look.stall != nil { return troubleCause(look, at: now) }
        if look.hasSession, let failure = requests.threat(at: now.instant) { return cause(of: failure, look) }
        if let announcement = look.announcement { return announcement.cause }
        guard let finding = look.findings.cause else { return nil }
        return staleness(look, at: now) ?? finding
    }

    // MARK: No picture

    private func troubleCause(_ look: Look, at now: Timestamp) -> StreamCause? {
        if let restoredCause, restoredCause.kind != .stalled { return restoredCause }
        if let failure = requests.reason(ofStall: look.stall?.instant) { return cause(of: failure, look) }
        if let stale = staleness(look, at: now) { return stale }
        if let restoredCause { return restoredCause }
        let begin = course.begin ?? now
        if let stall = look.stall, let speed = course.speed {
            let text = "Segments arrive at \(Self.decimal(speed)) × real time"
            return consequences(
                of: StreamCause(.stalled, "Segments arrive too slowly", text: text, since: stall.wallTime)
            )
        }
        if let error = errorOfTrouble(look), let known = StreamCause(error, since: begin.wallTime) {
            return consequences(of: known, of: look.host)
        }
        return unexplained(look, since: begin, at: now)
    }

    private func unexplained(_ look: Look, since begin: Timestamp, at now: Timestamp) -> StreamCause {
        var cause = StreamCause(.stalled, "No picture", since: begin.wallTime)
        if look.stall != nil {
            cause.title = "Stalled"
            cause.text = "The buffer is empty"
            if let latest = requests.arrivals.latest, latest.duration(to: now.instant) >= .seconds(5) {
                cause.text += "; no segment has arrived for \(Self.span(latest.milliseconds(to: now.instant)))"
            }
        } else if let error = errorOfTrouble(look) {
            cause.text = "\(error.code): \(error.message)"
        } else {
            cause.text = "No picture is shown"
        }
        if !cause.text.hasSuffix(".") { cause.text += "." }
        return cause
    }

    /// The latest error, if it belongs to the trouble that lasts, and not to an earlier one.
    private func errorOfTrouble(_ look: Look) -> StreamState.Failure? {
        look.error.flatMap { error in lastPlayed.map { $0 <= error.time.instant } ?? true ? error : nil }
    }

    /// The playlist that does not change; nil if it changes, or if nothing is known.
    private func staleness(_ look: Look, at now: Timestamp) -> StreamCause? {
        let finding = look.findings.stale
        let error = errorOfTrouble(look).flatMap { $0.code == "stalePlaylist" ? $0 : nil }
        let age = look.age?.value(at: now.instant)
        guard let message = finding?.message ?? error?.message ?? Self.overdue(look, at: now.instant) else {
            return nil
        }
        let changed = age.map { now.before($0).wallTime }
        let since = [changed, finding?.since.wallTime, error?.time.wallTime].compactMap(\.self).min() ?? now.wallTime
        return consequences(
            of: StreamCause(.stale, "Playlist does not change", text: message, since: since),
            of: look.host
        )
    }

    /// What is said of a playlist that should have changed while playback waits; nil for one that need not have, and
    /// for one that was not read since: while a server does not answer, nobody knows whether its playlist changes.
    private static func overdue(_ look: Look, at now: MonotonicInstant) -> String? {
        // RFC 8216bis, section 6.2.1: a live playlist changes within one and a half target durations.
        guard look.stall != nil, let age = look.age, age.value(at: now) != nil, age.target > .zero,
            age.whenSeen > age.target * 1.5
        else { return nil }
        return "The playlist has been the same for \(span(age.whenSeen.milliseconds)), with a target duration of "
            + span(age.target.milliseconds)
    }

    // MARK: Sentences

    private func cause(of failure: FailureTracker.Failure, _ look: Look) -> StreamCause {
        var cause = StreamCause(failure, fallback: look.host)
        let server = cause.host ?? "the server"
        let time = failure.begin.wallTime.timeOfDay.prefix(8)
        cause.text = "\(failure.resource.title) requests to \(server) fail since \(time) UTC (\(cause.title))"
        return consequences(of: cause)
    }

    private func consequences(of cause: StreamCause, of host: String? = nil) -> StreamCause {
        var cause = cause
        cause.host = cause.host ?? host
        var text = cause.text
        while text.hasSuffix(".") { text.removeLast() }
        let later = { (time: Timestamp) -> String? in
            let elapsed = time.wallTime.milliseconds.saturatingSubtract(cause.since.milliseconds)
            return elapsed < 0 ? nil : Self.span(Int(elapsed)) + " later"
        }
        if let stall = course.stall, let when = later(stall), cause.kind != .stalled {
            text += "; the buffer ran empty \(when)"
        }
        if let failure = course.failure, let when = later(failure.time) {
            // The server is not to blame for a proxy.
            let reason = failure.code == "proxy" ? ": \(failure.message.prefix { $0 != ";" })" : ""
            text += "; the session failed \(when) (\(failure.code)\(reason))"
        }
        cause.text = text + "."
        return cause
    }

    private static func span(_ milliseconds: Int) -> String {
        switch milliseconds {
        case ..<10_000: decimal(Double(milliseconds) / 1000) + " s"
        case ..<120_000: "\(milliseconds / 1000) s"
        case ..<7_200_000: "\(milliseconds / 60_000) min"
        default: "\(milliseconds / 3_600_000) h"
        }
    }

    private static func decimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension StreamCause {
    /// Whether a check found what a player finds, too: a file that cannot be fetched.
    var isFindingOfDelivery: Bool { rule == "manifest-unavailable" || rule == "segment-unavailable" }

    /// What makes two causes one fault.
    struct Identity: Hashable, Sendable {
        var kind: Kind
        var title: String
        var host: String?
        var resource: Resource?
    }

    var identity: Identity { Identity(kind: kind, title: title, host: host, resource: resource) }

    fileprivate init(_ failure: FailureTracker.Failure, fallback host: String) {
        self.init(
            failure.kind == .status ? .http : failure.kind == .content ? .media : .network,
            Self.title(of: failure),
            since: failure.begin.wallTime
        )
        (status, resource, address) = (failure.status, failure.resource, failure.address)
        self.host = failure.host ?? host
    }

    private static func title(of failure: FailureTracker.Failure) -> String {
        switch failure.kind {
        case .status: failure.status.map { HTTPStatusText.line(for: $0) } ?? "Error status"
        case .timedOut: failure.hasReceivedBytes ? "Transfer takes too long" : "No answer in time"
        case .connection, .cancelled: "Connection fails"
        case .nameNotFound: "Host name is unknown"
        case .proxy: "Proxy fails"
        case .tls: "TLS connection fails"
        case .content: "Wrong content"
        case .refused: "Address is refused"
        }
    }

    /// The cause that an error of a session names; nil for an error that names none.
    fileprivate init?(_ error: StreamState.Failure, since: WallTime) {
        let (kind, title): (Kind, String)
        switch error.code {
        case "notFound": (kind, title) = (.http, "Not found")
        case "httpStatus": (kind, title) = (.http, "Error status")
        case "connection": (kind, title) = (.network, "Connection fails")
        case "timedOut": (kind, title) = (.network, "No answer in time")
        case "proxy": (kind, title) = (.network, "Proxy fails")
        case "tls": (kind, title) = (.network, "TLS connection fails")
        case "refusedAddress": (kind, title) = (.network, "Address is refused")
        case "invalidManifest": (kind, title) = (.media, "Playlist cannot be read")
        case "wrongContent": (kind, title) = (.media, "Wrong content")
        case "unsupportedFormat", "unsupportedStream", "unplayableMedia", "playlist":
            (kind, title) = (.media, "Media cannot be played")
        case "readFailed", "endedEarly", "empty", "tooLarge": (kind, title) = (.media, "Media cannot be read")
        default: return nil
        }
        self.init(kind, title, text: error.message, since: since)
    }
}

extension StreamCause.Resource {
    var title: String {
        switch self {
        case .manifest: "Manifest"
        case .playlist: "Playlist"
        case .segment: "Segment"
        case .initialization: "Initialization section"
        case .key: "Key"
        case .licence: "Licence"
        }
    }
}
