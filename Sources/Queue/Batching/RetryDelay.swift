/// The delay before the next attempt: an exponential back-off from 1 s to 5 min with full jitter.
///
/// A delay that the server asks for has precedence, up to an hour; a negative one counts as absent.
struct RetryDelay: Sendable {
    private static var longestWish: Duration { .seconds(3600) }
    /// The shortest delay after a refused credential, because credentials change rarely.
    private static var unauthorized: Duration { .seconds(60) }

    private var attempts = 0

    /// The delay after a further failure.
    mutating func next(after wish: Duration? = nil, _ randomness: RandomSource) -> Duration {
        let ceiling = min(300, Double(1 << min(attempts, 9)))
        attempts += 1
        if let wish, wish >= .zero { return min(wish, Self.longestWish) }
        return .seconds(randomness.number(in: 0...ceiling))
    }

    /// The delay after a refused credential.
    mutating func nextUnauthorized(_ randomness: RandomSource) -> Duration {
        max(Self.unauthorized, next(randomness))
    }

    /// Resets the delay, after a success.
    mutating func reset() { attempts = 0 }
}
