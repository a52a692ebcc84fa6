internal import Instrument

/// The servers that took no beacon at the last attempt, and when each is tried again: after a back-off from 1 s to 5
/// min with full jitter, or after the delay that the server asked for, up to an hour.
struct ServerRests {
    private struct Rest {
        var attempts = 0
        var end: MonotonicInstant
    }

    private static let longestWish = Duration.seconds(3_600)
    private static let longestDelay = 300.0

    private var rests: [String: Rest] = [:]

    /// Whether a server is left alone at an instant.
    func isResting(_ server: String, at now: MonotonicInstant) -> Bool { rests[server].map { now < $0.end } ?? false }

    /// The time up to the next attempt; nil if no server rests.
    func next(after now: MonotonicInstant) -> Duration? {
        rests.values.map { now.duration(to: $0.end) }.filter { $0 > .zero }.min()
    }

    /// Records that a server took the beacons of a delivery.
    mutating func answered(_ server: String) { rests[server] = nil }

    /// Records that beacons for a server have to wait.
    mutating func failed(_ server: String, wish: Duration?, at now: MonotonicInstant, _ random: RandomSource) {
        var rest = rests[server] ?? Rest(end: now)
        let ceiling = min(Self.longestDelay, Double(1 << min(rest.attempts, 9)))
        rest.attempts += 1
        let delay = wish.map { max(.zero, min($0, Self.longestWish)) } ?? .seconds(random.number(in: 0...ceiling))
        rest.end = now.advanced(by: delay)
        rests[server] = rest
    }

    /// Forgets the servers that have not been tried again for long: no beacon waits for them any more.
    mutating func forgetEnded(at now: MonotonicInstant) {
        rests = rests.filter { $0.value.end.duration(to: now) < Self.longestWish }
    }
}
