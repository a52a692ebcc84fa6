internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The target latency and the playback rate of ExoPlayer in a live stream: Media3's `DefaultLivePlaybackSpeedControl`.
///
/// A stall raises the target. The target returns to the stream's where the buffer allows it, and rises to what is safe
/// where it does not. Latencies are in seconds.
struct LiveSpeedControl: Hashable, Sendable {
    /// The limits of an update: those of the stream, else the profile's.
    struct Limits: Hashable, Sendable {
        /// The change of the rate for each second of difference to the target.
        var factor: Double
        var minimumRate: Double
        var maximumRate: Double
        /// The difference to the target from which on the rate is not 1, in seconds.
        var tolerance: Double
        /// The highest target; nil for any.
        var maximumTarget: Double?
    }

    /// The latency at which the buffer would be empty, as a smoothed upper bound, and its smoothed deviation.
    private struct Emptiness: Hashable {
        var latency: Double
        var deviation: Double
        /// More than 99 % of all observations are below.
        var safeLatency: Double { latency + 3 * deviation }
    }

    /// When the buffer was last seen, and at which latency it would have been empty.
    private struct Sight: Hashable {
        var instant: MonotonicInstant
        var emptyAt: Double
    }

    /// The most steps in which a time between two calls is smoothed.
    private static let pieces = 16

    private let moving: LivePolicy.MovingTarget
    /// The stream's target; nil before the first one.
    private var ideal: Double?
    /// The target latency.
    private(set) var target = 0.0
    /// The playback rate; 1 is the normal one.
    private(set) var rate = 1.0
    private var emptiness: Emptiness?
    private var lastSight: Sight?
    private var updatedAt: MonotonicInstant?

    init(_ moving: LivePolicy.MovingTarget) { self.moving = moving }

    /// Takes the target that the stream asks for. With another one than before, everything begins again.
    mutating func adopt(target ideal: Double) {
        guard ideal != self.ideal else { return }
        (self.ideal, target) = (ideal, ideal)
        (emptiness, lastSight, updatedAt) = (nil, nil, nil)
    }

    /// Raises the target for a number of stalls, up to `maximum`.
    mutating func stalled(_ count: Int, increase: Double, maximum: Double?) {
        guard count > 0, ideal != nil else { return }
        target = min(target + increase * Double(count), maximum ?? .infinity)
        updatedAt = nil
    }

    /// Playback stands. What happens until it continues is not looked at.
    mutating func rest() { lastSight = nil }

    /// Looks at the buffer as the player's loop has done since the last call, in which no media came.
    ///
    /// - Parameter emptyAt: the latency at which the buffer would be empty now.
    mutating func look(emptyAt: Double, at now: MonotonicInstant) {
        defer { lastSight = Sight(instant: now, emptyAt: emptyAt) }
        guard let last = lastSight else { return observe(emptyAt, keeping: moving.smoothing) }
        let elapsed = last.instant.duration(to: now)
        let steps = elapsed / moving.step
        guard steps >= 1 else { return }
        let pieces = Int(min(Double(Self.pieces), steps))
        let kept = pow(moving.smoothing, steps / Double(pieces))
        for piece in 1...pieces {
            // While no media comes, the live edge moves away from the end of the buffer.
            observe(last.emptyAt + elapsed.seconds * Double(piece) / Double(pieces), keeping: kept)
        }
    }

    /// Smooths the latency at which the buffer would be empty: never below what is seen.
    mutating func observe(_ latency: Double, keeping share: Double) {
        guard var known = emptiness else {
            emptiness = Emptiness(latency: latency, deviation: 0)
            return
        }
        known.latency = max(latency, share * known.latency + (1 - share) * latency)
        known.deviation = share * known.deviation + (1 - share) * abs(latency - known.latency)
        emptiness = known
    }

    /// Moves the target and the rate, if enough time has passed since that was done.
    mutating func update(latency: Double, _ limits: Limits, at now: MonotonicInstant) {
        if let updatedAt, updatedAt.duration(to: now) < moving.interval { return }
        updatedAt = now
        moveTarget(latency, limits)
        let difference = latency - target
        let wanted = abs(difference) < limits.tolerance ? 1 : 1 + limits.factor * difference
        rate = max(limits.minimumRate, min(wanted, limits.maximumRate))
    }

    /// Lowers the target no faster than playback can follow, or raises it no faster than playback can slow down.
    private mutating func moveTarget(_ latency: Double, _ limits: Limits) {
        guard let ideal, let safe = emptiness?.safeLatency else { return }
        if target > safe {
            let decrease = (rate - 1 + limits.maximumRate - 1) * moving.interval.seconds
            target = max(safe, ideal, target - decrease)
        } else {
            let slowing = limits.factor > 0 ? max(0, rate - 1) / limits.factor : 0
            target = min(max(target, min(latency - slowing, safe)), limits.maximumTarget ?? .infinity)
        }
    }
}
