internal import Instrument

/// The calendar of histories and budgets, which a jump of the wall clock does not spoil.
///
/// A clock that is corrected by seconds is followed. A clock that jumps by more than ``tolerance`` is not followed
/// before it has stayed there for ``patience``: what is undone until then has no effect. Afterwards
///
/// - a jump forward leaves a gap, because a machine that was suspended, and a clock that was set, look the same;
/// - a jump backward moves what is known back, so that everything keeps its order and its age. A later jump forward
///   moves it forward again by as much.
struct HistoryClock: Hashable, Sendable {
    static let tolerance = Duration.seconds(120)
    static let patience = Duration.seconds(600)
    /// What an earlier process has written by more minutes in the future is moved back.
    static let leastAhead = 2

    /// A moment at which both clocks agreed.
    private var anchor: Timestamp
    /// Since when the wall clock is elsewhere.
    private var since: MonotonicInstant?
    /// The minutes by which histories lie before the time at which they were written.
    private(set) var displacement = 0
    /// The number of moves.
    private(set) var moves = 0

    init(at now: Timestamp) { anchor = now }

    /// The time of a moment for histories and budgets.
    func time(at now: Timestamp) -> WallTime {
        abs(deviation(at: now)) <= Self.tolerance.milliseconds ? now.wallTime : expected(at: now)
    }

    /// Follows the wall clock; returns the minutes by which histories and budgets have to be moved.
    mutating func advance(to now: Timestamp) -> Int {
        let deviation = deviation(at: now)
        guard abs(deviation) > Self.tolerance.milliseconds else {
            (anchor, since) = (now, nil)
            return 0
        }
        let begin = since ?? now.instant
        since = begin
        guard begin.duration(to: now.instant) >= Self.patience else { return 0 }
        (anchor, since) = (now, nil)
        return deviation < 0 ? move(-Self.minutes(-deviation)) : move(back(of: Self.minutes(deviation)))
    }

    /// Notes that what an earlier process has left was moved back, because it lay in the future.
    mutating func noteRestored(movedBack minutes: Int) { displacement = max(displacement, minutes) }

    private mutating func move(_ minutes: Int) -> Int {
        displacement -= minutes
        if minutes != 0 { moves += 1 }
        return minutes
    }

    /// The part of a jump forward that undoes earlier jumps backward: all of them, if the jump is about as long.
    private func back(of minutes: Int) -> Int {
        abs(minutes - displacement) <= 2 * Int(Self.tolerance.seconds) / 60 ? displacement : min(minutes, displacement)
    }

    private static func minutes(_ milliseconds: Int) -> Int { (milliseconds + 59_999) / 60_000 }

    private func deviation(at now: Timestamp) -> Int {
        Int(clamping: now.wallTime.milliseconds.saturatingSubtract(expected(at: now).milliseconds))
    }

    private func expected(at now: Timestamp) -> WallTime {
        let elapsed = Int64(anchor.instant.milliseconds(to: now.instant))
        return WallTime(milliseconds: anchor.wallTime.milliseconds.saturatingAdd(elapsed))
    }
}

extension Int {
    /// The number of units that minutes are, away from zero: the same for a move and for the one that undoes it.
    func units(of minutes: Int) -> Int { (Swift.abs(self) + minutes - 1) / minutes * signum() }
}
