internal import Instrument

/// The longest delay of the latest minute, to within half a minute.
struct DelayMeter: Sendable {
    private static let half: Duration = .seconds(30)

    private var begin: MonotonicInstant?
    private var current = Duration.zero
    private var previous = Duration.zero

    /// Takes a delay that ended at `now`.
    mutating func record(_ delay: Duration, at now: MonotonicInstant) {
        let age = begin?.duration(to: now)
        if age.map({ $0 >= Self.half }) ?? true {
            previous = age.map { $0 < Self.half * 2 } == true ? current : .zero
            (begin, current) = (now, .zero)
        }
        current = max(current, delay)
    }

    /// The longest delay of the latest minute.
    func longest(at now: MonotonicInstant) -> Duration {
        guard let age = begin?.duration(to: now), age < Self.half * 2 else { return .zero }
        return age < Self.half ? max(current, previous) : current
    }
}
