internal import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
internal import InstrumentText
internal import InstrumentWatch

extension StreamState {
    /// The course of trouble: when it began, and what followed.
    struct Trouble: Sendable {
        /// Since when viewers see no picture.
        var begin: Timestamp?
        /// When the buffer ran empty.
        var stall: Timestamp?
        /// The first error that ended a session.
        var failure: Failure?
        /// The media that arrived in a second, in seconds, when it was last known to arrive too slowly.
        var speed: Double?
    }

    /// Brings the cause and the state word up to date.
    /// - Returns: whether what survives a restart has changed.
    mutating func settle(at now: Timestamp) -> Bool {
        // A monitor that stops keeps what it knew, for the next process.
        if case .retired = phase { return false }
        let wasDown = settledWord == .down
        let before = cause?.identity
        if isPlaying {
            (lastPlayed, restoredCause) = (now.instant, nil)
            requestFailures.settle(whilePlayingAt: now.instant)
            trouble = Trouble()
        } else if trouble.begin == nil, isUp == false || run?.waitingSince != nil {
            trouble.begin = run?.waitingSince ?? now
        }
        if run?.waitingSince != nil, let speed = slowness(at: now) { trouble.speed = speed }
        let new = findCause(at: now)
        if new != cause {
            noteChange(to: new, at: now)
            cause = new
            revision += 1
        }
        if word != settledWord {
            settledWord = word
            stateSince = now.wallTime
            revision += 1
        }
        return wasDown != (word == .down) || wasDown && before != cause?.identity
    }

    /// The requests of a cause that has begun since the last call.
    mutating func takeCauseEvidence() -> CauseEvidence? {
        defer { causeEvidence = nil }
        return causeEvidence
    }

    private mutating func noteChange(to new: StreamCause?, at now: Timestamp) {
        // Stalls and findings have separate entries.
        let isNoted = { (cause: StreamCause) in cause.kind != .check && cause.kind != .stalled }
        guard new?.identity != cause?.identity else { return }
        if let new, let kept = CauseEvidence(new, requests) { causeEvidence = kept }
        if let new, isNoted(new) {
            note("cause", "\(new.title): \(new.text)", at: now.wallTime)
        } else if let cause, isNoted(cause), new == nil {
            note("cause", "\(cause.title): over", at: now.wallTime)
        }
    }

    private func findCause(at now: Timestamp) -> StreamCause? {
        let stall = run?.waitingSince
        if isUp == false || stall != nil { return troubleCause(stall: stall, at: now) }
        if run != nil, let failure = requestFailures.threat(at: now.instant) { return cause(of: failure) }
        if let announcement { return announcement.cause }
        return finding(at: now)
    }

    // MARK: No picture

    private func troubleCause(stall: Timestamp?, at now: Timestamp) -> StreamCause? {
        if let restoredCause, restoredCause.kind != .stalled { return restoredCause }
        if let failure = requestFailures.reason(ofStall: stall?.instant) { return cause(of: failure) }
        if let stale = staleness(at: now) { return stale }
        if let restoredCause { return restoredCause }
        let begin = trouble.begin ?? now
        if let stall, let speed = trouble.speed {
            let text = "Segments arrive at \(Self.decimal(speed)) × real time"
            return consequences(
                of: StreamCause(.stalled, "Segments arrive too slowly", text: text, since: stall.wallTime)
            )
        }
        if let error = lastFailure, isOfTrouble(error), let known = StreamCause(error, since: begin.wallTime) {
            return consequences(of: known, of: stream.url.host)
        }
        return unexplained(stall: stall, since: begin, at: now)
    }

    private func unexplained(stall: Timestamp?, since begin: Timestamp, at now: Timestamp) -> StreamCause {
        var cause = StreamCause(.stalled, "No picture", since: begin.wallTime)
        if stall != nil {
            cause.title = "Stalled"
            cause.text = "The buffer is empty"
            if let latest = requestFailures.arrivals.latest, latest.duration(to: now.instant) >= .seconds(5) {
                cause.text += "; no segment has arrived for \(Self.span(latest.milliseconds(to: now.instant)))"
            }
        } else if let error = lastFailure, isOfTrouble(error) {
            cause.text = "\(error.code): \(error.message)"
        } else {
            cause.text = "No picture is shown"
        }
        if !cause.text.hasSuffix(".") { cause.text += "." }
        return cause
    }

    /// Whether an error belongs to the trouble that lasts, and not to an earlier one.
    private func isOfTrouble(_ error: Failure) -> Bool {
        lastPlayed.map { $0 <= error.time.instant } ?? true
    }

    /// The playlist that does not change; nil if it changes, or if nothing is known.
    private func staleness(at now: Timestamp) -> StreamCause? {
        let check = ["stale", "mpd-stale"].lazy.compactMap { checks[$0] }.first(where: \.isBroken)
        let error = lastFailure.flatMap { $0.code == "stalePlaylist" && isOfTrouble($0) ? $0 : nil }
        let age = playlistAge(at: now.instant)
        guard let message = check?.message ?? error?.message ?? overdue(at: now.instant) else { return nil }
        let changed = age.map { now.before($0).wallTime }
        let since = [changed, check?.since.wallTime, error?.time.wallTime].compactMap(\.self).min() ?? now.wallTime
        return consequences(
            of: StreamCause(.stale, "Playlist does not change", text: message, since: since),
            of: stream.url.host
        )
    }

    /// What is said of a playlist that should have changed while playback waits; nil for one that need not have, and
    /// for one that was not read since: while a server does not answer, nobody knows whether its playlist changes.
    private func overdue(at now: MonotonicInstant) -> String? {
        // RFC 8216bis, section 6.2.1: a live playlist changes within one and a half target durations.
        guard run?.waitingSince != nil, playlistAge(at: now) != nil, let age, age.target > .zero,
            age.value > age.target * 1.5
        else { return nil }
        return "The playlist has been the same for \(Self.span(age.value.milliseconds)), with a target duration of "
            + Self.span(age.target.milliseconds)
    }

    private func slowness(at now: Timestamp) -> Double? {
        let figures = figures(at: now.instant)
        return requestFailures.arrivals.slowness(playing: figures.playing, buffered: 0, at: now.instant)
    }

    // MARK: A picture with faults

    private static let mediaFindings = [
        "black": "Black picture", "freeze": "Frozen picture", "silence": "Silence",
    ]
    private static let deliveryFindings = [
        "stale": "Playlist does not change", "mpd-stale": "Playlist does not change",
        "manifest-unavailable": "Playlists cannot be fetched", "segment-unavailable": "Segments cannot be fetched",
    ]

    /// The cause that a broken rule is, or what a check finds in the media.
    static func cause(of rule: String, _ check: Check) -> StreamCause {
        var cause = StreamCause(.check, title(ofFinding: rule), text: check.message, since: check.since.wallTime)
        cause.rule = rule
        return cause
    }

    /// A finding of a check in words.
    static func title(ofFinding rule: String) -> String {
        mediaFindings[rule] ?? deliveryFindings[rule] ?? "Rule \(rule) is broken"
    }

    private func finding(at now: Timestamp) -> StreamCause? {
        let broken = checks.filter(\.value.isBroken)
        guard !broken.isEmpty else { return nil }
        if let stale = staleness(at: now) { return stale }
        // Faults that viewers see and hear come before rules, which may be broken for months.
        let media = broken.filter { Self.mediaFindings[$0.key] != nil }
        let first = (media.isEmpty ? broken : media).min {
            ($0.value.since.instant, $0.key) < ($1.value.since.instant, $1.key)
        }
        return first.map { Self.cause(of: $0.key, $0.value) }
    }

    // MARK: Sentences

    private func cause(of failure: FailureTracker.Failure) -> StreamCause {
        var cause = StreamCause(failure, fallback: stream.url.host)
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
        if let stall = trouble.stall, let when = later(stall), cause.kind != .stalled {
            text += "; the buffer ran empty \(when)"
        }
        if let failure = trouble.failure, let when = later(failure.time) {
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
