internal import Instrument

/// Plays at the same time, over sessions of any number of devices, in periods of the ping interval.
///
/// A session plays from its first frame to its latest event, which for a device that vanished is its last ping. A play
/// counts in every period that it touches. Periods begin at multiples of 30 seconds of wall time. Sums are integers:
/// parts merge in any order.
public struct ConcurrentPlays: Hashable, Sendable {
    /// The length of a period in milliseconds: the interval of pings.
    public static let period: Int64 = 30_000

    /// Changes of the number of plays at the beginning of a period.
    private var changes: [Int64: Int] = [:]

    /// Creates a count without sessions.
    public init() {}

    /// Adds a session; a session that never started plays at no time.
    public mutating func add(_ session: QualitySession) {
        guard session.startup.hasStarted else { return }
        // The instrument's clock measures; wall time only places the session.
        let before = (session.startup.started ?? session.begin.instant).milliseconds(to: session.end.instant)
        let end = session.end.wallTime.milliseconds
        let start = end.saturatingSubtract(Int64(before))
        let (first, last) = (Self.period(of: start), Self.period(of: end))
        changes[first, default: 0].add(session.weight)
        changes[last.saturatingAdd(1), default: 0].add(-session.weight)
    }

    /// Adds all sessions of another count.
    public mutating func merge(_ other: ConcurrentPlays) {
        for (period, change) in other.changes { changes[period, default: 0].add(change) }
    }

    /// The number of plays from the beginning of each period in which the number changes, in the order of time:
    /// milliseconds since 1970 and plays.
    public var series: [(time: Int64, plays: Int)] {
        var plays = 0
        return changes.sorted { $0.key < $1.key }.compactMap { period, change in
            if change == 0 { return nil }
            plays.add(change)
            return (period.saturatingMultiply(Self.period), plays)
        }
    }

    /// The greatest number of plays at the same time.
    public var peak: Int { series.map(\.plays).max() ?? 0 }

    private static func period(of milliseconds: Int64) -> Int64 {
        let quotient = milliseconds / period
        return milliseconds % period < 0 ? quotient - 1 : quotient
    }
}
