internal import Instrument

/// A histogram with fixed upper bounds, as Prometheus wants it.
package struct BucketHistogram: Hashable, Sendable {
    package static let startupBounds = [0.25, 0.5, 1, 2, 3, 5, 8, 15, 30]
    package static let requestBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// The upper bounds, in seconds.
    package let bounds: [Double]
    /// The numbers of values up to each bound and above the one before; the last is for larger values.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0
    package private(set) var count = 0

    init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    mutating func record(_ value: Double) {
        guard value.isFinite, value >= 0 else { return }
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
        count += 1
    }

    /// Adds the values that `later` has and `earlier`, a copy of it from before, has not.
    mutating func add(_ later: BucketHistogram, since earlier: BucketHistogram) {
        guard bounds == later.bounds, bounds == earlier.bounds else { return }
        for index in counts.indices { counts[index] += later.counts[index] - earlier.counts[index] }
        sum += max(0, later.sum - earlier.sum)
        count += later.count - earlier.count
    }
}

/// The kind and the status of requests, as labels.
package struct RequestLabels: Hashable, Sendable {
    package var kind: String
    package var status: String
}

/// The sums of a stream since the start of the process.
package struct StreamTotals: Hashable, Sendable {
    /// The number of codes and of statuses that have a separate count; further ones count as `other`.
    static let mostLabels = 24

    /// Sessions that began.
    package var sessions = 0
    /// Sessions that failed, or that showed no picture.
    package var failedSessions = 0
    /// Milliseconds of playing.
    package var playing = 0
    /// Milliseconds of stalls.
    package var rebuffering = 0
    /// Stalls.
    package var rebuffers = 0
    package var startup = BucketHistogram(BucketHistogram.startupBounds)
    package var requestTime = BucketHistogram(BucketHistogram.requestBounds)
    package var failedRequests = 0
    package private(set) var errors: [String: Int] = [:]
    package private(set) var requests: [RequestLabels: Int] = [:]

    package var errorCount: Int { errors.values.reduce(0, +) }
    package var requestCount: Int { requestTime.count }

    mutating func add(error code: String, count: Int = 1) {
        let isKnown = errors[code] != nil || errors.count < Self.mostLabels
        errors[isKnown ? code : "other", default: 0] += count
    }

    mutating func add(_ request: RequestObservation) {
        requestTime.record(request.total.seconds)
        if request.isFailure { failedRequests += 1 }
        add(RequestLabels(kind: request.kind, status: request.status.map(String.init) ?? "none"), count: 1)
    }

    private mutating func add(_ labels: RequestLabels, count: Int) {
        let isKnown = requests[labels] != nil || requests.count < Self.mostLabels
        requests[isKnown ? labels : .init(kind: "other", status: "other"), default: 0] += count
    }

    /// Adds what `later` has and `earlier`, a copy of it from before, has not.
    mutating func add(_ later: StreamTotals, since earlier: StreamTotals) {
        sessions += later.sessions - earlier.sessions
        failedSessions += later.failedSessions - earlier.failedSessions
        playing += max(0, later.playing - earlier.playing)
        rebuffering += max(0, later.rebuffering - earlier.rebuffering)
        rebuffers += max(0, later.rebuffers - earlier.rebuffers)
        startup.add(later.startup, since: earlier.startup)
        requestTime.add(later.requestTime, since: earlier.requestTime)
        failedRequests += later.failedRequests - earlier.failedRequests
        for (code, count) in later.errors.sorted(by: { $0.key < $1.key }) {
            let new = count - (earlier.errors[code] ?? 0)
            if new > 0 { add(error: code, count: new) }
        }
        let requests = later.requests.sorted { ($0.key.kind, $0.key.status) < ($1.key.kind, $1.key.status) }
        for (labels, count) in requests {
            let new = count - (earlier.requests[labels] ?? 0)
            if new > 0 { add(labels, count: new) }
        }
    }

    /// The sums of playing and of stalls.
    var sums: PlaybackSums { PlaybackSums(playing: playing, rebuffering: rebuffering, rebuffers: rebuffers) }

    /// Replaces the sums that are smaller than those of `floor`.
    mutating func raise(to floor: PlaybackSums) {
        let sums = sums.raised(to: floor)
        (playing, rebuffering, rebuffers) = (sums.playing, sums.rebuffering, sums.rebuffers)
    }
}

/// Playing and stalls, in milliseconds and as a number.
struct PlaybackSums: Hashable, Sendable {
    var playing = 0
    var rebuffering = 0
    var rebuffers = 0

    /// The larger one of each sum.
    func raised(to floor: PlaybackSums) -> PlaybackSums {
        PlaybackSums(
            playing: max(playing, floor.playing),
            rebuffering: max(rebuffering, floor.rebuffering),
            rebuffers: max(rebuffers, floor.rebuffers)
        )
    }
}

/// The sums of a stream that never decrease: those of sessions that are over, and what pages have shown of others.
struct StreamCounters: Sendable {
    /// The sums of the sessions that are over, of earlier streams of this name in this process, too.
    private(set) var finished: StreamTotals
    /// The largest sums that a page has shown.
    private var shown = PlaybackSums()
    /// The sums that the stream had when it was removed from the configuration, while its last session ends.
    private(set) var handedOver: StreamTotals?

    init(continuing earlier: StreamTotals?) { finished = earlier ?? StreamTotals() }

    mutating func beginSession() { finished.sessions += 1 }

    mutating func endSession(_ figures: SessionFigures, isFailure: Bool) {
        finished.playing += figures.playing
        finished.rebuffering += figures.rebuffering
        finished.rebuffers += figures.rebuffers
        if isFailure { finished.failedSessions += 1 }
    }

    mutating func count(error code: String) { finished.add(error: code) }
    mutating func count(_ request: RequestObservation) { finished.add(request) }
    mutating func count(failedRequests: Int) { finished.failedRequests += failedRequests }
    mutating func count(startup seconds: Double) { finished.startup.record(seconds) }

    /// Adds what a stream of this name has counted since it was removed.
    mutating func add(_ later: StreamTotals, since earlier: StreamTotals) { finished.add(later, since: earlier) }

    mutating func handOver(_ totals: StreamTotals) { handedOver = totals }

    /// The sums with those of a session that runs, never less than a page has shown.
    func totals(with session: SessionFigures?) -> StreamTotals {
        var totals = finished
        totals.raise(to: sums(with: session))
        return totals
    }

    /// Notes that a page shows the sums.
    mutating func noteShown(with session: SessionFigures?) { shown = sums(with: session) }

    private func sums(with session: SessionFigures?) -> PlaybackSums {
        var sums = finished.sums
        if let session {
            sums.playing += session.playing
            sums.rebuffering += session.rebuffering
            sums.rebuffers += session.rebuffers
        }
        // An event may be handled later than after the time of settling.
        return sums.raised(to: shown)
    }
}
