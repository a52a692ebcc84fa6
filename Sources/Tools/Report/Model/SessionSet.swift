internal import Instrument
package import InstrumentQuality

/// The sessions of one recording, as a report needs them: counts, values, causes of failures, and the sessions most
/// worth a look.
package struct SessionSet: Sendable {
    /// The largest number of sessions that a report lists one by one.
    package static let mostListed = 1000
    /// The most different causes that are counted separately.
    private static let mostCauses = 200

    /// The names of the inputs: text from outside.
    package var inputs: [String]
    /// The sessions that are listed; if there are more than ``mostListed``, those with failures and the longest stalls.
    package private(set) var listed: [ReportSession] = []
    /// The recorded sessions.
    package private(set) var recorded = SessionCounts()
    /// The sessions that the recorded ones stand for: each counts with its sampling weight.
    package private(set) var estimated = SessionCounts()
    /// The value of each session that has one, for each of ``Measure/all``.
    package private(set) var values = [[WeightedValue]](repeating: [], count: Measure.all.count)
    /// The exact sums and distributions of all metrics.
    package private(set) var aggregate = QualityAggregate(.instrument)
    /// The plays at the same time.
    package private(set) var plays = ConcurrentPlays()
    /// The sessions by the properties that the report groups them by.
    package private(set) var groups: SessionGroups
    /// The sessions that were not selected.
    package private(set) var leftOutCount = 0
    /// The streams and the names of labels of sessions that were not selected, for a message about a selection of
    /// nothing.
    package private(set) var leftOutNames = LeftOutNames()
    /// Failed sessions by cause, with their weights. The causes are general: they have no numbers and addresses.
    package private(set) var causes: [FailureCause: Int] = [:]
    /// The ads of all sessions.
    package private(set) var ads = AdSummary()
    /// Milliseconds since 1970 of the first and the last event.
    package private(set) var span: ClosedRange<Int64>?
    /// Samples and parts that could not be read.
    package var sampleCount = 0
    package var problemCount = 0
    package var duplicateCount = 0
    /// The order of the samples in the recording.
    package var reading = Reading()
    /// The sessions that miss events.
    package private(set) var healedCount = 0

    /// The samples that were not in their order.
    package struct Reading: Hashable, Sendable {
        /// Samples that were put in order.
        package var reordered = 0
        /// Sequence numbers without a sample.
        package var missing = 0
        /// Samples that were too far from their place.
        package var late = 0
    }

    /// The number of recorded sessions.
    package var count: Int { recorded.sessions }

    /// Creates an empty set.
    package init(inputs: [String], groupedBy dimensions: [SessionDimension] = []) {
        self.inputs = inputs
        groups = SessionGroups(by: dimensions)
    }

    /// Counts a session that is not selected.
    mutating func leaveOut(_ session: ReportSession) {
        leftOutCount += 1
        leftOutNames.note(session.origin)
    }

    /// Adds a session that has ended, with the sums that it is shown from, and its ads.
    mutating func add(_ session: ReportSession, _ sums: QualitySession, ads: AdSummary) {
        self.ads.add(ads, weight: sums.weight)
        aggregate.add(sums)
        plays.add(sums)
        if !sums.lostEvents.isEmpty { healedCount += 1 }
        recorded.add(session, sums, weight: 1)
        estimated.add(session, sums, weight: sums.weight)
        for (position, value) in session.values.enumerated() {
            if let value { values[position].append(WeightedValue(value: value, weight: sums.weight)) }
        }
        groups.add(session, sums)
        if let cause = session.failure?.general { countFailure(cause, weight: sums.weight) }
        let end = session.begin.saturatingAdd(Int64(session.length))
        span = min(span?.lowerBound ?? session.begin, session.begin)...max(span?.upperBound ?? end, end)
        listed.append(session)
        if listed.count >= 2 * Self.mostListed { cutList() }
    }

    /// Sorts the list, failed sessions first, then by time, and cuts it to its limit.
    mutating func finish() {
        if listed.count > Self.mostListed { cutList() }
        let rank = { (session: ReportSession) -> Int in session.failure == nil ? 1 : 0 }
        listed.sort { (rank($0), $0.begin, $0.key) < (rank($1), $1.begin, $1.key) }
    }

    private mutating func cutList() {
        listed.sort { $1.urgency < $0.urgency }
        listed.removeLast(max(0, listed.count - Self.mostListed))
    }

    private mutating func countFailure(_ cause: FailureCause, weight: Int) {
        let isRoom = causes[cause] != nil || causes.count < Self.mostCauses
        let other = FailureCause(hasStarted: cause.hasStarted, description: "other causes")
        causes[isRoom ? cause : other, default: 0] += weight
    }

    /// The causes, the most frequent first.
    var sortedCauses: [(cause: FailureCause, count: Int)] {
        causes.map { ($0.key, $0.value) }.sorted {
            ($1.1, $0.0.description, $0.0.code ?? "") < ($0.1, $1.0.description, $1.0.code ?? "")
        }
    }

    /// The value below which a share of the sessions lies, each with its weight (nearest rank); nil without values.
    func quantile(_ share: Double, of measure: Measure) -> Double? { values[measure.position].quantile(share) }
}

/// The streams and the names of labels of sessions, as far as a message names them.
package struct LeftOutNames: Hashable, Sendable {
    private static let most = 10

    /// The streams.
    package private(set) var streams: Set<String> = []
    /// The names of labels.
    package private(set) var labels: Set<String> = []

    mutating func note(_ origin: SessionOrigin) {
        if let stream = origin.stream, streams.count < Self.most { streams.insert(stream) }
        for name in origin.labels.keys where labels.count < Self.most { labels.insert(name) }
    }
}

/// Sessions of several kinds.
package struct SessionCounts: Hashable, Sendable {
    /// All sessions.
    package private(set) var sessions = 0
    /// Sessions that showed a first frame.
    package private(set) var started = 0
    /// Sessions that failed before the first frame.
    package private(set) var startFailures = 0
    /// Sessions that were left before the first frame without an error.
    package private(set) var exitsBeforeStart = 0
    /// Sessions that were left during a stall.
    package private(set) var exitsDuringRebuffer = 0
    /// Sessions that failed after the first frame.
    package private(set) var playbackFailures = 0
    /// Sessions with at least one stall.
    package private(set) var stalled = 0
    /// All stalls.
    package private(set) var stalls = 0

    mutating func add(_ session: ReportSession, _ sums: QualitySession, weight: Int) {
        sessions += weight
        if sums.startup.hasStarted { started += weight }
        if sums.failures.isStartFailure { startFailures += weight }
        if sums.failures.isPlaybackFailure { playbackFailures += weight }
        if session.isExitBeforeStart { exitsBeforeStart += weight }
        if session.isExitDuringRebuffer { exitsDuringRebuffer += weight }
        if session.stallCount > 0 { stalled += weight }
        stalls += session.stallCount.saturatingMultiply(weight)
    }
}
