/// What a lane goes by between two deliveries: how large the next batch may be, and when it may go.
struct DeliveryCourse {
    private enum Size {
        /// As large as the policy allows.
        case full
        /// The number of next samples that contain a refused sample: half of them are sent, until it is alone.
        case suspects(Int)
        /// A larger batch was too large; grows again after this number of successes, since each trial costs an upload.
        case limited(to: Int, successesLeft: Int)
    }

    private let policyCount: Int
    private var size = Size.full
    private var delay = RetryDelay()
    /// Before this instant nothing is sent.
    private(set) var notBefore: MonotonicInstant?
    /// Whether the server chose the pause, and not we.
    private var isServersWish = false
    private var lastReason: String?

    init(_ policy: DeliveryPolicy) { policyCount = policy.maxCount }

    /// The most samples of the next batch.
    var maxCount: Int {
        switch size {
        case .full: policyCount
        case .suspects(let count): max(1, count / 2)
        case .limited(let count, _): count
        }
    }

    /// A batch of `count` is settled, whatever became of each sample.
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

    /// A batch of `count`, more than one, holds something that will never be taken.
    mutating func refused(_ count: Int) { size = .suspects(count) }

    /// A batch of `count`, more than one, was too large.
    mutating func tooLarge(_ count: Int) { size = Self.limited(to: max(1, count / 2)) }

    private static func limited(to count: Int) -> Size { .limited(to: count, successesLeft: 8) }

    /// Waits until another attempt; returns how long, if it is news: the first of a row of failures for one reason.
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

    /// There is a network again: what we waited for because it failed is over. What a server said still holds.
    mutating func cameOnline() {
        if isServersWish { return }
        delay.reset()
        notBefore = nil
    }

    /// Why to wait.
    enum Pause: Hashable {
        /// Failures; the server may have said how long.
        case backOff(wish: Duration?)
        /// A credential was not accepted.
        case unauthorized
    }
}
