internal import Instrument

/// How fast media arrives: the buffer and the sum of playing at some instants, and the times of the latest segments.
struct SegmentArrivals: Sendable {
    private struct Level: Sendable {
        var instant: MonotonicInstant
        /// Milliseconds.
        var playing: Int
        var buffered: Int
    }

    private static let window = Duration.seconds(30)
    private static let mostLevels = 8
    private static let mostSegments = 24
    /// The share of the time in which a segment is on its way, from which on the network is the limit.
    private static let busyShare = 0.7

    private var levels: [Level] = []
    private var segments: [(begin: MonotonicInstant, end: MonotonicInstant)] = []

    mutating func add(from begin: MonotonicInstant, for duration: Duration) {
        segments.append((begin, begin.advanced(by: duration)))
        if segments.count > Self.mostSegments { segments.removeFirst() }
    }

    /// Takes the buffer of the session.
    /// - Parameters:
    ///   - playing: milliseconds that the session has played.
    ///   - buffered: milliseconds ahead of the playhead.
    mutating func note(playing: Int, buffered: Int, at now: MonotonicInstant) {
        if let last = levels.last, last.playing > playing || last.instant >= now { levels = [] }
        levels.append(Level(instant: now, playing: playing, buffered: buffered))
        if levels.count > Self.mostLevels { levels.removeFirst() }
    }

    /// Forgets the session.
    mutating func reset() { (levels, segments) = ([], []) }

    /// When the latest segment arrived; nil without one.
    var latest: MonotonicInstant? { segments.map(\.end).max() }

    /// The media that arrived, in seconds per second, if the network was the limit; nil if it was not, or if too little
    /// is known.
    /// - Parameters:
    ///   - playing: milliseconds that the session has played at `now`.
    ///   - buffered: milliseconds ahead of the playhead at `now`.
    func slowness(playing: Int, buffered: Int, at now: MonotonicInstant) -> Double? {
        guard let from = levels.first(where: { $0.instant.duration(to: now) <= Self.window }),
            from.instant.duration(to: now) >= .seconds(4)
        else { return nil }
        let recent = segments.filter { $0.end > from.instant }.sorted { $0.begin < $1.begin }
        guard recent.count >= 2, let first = recent.first, let end = recent.map(\.end).max() else { return nil }
        var (busy, covered) = (Duration.zero, first.begin)
        for segment in recent where segment.end > covered {
            busy += max(segment.begin, covered).duration(to: segment.end)
            covered = segment.end
        }
        let span = first.begin.duration(to: end)
        guard span > .zero, busy / span >= Self.busyShare else { return nil }
        let arrived = Double(playing - from.playing + buffered - from.buffered) / 1000
        let speed = max(0, arrived) / from.instant.duration(to: now).seconds
        return speed < 0.95 ? speed : nil
    }
}
