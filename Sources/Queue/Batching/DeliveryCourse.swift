/// The pacing of a lane: the size limit and the earliest instant of the next batch.
struct DeliveryCourse {
    private enum Size {
        /// The limit is the policy's.
        case full
        /// The next samples, of which one was refused: the lane sends half of them each time, until that sample is
        /// alone.
        case suspects(Int)
        /// A larger batch was too large. The limit grows after this number of successes, because each trial costs an
        /// upload.
        case limited(to: Int, successesLeft: Int)
    }

    private let policyCount: Int
    private var size = Size.full
    private var delay = RetryDelay()
    /// The lane sends nothing before this instant.
    private(set) var notBefore: MonotonicInstant?
    /// Whether the server chose the pause, not the back-off.
    private var isServersWish = false
    private var lastReason: String?

    init(_ policy: DeliveryPolicy) { policyCount = policy.maxCount }

    /// The largest number of samples of the next batch.
    var maxCount: Int {
        switch size {
        case .full: policyCount
        case .suspects(let count): max(1, count / 2)
        case .limited(let count, _): count
        }
    }

    /// Records that a batch of `count` samples is settled, accepted or not.
    mutating func settled(_ count: Int) {
        switch size {
        case .full: break
        case .suspects(let suspects): size = suspects > count ? .suspects(suspects - count) : .full
        case .limited(let limit, let left) where left > 1: size = .limited(to: limit, successesLeft: left - 1)
        case .limited(let limit, _):
            let grown = limit + max(1, limit / 4)
            size = grown < policyCount ? Self.limited(to: grown) : .full
        }
        delay.reset()
        (notBefore, isServersWish, lastReason) = (nil, false, nil)
    }

    /// Records that a batch of `count` samples, more than one, contains a sample that the service will never accept.
    mutating func refused(_ count: Int) { size = .suspects(count) }

    /// Records that a batch of `count` samples, more than one, was too large.
    mutating func tooLarge(_ count: Int) { size = Self.limited(to: max(1, count / 2)) }

    private static func limited(to count: Int) -> Size { .limited(to: count, successesLeft: 8) }

    /// Starts a pause before the next attempt. Returns its length for the first of consecutive failures with the same
    /// reason, else nil.
    mutating func pause(
        _ kind: Pause,
        for reason: String,
        at now: MonotonicInstant,
        _ randomness: RandomSource
    ) -> Duration? {
        let pause =
            switch kind {
            case .backOff(let wish): delay.next(after: wish, randomness)
            case .unauthorized: delay.nextUnauthorized(randomness)
            }
        isServersWish = kind != .backOff(wish: nil)
        notBefore = now.advanced(by: pause)
        defer { lastReason = reason }
        return reason == lastReason ? nil : pause
    }

    /// Ends the back-off, because a network is available again. A pause that a server asked for continues.
    mutating func cameOnline() {
        if isServersWish { return }
        delay.reset()
        notBefore = nil
    }

    /// The cause of a pause.
    enum Pause: Hashable {
        /// A failure, with the delay that the server asked for, if any.
        case backOff(wish: Duration?)
        /// The service did not accept a credential.
        case unauthorized
    }
}
