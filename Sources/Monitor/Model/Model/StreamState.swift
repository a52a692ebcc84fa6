package import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
package import InstrumentWatch

/// Everything that the monitor knows about one stream; bounded, however long the stream is watched.
package struct StreamState: Sendable {
    /// A session that runs.
    struct Run: Sendable {
        let id: SessionID
        let begin: Timestamp
        var end: MonotonicInstant?
        var model: SessionModel?
        /// The sums of the playbacks before that of the model: a web page plays one after another.
        var earlier = Figures()
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
        var requestTime = 0.0
        /// Rules that were broken in this session.
        var brokenRules: Set<String> = []
        var hasReadPlaylist = false
        /// The session at the monitor that plays it; nil for a session of this monitor.
        var remote: RemoteRun?
    }

    enum Phase: Sendable {
        /// Waits for its next start.
        case waiting(until: MonotonicInstant)
        case running(Run)
        /// A session that was asked to stop.
        case stopping(Run, until: MonotonicInstant)
        /// The monitor stops, or the stream was removed.
        case retired
    }

    /// A rule or a check of pictures and sound.
    package struct Check: Hashable, Sendable {
        /// Whether the rule counts as broken.
        package var isBroken: Bool
        /// Since when, or until when, the rule is broken.
        package var since: Timestamp
        /// When the rule was last seen broken.
        package var latest: MonotonicInstant
        /// How many rounds broke the rule.
        package var count: Int
        package var message: String
    }

    /// The latest error.
    package struct Failure: Hashable, Sendable {
        package var code: String
        package var message: String
        package var time: Timestamp
    }

    /// The figures of one session.
    package struct Figures: Hashable, Sendable {
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

    package let slot: Int
    package internal(set) var stream: WatchedStream
    var phase: Phase
    /// The place of the stream in its period.
    var offset: Duration
    var isRemoved = false
    var nextDeadline: MonotonicInstant?
    package internal(set) var failures = 0
    /// Sessions in a row that ended because what plays for the monitor failed.
    var losses = 0
    /// Whether a viewer would see a picture; nil before the first result.
    package internal(set) var isUp: Bool?
    /// The sums of the sessions that are over, of earlier streams of this name in this process, too.
    var finished = StreamTotals()
    /// The largest sums that a page has shown: counters never decrease.
    var shown = PlaybackSums()
    /// The sums that the stream had when it was removed from the configuration, while its last session ends.
    var handedOver: StreamTotals?
    package internal(set) var lastSession: Figures?
    package internal(set) var lastEnding: SessionEnding?
    package internal(set) var lastFailure: Failure?
    /// Why viewers have trouble; nil while all is well, and where the reason is unknown.
    package internal(set) var cause: StreamCause?
    /// The requests of a cause that has begun, until they are kept.
    var causeEvidence: CauseEvidence?
    var requestFailures = FailureTracker()
    /// When a host answered a request last.
    var latestAnswer: MonotonicInstant?
    /// What became different lately.
    var changes = ChangeTracker()
    var trouble = Trouble()
    /// The presentation that begins later; nil for others, and from its beginning on.
    var announcement: Announcement?
    /// The cause of a stream that was down when an earlier process ended, until the stream plays.
    var restoredCause: StreamCause?
    /// When the picture moved last.
    var lastPlayed: MonotonicInstant?
    /// The state in a word when it was looked at last, and since when.
    var settledWord: StreamWord?
    package internal(set) var stateSince: WallTime?
    package internal(set) var title: String?
    package internal(set) var bitrate: Int?
    package internal(set) var latency: Duration?
    package internal(set) var buffered: Duration?
    /// The playlist's age when it was last seen, when that was, and the playlist's target duration.
    var age: (value: Duration, seen: MonotonicInstant, target: Duration)?
    /// The short-term loudness in LUFS; nil if it is not measured.
    package internal(set) var loudness: Double?
    package internal(set) var checks: [String: Check] = [:]
    package internal(set) var log = Recent<LogEntry>(limit: 50)
    package internal(set) var requests = Recent<LoggedRequest>(limit: 40)
    package internal(set) var chart = StreamChart()
    /// The calendar of the chart; nil before the first look.
    var historyClock: HistoryClock?
    /// How long the stream was up today.
    package internal(set) var today = DayShare()
    var windows: [WindowHistory] = []
    var integrals = WindowSums()
    var sampled: (instant: MonotonicInstant, totals: Figures)?
    var lastSample: MonotonicInstant?
    /// The labels of the metrics, escaped.
    var labelText: [UInt8] = []
    /// The alerts that look at the stream.
    var alerts: [Int] = []
    /// Counts changes, for readers that want only what is new.
    package internal(set) var revision = 0
    /// When the latest event of a stream of another monitor arrived.
    var latestSample: MonotonicInstant?
    /// The latest session of another monitor that has ended.
    var endedSession: String?

    init(slot: Int, _ stream: WatchedStream, offset: Duration, start: MonotonicInstant) {
        (self.slot, self.stream, self.offset) = (slot, stream, offset)
        phase = .waiting(until: start)
    }

    var run: Run? {
        switch phase {
        case .running(let run), .stopping(let run, _): run
        case .waiting, .retired: nil
        }
    }

    /// Changes the session that runs, in place.
    mutating func withRun(_ change: (inout Run) -> Void) {
        switch phase {
        case .running(var run):
            phase = .retired
            change(&run)
            phase = .running(run)
        case .stopping(var run, let until):
            phase = .retired
            change(&run)
            phase = .stopping(run, until: until)
        case .waiting, .retired: break
        }
    }

    /// The figures of the session that runs, up to now; nil without a session.
    func liveFigures(at now: MonotonicInstant) -> Figures? { run.map { $0.figures(at: now) } }

    /// The time for which the latest state of a session counts only later.
    ///
    /// A transition has its exact instant and is handled afterwards: the arrival of data is noticed a little later, and
    /// the events of many sessions wait for each other. Until then, the session seems to be in its old state. Sums
    /// that may only grow therefore end this long ago.
    ///
    /// Samples of another monitor wait in its queue for some seconds, too.
    private var settling: Duration { stream.origin == nil ? .seconds(2) : .seconds(10) }

    /// The figures of the session that runs, else of the latest one.
    package func figures(at now: MonotonicInstant) -> Figures { liveFigures(at: now) ?? lastSession ?? Figures() }

    /// The sums since the start of the process, the session that runs included.
    package func totals(at now: MonotonicInstant) -> StreamTotals {
        var totals = finished
        totals.raise(to: sums(at: now))
        return totals
    }

    /// The sums of playing and of stalls, never less than a page has shown.
    private func sums(at now: MonotonicInstant) -> PlaybackSums {
        var sums = finished.sums
        if let live = settledFigures(at: now) {
            sums.playing += live.playing
            sums.rebuffering += live.rebuffering
            sums.rebuffers += live.rebuffers
        }
        // An event may be handled later than after the time of settling.
        return sums.raised(to: shown)
    }

    /// The figures of the session that runs, without the latest time, which may still change its state.
    func settledFigures(at now: MonotonicInstant) -> Figures? {
        run.map { $0.figures(at: now.advanced(by: .zero - settling)) }
    }

    /// Notes that a page shows the totals of `now`.
    mutating func noteShown(at now: MonotonicInstant) { shown = sums(at: now) }

    /// The age of the live playlist now; nil for a stream that is not live or not checked.
    package func playlistAge(at now: MonotonicInstant) -> Duration? {
        guard let age else { return nil }
        // Between two rounds the age grows; without rounds for long, nothing is known.
        let elapsed = age.seen.duration(to: now)
        return elapsed > .seconds(120) ? nil : age.value + elapsed
    }

    mutating func note(_ kind: String, _ text: String, at time: WallTime) {
        log.append(LogEntry(time: time, kind: kind, text: text))
        revision += 1
    }
}

extension StreamState.Run {
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

    func figures(at instant: MonotonicInstant) -> StreamState.Figures {
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
}
