/// How long to wait before another attempt: exponential from 1 s to 5 min with full jitter.
///
/// What a server asks for wins, up to an hour; a negative wish counts as absent.
struct RetryDelay: Sendable {
    private static var longestWish: Duration { .seconds(3600) }
    /// A credential is not renewed every second.
    private static var unauthorized: Duration { .seconds(60) }

    private var attempts = 0

    /// The delay after one more failure.
    mutating func next(after wish: Duration? = nil, _ randomness: RandomSource) -> Duration {
        let ceiling = min(300, Double(1 << min(attempts, 9)))
        attempts += 1
        if let wish, wish >= .zero { return min(wish, Self.longestWish) }
        return .seconds(randomness.number(in: 0...ceiling))
    }

    /// The delay after a credential was refused.
    mutating func nextUnauthorized(_ randomness: RandomSource) -> Duration {
        max(Self.unauthorized, next(randomness))
    }

    /// Any success resets the delay.
    mutating func reset() { attempts = 0 }
}
