internal import Instrument
internal import InstrumentQuality

/// The requests that events report: one event for each (`RequestFinish`), or the sums that the probe's events carry.
struct RequestTrack: Sendable {
    private(set) var requests: [Timeline.Request] = []
    private var known = 0
    private var knownFailures = 0
    private var hasSingleRequests = false

    /// Adds what an event says; false if there is no room.
    mutating func add(_ event: Event, at time: Int, most: Int) -> Bool {
        if event.action == .requestFinish {
            hasSingleRequests = true
            let length = event[milliseconds: .requestTime].map { max(0, $0) }
            let failures = event[.requestFailed] == true ? 1 : 0
            let begin = time.saturatingSubtract(length ?? 0)
            return append(Timeline.Request(time: begin, length: length, count: 1, failures: failures), most)
        }
        guard !hasSingleRequests, let count = event[.countRequests], count > known else { return true }
        let failed = event[.countFailedRequests] ?? knownFailures
        let request = Timeline.Request(
            time: time,
            length: nil,
            count: count.saturatingSubtract(known),
            failures: max(0, failed.saturatingSubtract(knownFailures))
        )
        (known, knownFailures) = (count, max(failed, knownFailures))
        return append(request, most)
    }

    private mutating func append(_ request: Timeline.Request, _ most: Int) -> Bool {
        guard requests.count < most else { return false }
        requests.append(request)
        return true
    }
}
