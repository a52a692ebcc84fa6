package import Instrument
internal import InstrumentHTTP
internal import InstrumentQuality
package import InstrumentWatch

/// Everything that the monitor knows about one stream; bounded, however long the stream is watched.
package struct StreamState: Sendable {
    enum Phase: Sendable {
        /// Waits for its next start.
        case waiting(until: MonotonicInstant)
        case running(StreamRun)
        /// A session that was asked to stop.
        case stopping(StreamRun, until: MonotonicInstant)
        /// The monitor stops, or the stream was removed.
        case retired
    }

    /// The latest error.
    package struct Failure: Hashable, Sendable {
        package var code: String
        package var message: String
        package var time: Timestamp
    }

    /// What became different when a stream was looked at.
    struct Settlement: Sendable {
        var wasDown: Bool
        var isDown: Bool
        /// Whether what survives a restart has changed.
        var hasLastingChange = false
        /// The requests of a cause that has begun.
        var evidence: CauseEvidence?
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
    var counters: StreamCounters
    package internal(set) var lastSession: SessionFigures?
    package internal(set) var lastEnding: SessionEnding?
    package internal(set) var lastFailure: Failure?
    var diagnosis = StreamDiagnosis()
    /// When a host answered a request last.
    var latestAnswer: MonotonicInstant?
    /// What became different lately.
    var changes = ChangeTracker()
    /// The presentation that begins later; nil for others, and from its beginning on.
    var announcement: Announcement?
    /// The state in a word when it was looked at last, and since when.
    var settledWord: StreamWord?
    package internal(set) var stateSince: WallTime?
    package internal(set) var title: String?
    package internal(set) var bitrate: Int?
    package internal(set) var latency: Duration?
    package internal(set) var buffered: Duration?
    /// The playlist's age; nil for a stream that is not live or not checked.
    var age: PlaylistAge?
    /// The short-term loudness in LUFS; nil if it is not measured.
    package internal(set) var loudness: Double?
    package internal(set) var checks = StreamFindings()
    package internal(set) var log = Recent<LogEntry>(limit: 50)
    package internal(set) var requests = Recent<LoggedRequest>(limit: 40)
    package internal(set) var history = HistoryBook()
    var averages = StreamAverages()
    /// The labels of the metrics, escaped.
    private(set) var labelText: [UInt8] = []
    /// The alerts that look at the stream.
    private(set) var alerts: [Int] = []
    /// Counts changes, for readers that want only what is new.
    package internal(set) var revision = 0
    /// When the latest event of a stream of another monitor arrived.
    var latestSample: MonotonicInstant?
    /// The latest session of another monitor that has ended.
    var endedSession: String?

    init(
        slot: Int,
        _ stream: WatchedStream,
        offset: Duration = .zero,
        start: MonotonicInstant,
        continuing totals: StreamTotals?
    ) {
        (self.slot, self.stream, self.offset) = (slot, stream, offset)
        (phase, counters) = (.waiting(until: start), StreamCounters(continuing: totals))
    }

    /// Sets what follows from the configuration.
    /// - Parameter windows: the distinct windows of the alerts.
    mutating func configure(_ alerts: [AlertConfiguration], windows: [Duration]) {
        labelText = MetricsWriter.labels(
            [("stream", stream.origin?.stream ?? stream.name)] + stream.labels.sorted { $0 < $1 }
        )
        self.alerts = alerts.indices.filter { alerts[$0].concerns(stream) }
        averages.configure(windows)
    }

    // MARK: The session

    var run: StreamRun? {
        switch phase {
        case .running(let run), .stopping(let run, _): run
        case .waiting, .retired: nil
        }
    }

    /// Changes the session that runs, in place.
    mutating func withRun(_ change: (inout StreamRun) -> Void) {
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

    /// Whether the picture moves.
    var isPlaying: Bool { run?.isPlaying ?? false }

    /// The time for which the latest state of a session counts only later.
    ///
    /// A transition has its exact instant and is handled afterwards: the arrival of data is noticed a little later, and
    /// the events of many sessions wait for each other. Until then, the session seems to be in its old state. Sums
    /// that may only grow therefore end this long ago.
    ///
    /// Samples of another monitor wait in its queue for some seconds, too.
    private var settling: Duration { stream.origin == nil ? .seconds(2) : .seconds(10) }

    /// The figures of the session that runs, else of the latest one.
    package func figures(at now: MonotonicInstant) -> SessionFigures {
        run?.figures(at: now) ?? lastSession ?? SessionFigures()
    }

    /// The figures of the session that runs, without the latest time, which may still change its state.
    func settledFigures(at now: MonotonicInstant) -> SessionFigures? {
        run?.figures(at: now.advanced(by: .zero - settling))
    }

    // MARK: Sums

    /// The sums since the start of the process, the session that runs included.
    package func totals(at now: MonotonicInstant) -> StreamTotals { counters.totals(with: settledFigures(at: now)) }

    /// Notes that a page shows the totals of `now`.
    mutating func noteShown(at now: MonotonicInstant) { counters.noteShown(with: settledFigures(at: now)) }

    /// Adds what has passed since the last sample to the sums and to the history.
    /// - Parameters:
    ///   - recovery: the time of playing after which a failure is the first one again.
    ///   - time: the time of now for histories.
    mutating func sample(recovery: Duration, historyTime time: WallTime, at now: MonotonicInstant) {
        let sample = StreamSample(
            session: settledFigures(at: now),
            isPlaying: run?.model?.state == .playing,
            isUp: isUp,
            isImpaired: [.impaired, .stalled].contains(word),
            bitrate: bitrate,
            latency: latency,
            buffered: buffered,
            playlistAge: playlistAge(at: now),
            loudness: loudness
        )
        let step = averages.add(sample, at: now)
        history.add(step, sample, at: time)
        // Back-off is for streams that do not play: after a while of playing, a failure is the first one again.
        if step.played != nil, step.sessionPlaying >= recovery.milliseconds { (failures, losses) = (0, 0) }
    }

    // MARK: The state

    /// Why viewers have trouble; nil while all is well, and where the reason is unknown.
    package var cause: StreamCause? { diagnosis.cause }

    /// The age of the live playlist now; nil for a stream that is not live or not checked.
    package func playlistAge(at now: MonotonicInstant) -> Duration? { age?.value(at: now) }

    /// The state for people.
    package var word: StreamWord {
        let run: StreamRun
        switch phase {
        case .retired: return .stopped
        case .waiting:
            if isUp == false { return .down }
            return isUp == nil && stream.origin != nil && announcement == nil ? .unknown : .waiting
        case .running(let current), .stopping(let current, _): run = current
        }
        if run.isPlaying { return cause == nil ? .playing : .impaired }
        if isUp == false { return .down }
        if announcement != nil { return .waiting }
        switch run.model?.state {
        case .rebuffering?, .pausedBuffering?, .seeking?: return run.hasShownPicture ? .stalled : .starting
        case .paused?, .ended?, .stopped?: return .waiting
        case .failed?: return .down
        case nil, .idle?, .joining?, .playing?, .ad?: return .starting
        }
    }

    /// Brings the cause and the state word up to date.
    mutating func settle(at now: Timestamp) -> Settlement {
        let wasDown = settledWord == .down
        var settlement = Settlement(wasDown: wasDown, isDown: wasDown)
        // A monitor that stops keeps what it knew, for the next process.
        if case .retired = phase { return settlement }
        let before = wasDown ? cause?.identity : nil
        let (isNew, change) = diagnosis.settle(look(at: now), at: now)
        if isNew { revision += 1 }
        switch change {
        case .begins(let new):
            settlement.evidence = CauseEvidence(new, requests)
            if new.isNoted { note("cause", "\(new.title): \(new.text)", at: now.wallTime) }
        case .ends(let old): if old.isNoted { note("cause", "\(old.title): over", at: now.wallTime) }
        case nil: break
        }
        let word = word
        if word != settledWord {
            (settledWord, stateSince) = (word, now.wallTime)
            revision += 1
        }
        settlement.isDown = word == .down
        settlement.hasLastingChange = wasDown != settlement.isDown || wasDown && before != cause?.identity
        return settlement
    }

    private func look(at now: Timestamp) -> StreamDiagnosis.Look {
        let run = run
        var look = StreamDiagnosis.Look(
            host: stream.url.host,
            isPlaying: run?.isPlaying ?? false,
            isUp: isUp,
            hasSession: run != nil,
            stall: run?.waitingSince,
            findings: checks,
            age: age,
            error: lastFailure,
            announcement: announcement
        )
        if let run, run.waitingSince != nil { look.played = run.figures(at: now.instant).playing }
        return look
    }

    mutating func note(_ kind: String, _ text: String, at time: WallTime) {
        log.append(LogEntry(time: time, kind: kind, text: text))
        revision += 1
    }
}

extension StreamCause {
    /// Whether the log of a stream has the cause. Stalls and findings have separate entries.
    fileprivate var isNoted: Bool { kind != .check && kind != .stalled }
}
