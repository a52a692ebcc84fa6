internal import Instrument
internal import InstrumentChrome
internal import InstrumentMonitor
internal import InstrumentWatch

/// A session in a tab of the browser, as a value: which playback of the page it follows, and how it ends.
///
/// The session follows the element that is asked to play first, and once its playback is over, the next one that is
/// asked to play: an ad and the content behind it are one session.
struct BrowserSession: Sendable {
    /// What happens next unless an event of the page comes first.
    enum Deadline: Hashable, Sendable {
        /// The browser must open the tab.
        case opening
        /// Something on the page must be asked to play.
        case request
        /// The next playback must be asked for.
        case next
        /// The tab must be closed.
        case closing

        /// Seconds.
        var limit: Int {
            switch self {
            case .opening, .request: 20
            case .next: 5
            case .closing: 10
            }
        }
    }

    /// A playing page answers every 5 s.
    private static let patience = Duration.seconds(30)

    /// Whether the page may play one thing after another.
    let isPage: Bool
    private(set) var followed: TrackerID?
    private(set) var deadline: Deadline? = .opening
    private(set) var ending: SessionEnding?
    private var latestEnding = SessionEnding.ended
    private var isPlaying = false

    init(_ stream: WatchedStream) { isPage = stream.player == .page }

    /// Whether the tab is being closed.
    var isClosing: Bool { deadline == .closing }

    /// The tab goes to its page.
    mutating func opened() { if deadline == .opening { deadline = .request } }

    /// Closes the tab; the first reason counts.
    mutating func close(_ ending: SessionEnding) {
        if self.ending == nil { self.ending = ending }
        deadline = .closing
    }

    /// Takes an event of an element. Returns whether the event is one of the session.
    mutating func take(_ event: Event) -> Bool {
        if followed == nil, event.action == .streamLoad, !isClosing {
            (followed, deadline) = (event.tracker, nil)
        }
        guard followed == event.tracker else { return false }
        switch event.action {
        case .start: isPlaying = true
        case .end, .stop: finish(.ended)
        case .error where event[.isFatal] == true:
            let code = event[.errorCode] ?? "error"
            finish(.failed(code: code, message: event[.errorDescription] ?? "the browser gives no reason"))
        default: break
        }
        return true
    }

    private mutating func finish(_ ending: SessionEnding) {
        (followed, isPlaying, latestEnding) = (nil, false, ending)
        if isClosing { return }
        if isPage { deadline = .next } else { close(ending) }
    }

    /// A deadline has passed. Returns the reason if the browser is at fault.
    mutating func pass(_ passed: Deadline) -> String? {
        guard deadline == passed else { return nil }
        switch passed {
        case .opening: return "the browser opened no tab within \(passed.limit) s"
        case .closing: return "the browser did not close a tab within \(passed.limit) s"
        case .next: close(latestEnding)
        case .request:
            let words =
                "nothing on the page was asked to play within \(passed.limit) s; check the address, and whether the page plays "
                + "without a person's click"
            close(.failed(code: "nothingPlays", message: words))
        }
        return nil
    }

    /// Ends the session of a page that plays and has answered nothing for long.
    mutating func judge(answer: MonotonicInstant?, at now: MonotonicInstant) {
        guard isPlaying, !isClosing, let answer, answer.duration(to: now) >= Self.patience else { return }
        close(.failed(code: "pageHangs", message: "the page has answered nothing for \(Int(Self.patience.seconds)) s"))
    }
}

extension RequestObservation {
    init(_ request: ChromeTab.Request, _ clock: any SchedulingClock) {
        self.init(
            kind: request.kind,
            status: request.status,
            isFailure: request.isFailed,
            total: request.time,
            byteCount: request.byteCount,
            failure: request.failure.map { Failure(ofChromium: $0) },
            address: request.address,
            begin: clock.timestamp(of: request.end.advanced(by: .zero - request.time)),
            wait: request.timeToFirstByte
        )
    }
}

extension RequestObservation.Failure {
    /// The failure that a name of Chromium stands for (`net/base/net_error_list.h`).
    init(ofChromium name: String) {
        let error = name.hasPrefix("net::ERR_") ? String(name.dropFirst(9)) : name
        self =
            switch error {
            case "ABORTED": .cancelled
            case "TIMED_OUT", "CONNECTION_TIMED_OUT": .timedOut
            case "NAME_NOT_RESOLVED", "NAME_RESOLUTION_FAILED": .nameNotFound
            case "PROXY_CONNECTION_FAILED", "TUNNEL_CONNECTION_FAILED": .proxy
            case "CONTENT_DECODING_FAILED", "INVALID_RESPONSE", "INVALID_HTTP_RESPONSE": .content
            case _ where error.hasPrefix("CERT_") || error.hasPrefix("SSL_"): .tls
            case _ where error.hasPrefix("BLOCKED_BY_") || error == "UNSAFE_REDIRECT" || error == "ACCESS_DENIED":
                .refused
            default: .connection
            }
    }
}
