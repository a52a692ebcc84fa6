internal import Instrument

/// Plays at the same time, over sessions of any number of devices, in milliseconds of wall time.
///
/// A session plays from its first frame to its latest event, which for a device that vanished is the last one that
/// arrived; the instant of the end does not belong to it, so that one viewer after another is one play at a time. A
/// session of less than a millisecond counts as one millisecond. Sums are integers: parts merge in any order. A session
/// costs at most two entries of a dictionary.
public struct ConcurrentPlays: Hashable, Sendable {
    /// Changes of the number of plays, by milliseconds since 1970; none is zero.
    private var changes: [Int64: Int] = [:]

    /// Creates a count without sessions.
    public init() {}

    /// Adds a session; a session that never started plays at no time.
    public mutating func add(_ session: QualitySession) {
        guard session.startup.hasStarted else { return }
        // The instrument's clock measures; wall time only places the session.
        let length = (session.startup.started ?? session.begin.instant).milliseconds(to: session.end.instant)
        let begin = session.end.wallTime.milliseconds.saturatingSubtract(Int64(length))
        change(by: session.weight, at: begin)
        change(by: -session.weight, at: begin.saturatingAdd(Int64(max(1, length))))
    }

    /// Adds all sessions of another count.
    public mutating func merge(_ other: ConcurrentPlays) {
        for (time, number) in other.changes { change(by: number, at: time) }
    }

    private mutating func change(by number: Int, at time: Int64) {
        let sum = (changes[time] ?? 0).saturatingAdd(number)
        changes[time] = sum == 0 ? nil : sum
    }

    /// The number of plays from each instant at which the number changes, in the order of time: milliseconds since 1970
    /// and plays.
    public var series: [(time: Int64, plays: Int)] {
        var plays = 0
        return changes.sorted { $0.key < $1.key }.map { time, change in
            plays.add(change)
            return (time, plays)
        }
    }

    /// The greatest number of plays at the same time.
    public var peak: Int { series.map(\.plays).max() ?? 0 }
}
