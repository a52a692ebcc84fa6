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
    /// All sessions.
    package private(set) var count = 0
    /// Sessions that showed a first frame.
    package private(set) var startedCount = 0
    /// Sessions that failed before the first frame.
    package private(set) var startFailures = 0
    /// Sessions that were left before the first frame without an error.
    package private(set) var exitsBeforeStart = 0
    /// Sessions that failed after the first frame.
    package private(set) var playbackFailures = 0
    /// Sessions with at least one stall.
    package private(set) var stalledCount = 0
    /// All stalls.
    package private(set) var stallCount = 0
    /// The value of each session that has one, for each of ``Measure/all``.
    package private(set) var values = [[Double]](repeating: [], count: Measure.all.count)
    /// The exact sums and distributions of all metrics.
    package private(set) var aggregate = QualityAggregate(.instrument)
    /// Failed sessions by cause.
    package private(set) var causes: [FailureCause: Int] = [:]
    /// The ads of all sessions.
    package private(set) var ads = AdSummary()
    /// Milliseconds since 1970 of the first and the last event.
    package private(set) var span: ClosedRange<Int64>?
    /// Samples and parts that could not be read.
    package var sampleCount = 0
    package var problemCount = 0
    package var duplicateCount = 0

    /// Creates an empty set.
    package init(inputs: [String]) { self.inputs = inputs }

    /// Adds a session that has ended, with the sums that it is shown from, and its ads.
    mutating func add(_ session: ReportSession, _ sums: QualitySession, ads: AdSummary) {
        count += 1
        self.ads.add(ads)
        aggregate.add(sums)
        if sums.startup.hasStarted { startedCount += 1 }
        if sums.failures.isStartFailure { startFailures += 1 }
        if sums.failures.isPlaybackFailure { playbackFailures += 1 }
        if session.isExitBeforeStart { exitsBeforeStart += 1 }
        if session.stallCount > 0 { stalledCount += 1 }
        stallCount += session.stallCount
        for (position, value) in session.values.enumerated() {
            if let value { values[position].append(value) }
        }
        if let cause = session.failure { countFailure(cause) }
        let end = session.begin.saturatingAdd(Int64(session.length))
        span = min(span?.lowerBound ?? session.begin, session.begin)...max(span?.upperBound ?? end, end)
        listed.append(session)
        if listed.count >= 2 * Self.mostListed { cutList() }
    }

    /// Sorts the list by time and cuts it to its limit.
    mutating func finish() {
        if listed.count > Self.mostListed { cutList() }
        listed.sort { ($0.begin, $0.key) < ($1.begin, $1.key) }
    }

    private mutating func cutList() {
        listed.sort { $1.urgency < $0.urgency }
        listed.removeLast(max(0, listed.count - Self.mostListed))
    }

    private mutating func countFailure(_ cause: FailureCause) {
        let isRoom = causes[cause] != nil || causes.count < Self.mostCauses
        let other = FailureCause(hasStarted: cause.hasStarted, description: "other causes")
        causes[isRoom ? cause : other, default: 0] += 1
    }

    /// The causes, the most frequent first.
    var sortedCauses: [(cause: FailureCause, count: Int)] {
        causes.map { ($0.key, $0.value) }.sorted {
            ($1.1, $0.0.description, $0.0.code ?? "") < ($0.1, $1.0.description, $1.0.code ?? "")
        }
    }

    /// The value below which a share of a measure's values lies (nearest rank); nil without values.
    func quantile(_ share: Double, of measure: Measure) -> Double? {
        Self.quantile(share, of: values[measure.position])
    }

    /// The value below which a share of values lies (nearest rank); nil without values.
    static func quantile(_ share: Double, of values: [Double]) -> Double? {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return nil }
        let rank = Int((Double(sorted.count) * share).rounded(.up))
        return sorted[min(max(1, rank), sorted.count) - 1]
    }
}
