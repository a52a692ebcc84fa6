public import Instrument

/// How a ``DurableStore`` keeps samples.
public struct DurableConfiguration: Hashable, Sendable {
    /// When what was written is made to survive a loss of power. A crash of the process loses nothing in any case.
    public enum Synchronization: Hashable, Sendable {
        /// When the system likes, usually within half a minute.
        case never
        /// So long after a sample at most.
        case interval(Duration)
        /// After this number of samples.
        case count(Int)
    }

    /// Where a backend begins that the store has not seen before.
    public enum Newcomers: Hashable, Sendable {
        /// With what is emitted from then on.
        case now
        /// With the oldest sample that is still there.
        case oldest
    }

    /// How much is kept; what is too much is dropped by whole segments.
    public var limits: QueueLimits
    /// The size of a segment in bytes; its blocks are allocated at once.
    public var segmentSize: Int
    /// When writes are made to last.
    public var synchronization: Synchronization
    /// Where new backends begin.
    public var newcomers: Newcomers

    /// Creates a configuration; by default the queue's default limits, segments of 4 MiB (less if the limit is small), a sync
    /// within a second, newcomers begin now.
    public init(
        limits: QueueLimits = QueueLimits(),
        segmentSize: Int = 4 << 20,
        synchronization: Synchronization = .interval(.seconds(1)),
        newcomers: Newcomers = .now
    ) {
        self.limits = limits
        self.segmentSize = max(4096, min(segmentSize, limits.maxBytes / 4))
        self.synchronization = synchronization
        self.newcomers = newcomers
    }
}
