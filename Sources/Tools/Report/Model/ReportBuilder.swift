package import Instrument
internal import InstrumentQuality
internal import InstrumentText

/// Divides events into sessions and collects what a report shows of them.
///
/// ```swift
/// var builder = ReportBuilder(inputs: ["samples.ndjson"])
/// for event in events { builder.observe(event) }
/// let sessions = builder.finish()
/// ```
///
/// Memory grows with the number of sessions (a few numbers each) and of the listed sessions, not with the number of
/// events.
package struct ReportBuilder: Sendable {
    /// The data of an open session in addition to its sums.
    fileprivate struct Draft: Sendable {
        var title = ""
        var source = ""
        var origin = SessionOrigin()
        var failure: FailureCause?
        var begin: MonotonicInstant
        var wallBegin: WallTime
        var track = RequestTrack()
        var ads = AdTrack()
        var latencies: [Timeline.Point] = []
        var bitrates: [Timeline.Point] = []
        var buffers: [Timeline.Point] = []
        var isSimplified = false
    }

    /// The largest number of entries of each kind in a timeline while its session is open.
    fileprivate static let mostEntries = 2000

    private var reader = SessionReader(recording: .trace(limit: mostEntries))
    private var drafts: [SessionKey: Draft] = [:]
    private var set: SessionSet
    private let requests: RequestIndex?
    private let query: SessionQuery

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - inputs: the names of the inputs, for the page's head.
    ///   - requests: the requests that a player logged, for the timelines; nil shows what the events say.
    ///   - query: selects the sessions.
    ///   - dimensions: what the sessions are grouped by; empty for a report without groups.
    package init(
        inputs: [String],
        requests: RequestIndex? = nil,
        selecting query: SessionQuery = SessionQuery(),
        groupedBy dimensions: [SessionDimension] = []
    ) {
        set = SessionSet(inputs: inputs, groupedBy: dimensions)
        self.query = query
        var sorted = requests
        sorted?.sort()
        self.requests = sorted
    }

    /// Adds an event.
    package mutating func observe(_ event: Event) {
        let step = reader.observe(event)
        if let key = step.session { note(event, of: key) }
        for session in step.closed { close(session) }
    }

    /// Closes all open sessions and returns the set.
    package mutating func finish() -> SessionSet {
        for session in reader.finish() { close(session) }
        set.finish()
        return set
    }

    private mutating func note(_ event: Event, of key: SessionKey) {
        var draft =
            drafts.removeValue(forKey: key) ?? Draft(begin: event.time.instant, wallBegin: event.time.wallTime)
        let time = draft.begin.milliseconds(to: event.time.instant)
        if event[.isAdsTracker] != true {
            draft.origin.note(event)
            if let title = event[.title], !title.isEmpty { draft.title = String(title.prefix(1000)) }
            if let source = event[.source], !source.isEmpty { draft.source = String(source.prefix(1000)) }
            draft.add(event, at: time, most: Self.mostEntries)
            if event.action == .error, event[.isFatal] == true, draft.failure == nil {
                draft.failure = FailureCause(event, hasStarted: event[.inPlaybackBlock] == true)
            }
        }
        draft.ads.add(event)
        drafts[key] = draft
    }

    private mutating func close(_ sums: QualitySession) {
        var draft =
            drafts.removeValue(forKey: sums.key) ?? Draft(begin: sums.begin.instant, wallBegin: sums.begin.wallTime)
        let hasFailed = sums.failures.isStartFailure || sums.failures.isPlaybackFailure
        if hasFailed, draft.failure == nil {
            draft.failure = FailureCause(hasStarted: sums.failures.isPlaybackFailure, description: "no description")
        }
        draft.failure?.hasStarted = sums.failures.isPlaybackFailure
        let session = ReportSession(
            key: sums.key,
            title: draft.title,
            source: draft.source,
            origin: draft.origin,
            begin: draft.wallBegin.milliseconds,
            length: sums.length,
            outcome: sums.state,
            failure: hasFailed ? draft.failure : nil,
            isExitBeforeStart: sums.isExitBeforeStart,
            isExitDuringRebuffer: sums.interruptions.isExitDuringRebuffer,
            values: Measure.all.map { $0.value(of: sums) },
            stallCount: sums.interruptions.rebufferCount,
            lostEvents: sums.lostEventSummary,
            timeline: timeline(of: sums, draft)
        )
        if query.selects(session) {
            set.add(session, sums, ads: draft.ads.summary)
        } else {
            set.leaveOut(session)
        }
    }

    private func timeline(of sums: QualitySession, _ draft: Draft) -> Timeline {
        var timeline = Timeline()
        timeline.phases = sums.intervals.map { interval in
            Timeline.Phase(
                state: interval.state,
                begin: draft.begin.milliseconds(to: interval.begin),
                length: interval.milliseconds
            )
        }
        timeline.bitrates = draft.bitrates
        timeline.buffers = draft.buffers
        timeline.latencies = draft.latencies
        let end = draft.wallBegin.milliseconds.saturatingAdd(Int64(sums.length))
        let logged = requests?.requests(
            tracker: sums.key.sender.trackerNumber,
            source: draft.source,
            in: draft.wallBegin.milliseconds...max(draft.wallBegin.milliseconds, end)
        )
        timeline.requests = logged ?? draft.track.requests
        timeline.isSimplified = sums.trace.isTruncated || draft.isSimplified
        return timeline
    }
}

extension ReportBuilder.Draft {
    fileprivate mutating func add(_ event: Event, at time: Int, most: Int) {
        Self.append(event[milliseconds: .bufferLevel], at: time, to: &buffers, most, &isSimplified)
        Self.append(event[.bitrate], at: time, to: &bitrates, most, &isSimplified)
        Self.append(
            event[milliseconds: .liveLatency],
            at: time,
            to: &latencies,
            most,
            &isSimplified
        )
        if !track.add(event, at: time, most: most) { isSimplified = true }
    }

    /// Adds a value that differs from the last one.
    private static func append(
        _ value: Int?,
        at time: Int,
        to points: inout [Timeline.Point],
        _ most: Int,
        _ isSimplified: inout Bool
    ) {
        guard let value, value != points.last?.value else { return }
        if points.count >= most { return isSimplified = true }
        points.append(Timeline.Point(time: time, value: value))
    }
}

extension FailureCause {
    /// The cause that a fatal error names.
    fileprivate init(_ event: Event, hasStarted: Bool) {
        self.hasStarted = hasStarted
        code = event["errorCode" as AttributeKey<String>].map { $0.excerpt(toBytes: 200) }
        status = event["errorStatus" as AttributeKey<Int>]
        description = (event[.errorDescription] ?? "no description").excerpt(toBytes: 500)
    }
}

extension String {
    /// The tracker's number in `<instrument UUID>-<tracker number>`; nil for another form.
    fileprivate var trackerNumber: Int? { lastIndex(of: "-").flatMap { Int(self[index(after: $0)...]) } }
}
