/// How much a queue holds at most, and what it does then.
public struct QueueLimits: Hashable, Sendable {
    /// What a full queue does.
    public enum WhenFull: Hashable, Sendable {
        /// Makes room by dropping the oldest samples.
        case dropOldest
        /// Keeps what it has; new samples are refused with ``QueueError/Code/full``.
        case refuseNew
    }

    /// The most samples.
    public var maxCount: Int
    /// The most bytes, by the store's measure.
    public var maxBytes: Int
    /// How long a sample is kept, by its own instant against the newest sample's; nil sets no limit.
    public var maxAge: Duration?
    /// What happens beyond `maxCount` and `maxBytes`; what is older than `maxAge` is dropped in any case.
    public var whenFull: WhenFull

    /// Creates limits; by default 1,000,000 samples, 256 MiB, any age, dropping the oldest.
    public init(
        maxCount: Int = 1_000_000,
        maxBytes: Int = 256 << 20,
        maxAge: Duration? = nil,
        whenFull: WhenFull = .dropOldest
    ) {
        self.maxCount = max(1, maxCount)
        self.maxBytes = max(1, maxBytes)
        self.maxAge = maxAge
        self.whenFull = whenFull
    }
}
