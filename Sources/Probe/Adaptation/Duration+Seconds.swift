extension Duration {
    /// So many seconds, at least none and at most 31 years; none if that is no number.
    init(clampingSeconds seconds: Double) {
        self = seconds.isNaN || seconds <= 0 ? .zero : .nanoseconds(Int64(clamping: min(seconds, 1e9) * 1e9))
    }
}
