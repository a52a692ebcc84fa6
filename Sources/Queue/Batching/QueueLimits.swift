/// The limits of a queue, and its behavior at them.
public struct QueueLimits: Hashable, Sendable {
    /// The behavior of a full queue.
    public enum WhenFull: Hashable, Sendable {
        /// The queue drops its oldest samples.
        case dropOldest
        /// The queue refuses new samples with ``QueueError/Code/full``.
        case refuseNew
    }

    /// The largest number of samples.
    public var maxCount: Int
    /// The largest size in bytes, as the store measures it.
    public var maxBytes: Int
    /// The largest difference between the instants of a sample and of the newest sample; nil sets no limit.
    public var maxAge: Duration?
    /// The behavior beyond `maxCount` and `maxBytes`. The queue drops samples that are older than `maxAge` in both
    /// cases.
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
