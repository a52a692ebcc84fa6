internal import Instrument

/// The metrics of a session that an event made known.
///
/// All methods are mutating, also those that change nothing: for others, the compiler copies the model at each call.
extension SessionModel {
    /// Appends the metrics.
    mutating func report(_ event: EventMoment, _ visit: SessionReader.Visit, into metrics: inout [Metric]) {
        if visit == .release { return }
        if reported.streamId != session.streamId || reported.playbackId != session.playbackId || !reported.hasIdentity {
            (reported.streamId, reported.playbackId) = (session.streamId, session.playbackId)
            (reported.identity, reported.hasIdentity) = (session.identity, true)
        }
        if !event.isOfAds { reported.tracker = event.tracker }
        let tracker = reported.tracker ?? event.tracker
        let isEnd = visit.isEnd
        if isEnd { noteLostEvents() }
        var report = SessionReport(tracker, event.time, identity: reported.identity, metrics)
        metrics = []
        if visit.isOfEvent { reportMoments(of: event, to: &report) }
        reportIncrements(to: &report, withStalls: isEnd || event.action == .ping || !phase.isStalled)
        if visit == .afterFailure { return metrics = report.metrics }
        if isEnd || hasPictureAgain(after: event) { reportSeekTime(to: &report) }
        if isEnd || event.action == .ping {
            reportTimes(to: &report)
            reportReadings(to: &report)
        }
        // The number rises with a start alone: starts tell the peak, pings what holds in between.
        if visit == .event, event.action == .start || event.action == .ping {
            report.add(.concurrentPlays, observation.concurrentPlays)
        }
        if isEnd { reportOutcome(to: &report) }
        metrics = report.metrics
    }

    /// Appends what is left to report of a session whose tracker was removed, at the time of the session's latest
    /// event.
    mutating func reportLast(of tracker: TrackerID, into metrics: inout [Metric]) {
        if !reported.hasIdentity { (reported.identity, reported.hasIdentity) = (session.identity, true) }
        noteLostEvents()
        var report = SessionReport(tracker, session.end, identity: reported.identity, metrics)
        metrics = []
        reportIncrements(to: &report, withStalls: true)
        reportSeekTime(to: &report)
        reportTimes(to: &report)
        reportReadings(to: &report)
        reportOutcome(to: &report)
        metrics = report.metrics
    }

    /// The last metrics of a session say which events it misses.
    private mutating func noteLostEvents() {
        if let lost = session.lostEventSummary { reported.identity[QualityField.lostEvents] = lost }
    }

    /// Times of the start and of requests: each belongs to one event.
    private mutating func reportMoments(of event: EventMoment, to report: inout SessionReport) {
        let isStart = event.action == .start || session.lostEvents[.start] != nil
        if isStart, reported.plays == 0, session.startup.hasStarted {
            report.add(.startTime, session.startTime)
            report.add(.prerollTime, session.prerollTime)
        }
        report.add(.throughput, observation.throughput)
        report.add(.timeToFirstByte, observation.timeToFirstByte)
    }

    /// Sums that grow with single events; those of stalls only if `withStalls`, so that a short stall is one value.
    private mutating func reportIncrements(to report: inout SessionReport, withStalls: Bool) {
        report.add(.numRequests, session.core.requests, beyond: &reported.requests)
        report.add(.numLoads, session.core.loads, beyond: &reported.loads)
        report.add(.numPlays, session.core.plays, beyond: &reported.plays)
        if withStalls {
            report.add(.rebufferTime, session.times[.rebuffering], beyond: &reported.rebufferTime)
            report.add(.numRebuffers, session.interruptions.rebufferCount, beyond: &reported.rebuffers)
        }
        report.add(.numSeeks, session.interruptions.seekCount, beyond: &reported.seeks)
        report.add(.bitrateSwitchesUp, session.picture.switchesUp, beyond: &reported.switchesUp)
        report.add(.bitrateSwitchesDown, session.picture.switchesDown, beyond: &reported.switchesDown)
        report.add(.requestErrors, session.network.errors, beyond: &reported.requestErrors)
        report.add(.numEnds, session.core.ends, beyond: &reported.ends)
        report.add(.playTime, session.times[.playing], beyond: &reported.playTime)
    }

    /// Whether a seek is over with an event.
    private mutating func hasPictureAgain(after event: EventMoment) -> Bool {
        (event.action == .seekFinish || event.action == .bufferFinish) && session.state != .seeking
    }

    private mutating func reportSeekTime(to report: inout SessionReport) {
        report.add(.seekTime, session.times[.seeking], beyond: &reported.seekTime)
    }

    /// Sums that grow with time.
    private mutating func reportTimes(to report: inout SessionReport) {
        let watched = session.times.sum(.playing, .rebuffering, .seeking)
        report.add(.watchTime, watched, beyond: &reported.watchTime)
        // One rendition, of most sessions, is in order.
        let renditions = session.picture.renditionTimes.all
        let sorted = renditions.count > 1 ? renditions.sorted { $0.name < $1.name } : renditions
        for (rendition, time) in sorted {
            report.add(time, of: rendition, beyond: &reported.renditions[rendition, default: ReportedRendition()])
        }
        report.add(.playbackRateTime, session.picture.fastTime, beyond: &reported.fastTime) { $0[.rate] = "fast" }
        report.add(.playbackRateTime, session.picture.slowTime, beyond: &reported.slowTime) { $0[.rate] = "slow" }
    }

    /// Readings, of which the latest counts.
    private mutating func reportReadings(to report: inout SessionReport) {
        report.add(.rebufferRatio, session.rebufferRatio)
        report.add(.rebufferFrequency, session.rebufferFrequency)
        report.add(.timeBetweenRebuffers, session.timeBetweenRebuffers)
        report.add(.averageBitrate, session.picture.averageBitrate)
        report.add(.liveLatency, session.picture.lastLatency)
        report.add(.latencyDrift, session.picture.latencyDrift)
    }

    private mutating func reportOutcome(to report: inout SessionReport) {
        if session.failures.isStartFailure { report.add(.startFailure, 1) }
        if session.isExitBeforeStart { report.add(.exitBeforeStart, 1) }
        if session.failures.isPlaybackFailure { report.add(.playbackFailure, 1) }
        if session.interruptions.isExitDuringRebuffer { report.add(.exitDuringRebuffer, 1) }
    }
}

/// What the metrics of an event take from it: numbers alone, so that a copy costs nothing.
struct EventMoment {
    let action: Action
    let tracker: TrackerID
    let time: Timestamp
    /// Whether a tracker of ads reports the event.
    let isOfAds: Bool

    init(_ event: borrowing Event) {
        (action, tracker, time) = (event.action, event.tracker, event.time)
        isOfAds = event[.isAdsTracker] == true
    }
}

/// Builds the metrics of one session from one event.
struct SessionReport {
    private(set) var metrics: [Metric]
    private let tracker: TrackerID
    private let time: Timestamp
    private let identity: Attributes

    init(_ tracker: TrackerID, _ time: Timestamp, identity: Attributes, _ metrics: consuming [Metric]) {
        self.metrics = metrics
        (self.tracker, self.time) = (tracker, time)
        self.identity = identity
    }

    mutating func add(_ name: MetricName, _ value: Int?) {
        if let value { append(name, .int(value), identity) }
    }

    mutating func add(_ name: MetricName, _ value: Ratio?) {
        if let value { append(name, .double(value.double), identity) }
    }

    /// Adds what a sum has grown by since it was reported.
    mutating func add(
        _ name: MetricName,
        _ sum: Int,
        beyond reported: inout Int,
        _ label: (inout Attributes) -> Void = { _ in }
    ) {
        let (growth, overflow) = sum.subtractingReportingOverflow(reported)
        guard growth > 0, !overflow else { return }
        reported = sum
        var attributes = identity
        label(&attributes)
        append(name, .int(growth), attributes)
    }

    /// Adds the time by which a rendition has grown since it was reported.
    mutating func add(_ time: Int, of rendition: String, beyond reported: inout ReportedRendition) {
        let (growth, overflow) = time.subtractingReportingOverflow(reported.milliseconds)
        guard growth > 0, !overflow else { return }
        reported.milliseconds = time
        var attributes = reported.attributes ?? identity
        if reported.attributes == nil {
            attributes[.rendition] = rendition
            reported.attributes = attributes
        }
        append(.timeInQuality, .int(growth), attributes)
    }

    private mutating func append(_ name: MetricName, _ value: Metric.Value, _ attributes: consuming Attributes) {
        metrics.append(Metric(name, value, tracker: tracker, time: time, attributes: attributes))
    }
}
