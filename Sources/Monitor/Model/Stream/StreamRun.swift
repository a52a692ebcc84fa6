internal import Instrument
internal import InstrumentQuality
internal import InstrumentWatch

/// A session that runs: its playback so far, and what it waits for.
struct StreamRun: Sendable {
    let id: SessionID
    let begin: Timestamp
    var end: MonotonicInstant?
    private(set) var model: SessionModel?
    /// The sums of the playbacks before that of the model: a web page plays one after another.
    private var earlier = SessionFigures()
    /// Whether the session plays in a tab of the browser.
    var usesTab = false
    var hasShownPicture = false
    /// When another session begins in the place of this one, whose presentation has not begun: at its beginning, or
    /// earlier, to see whether the beginning has changed.
    var nextLook: MonotonicInstant?
    /// Since when playback waits for media, after the first picture.
    var waitingSince: Timestamp?
    /// When the session began to count as down.
    var downSince: MonotonicInstant?
    /// Whether another session starts as soon as this one has ended.
    var isReplaced = false
    var errors = 0
    var requests = 0
    var failedRequests = 0
    private var requestTime = 0.0
    /// Rules that were broken in this session.
    private(set) var brokenRules: Set<String> = []
    private(set) var hasReadPlaylist = false
    /// The session at the monitor that plays it; nil for a session of this monitor.
    var remote: RemoteRun?

    init(id: SessionID, begin: Timestamp) { (self.id, self.begin) = (id, begin) }

    /// Takes an event of the player. A request after the end of a playback begins another playback of the session.
    mutating func take(_ event: Event) {
        guard let before = model, !before.state.isTerminal || ![.mediaRequest, .streamLoad].contains(event.action)
        else {
            if model != nil {
                let sums = figures(at: event.time.instant)
                (earlier.playing, earlier.rebuffering) = (sums.playing, sums.rebuffering)
                (earlier.rebuffers, earlier.startup) = (sums.rebuffers, sums.startup)
            }
            model = SessionModel(opening: event)
            return
        }
        model?.observe(event)
    }

    mutating func count(_ request: RequestObservation) {
        requests += 1
        if request.isFailure { failedRequests += 1 }
        requestTime += request.total.seconds
    }

    /// Takes the rules that an observation breaks.
    mutating func note(_ broken: [CheckObservation.Broken], isReadable: Bool) {
        hasReadPlaylist = hasReadPlaylist || isReadable
        for rule in broken { brokenRules.insert(rule.rule) }
    }

    /// Whether the picture moves.
    var isPlaying: Bool {
        switch model?.state {
        case .playing?, .ad?: true
        default: false
        }
    }

    func figures(at instant: MonotonicInstant) -> SessionFigures {
        // Nothing is known of a session behind its latest sample, but that it continues for a while.
        let now = remote.map { min(instant, $0.latest.advanced(by: RemoteRun.reach)) } ?? instant
        var figures = earlier
        (figures.errors, figures.requests) = (errors, requests)
        (figures.failedRequests, figures.requestTime) = (failedRequests, requestTime)
        guard let model else {
            figures.joining = max(0, begin.instant.milliseconds(to: now))
            return figures
        }
        let session = model.session
        // Zero for an instant before the latest event, whose time counts already.
        let open = session.state.isTerminal ? 0 : max(0, session.end.instant.milliseconds(to: now))
        figures.playing += session.times[.playing] + (session.state == .playing ? open : 0)
        // A stall that has not finished counts, too.
        figures.rebuffering += session.times[.rebuffering] + (session.state == .rebuffering ? open : 0)
        figures.rebuffers += session.interruptions.stallCount
        // Nobody waits for pictures before the beginning.
        guard nextLook == nil else { return figures }
        figures.startup = earlier.startup ?? session.startup.elapsed
        if figures.startup == nil, !session.startup.hasStarted {
            figures.joining = max(0, (session.startup.begin ?? begin.instant).milliseconds(to: now))
        }
        return figures
    }

    // MARK: What the session waits for

    /// When the session counts as down if it shows no picture until then; nil while it shows one.
    func downDue(_ stream: WatchedStream) -> MonotonicInstant? {
        if let waitingSince { return waitingSince.instant.advanced(by: stream.stallLimit) }
        return hasShownPicture ? nil : (nextLook ?? begin.instant).advanced(by: stream.startLimit)
    }

    /// When a session whose presentation has not begun is replaced; nil for other sessions.
    var replacementDue: MonotonicInstant? { hasShownPicture || remote != nil ? nil : nextLook }

    /// When a session of this monitor that is down is replaced; nil for other sessions.
    func retryDue(after delay: Duration) -> MonotonicInstant? {
        remote == nil ? downSince.map { $0.advanced(by: delay) } : nil
    }
}

/// The figures of one session.
package struct SessionFigures: Hashable, Sendable {
    /// Milliseconds.
    package var playing = 0
    package var rebuffering = 0
    package var rebuffers = 0
    /// Milliseconds from the request to the first picture; nil before it.
    package var startup: Int?
    /// Milliseconds since the request without a picture; nil once there is one.
    package var joining: Int?
    package var errors = 0
    package var requests = 0
    package var failedRequests = 0
    package var requestTime = 0.0
}

extension WatchedStream {
    /// A session without a picture for this long counts as down.
    private static let usualDownDelay = Duration.seconds(30)

    /// How long a session may wait for its first picture.
    var startLimit: Duration { downDelay ?? Self.usualDownDelay }

    /// How long a picture may stand. Without a configured time, half of a short session counts.
    var stallLimit: Duration {
        if let downDelay { return downDelay }
        guard case .sampled(_, let length) = schedule else { return Self.usualDownDelay }
        return min(Self.usualDownDelay, length / 2)
    }
}
