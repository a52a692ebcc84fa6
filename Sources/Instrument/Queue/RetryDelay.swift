/// How long to wait before another attempt: exponential from 1 s to 5 min with full jitter.
///
/// What a server asks for wins, up to an hour; a negative wish counts as absent.
struct RetryDelay: Sendable {
    private var attempts = 0

    /// The delay after one more failure; `random` gives a number from zero to its argument.
    mutating func next(after wish: Duration?, random: (Double) -> Double) -> Duration {
        let ceiling = min(300, Double(1 << min(attempts, 9)))
        attempts += 1
        if let wish, wish >= .zero { return min(wish, .seconds(3600)) }
        return .seconds(random(ceiling))
    }

    /// Any success starts anew.
    mutating func reset() { attempts = 0 }
}
