internal import Instrument

/// The age of a live playlist when a check saw it last.
struct PlaylistAge: Sendable {
    /// The age at that time.
    let whenSeen: Duration
    private let seen: MonotonicInstant
    /// The playlist's target duration.
    let target: Duration

    init(_ age: Duration, target: Duration, seen: MonotonicInstant) {
        (whenSeen, self.target, self.seen) = (age, target, seen)
    }

    /// The age now; nil if nothing is known any more.
    func value(at now: MonotonicInstant) -> Duration? {
        // Between two rounds the age grows; without rounds for long, nothing is known.
        let elapsed = seen.duration(to: now)
        return elapsed > .seconds(120) ? nil : whenSeen + elapsed
    }
}
