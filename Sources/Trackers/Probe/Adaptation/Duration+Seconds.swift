extension Duration {
    /// Returns a duration of the given seconds, at least zero and at most 31 years; zero for NaN.
    init(clampingSeconds seconds: Double) {
        self = seconds.isNaN || seconds <= 0 ? .zero : .nanoseconds(Int64(clamping: min(seconds, 1e9) * 1e9))
    }
}
