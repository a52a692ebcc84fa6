internal import Instrument

/// What failed at its last attempt, and when each is tried again: after a back-off from 1 s to 5 min with full jitter,
/// or after the delay that the server asked for, up to an hour.
struct Rests<Subject: Hashable> {
    private struct Rest {
        var attempts = 0
        var end: MonotonicInstant
        var isWish = false
    }

    private static var longestWish: Duration { .seconds(3_600) }
    private static var longestDelay: Double { 300 }

    private var rests: [Subject: Rest] = [:]

    /// Whether the last attempt failed.
    func contains(_ subject: Subject) -> Bool { rests[subject] != nil }

    /// Whether a subject is left alone at an instant.
    func isResting(_ subject: Subject, at now: MonotonicInstant) -> Bool {
        rests[subject].map { now < $0.end } ?? false
    }

    /// Whether a subject is left alone at an instant because its server asked for that.
    func isResting(byWish subject: Subject, at now: MonotonicInstant) -> Bool {
        rests[subject].map { $0.isWish && now < $0.end } ?? false
    }

    /// The time up to the next attempt; nil if nothing rests.
    func next(after now: MonotonicInstant) -> Duration? {
        rests.values.map { now.duration(to: $0.end) }.filter { $0 > .zero }.min()
    }

    /// Records a success.
    mutating func answered(_ subject: Subject) { rests[subject] = nil }

    /// Records a failure.
    mutating func failed(_ subject: Subject, wish: Duration?, at now: MonotonicInstant, _ random: RandomSource) {
        var rest = rests[subject] ?? Rest(end: now)
        let ceiling = min(Self.longestDelay, Double(1 << min(rest.attempts, 9)))
        rest.attempts += 1
        let delay = wish.map { max(.zero, min($0, Self.longestWish)) } ?? .seconds(random.number(in: 0...ceiling))
        (rest.end, rest.isWish) = (now.advanced(by: delay), wish != nil)
        rests[subject] = rest
    }

    /// Forgets what has not been tried again for long: no beacon waits for it any more.
    mutating func forgetEnded(at now: MonotonicInstant) {
        rests = rests.filter { $0.value.end.duration(to: now) < Self.longestWish }
    }
}
