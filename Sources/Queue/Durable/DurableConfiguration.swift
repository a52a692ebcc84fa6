public import Instrument

/// The configuration of a ``DurableStore``.
public struct DurableConfiguration: Hashable, Sendable {
    /// The policy for synchronizing written samples, so that they survive a loss of power. A crash of the process never
    /// loses a stored sample.
    public enum Synchronization: Hashable, Sendable {
        /// Never by the store; the system writes within about half a minute.
        case never
        /// At most this time after a sample.
        case interval(Duration)
        /// After this number of samples.
        case count(Int)
    }

    /// The start of a backend that the store has not seen before.
    public enum Newcomers: Hashable, Sendable {
        /// With the samples that are emitted from then on.
        case now
        /// With the oldest stored sample.
        case oldest
    }

    /// The limits of the queue; samples beyond them are dropped by whole segments.
    public var limits: QueueLimits
    /// The size of a segment in bytes; its blocks are allocated at once.
    public var segmentSize: Int
    /// The policy for synchronizing writes.
    public var synchronization: Synchronization
    /// The start of new backends.
    public var newcomers: Newcomers

    /// Creates a configuration; by default the queue's default limits, segments of 4 MiB (less if the limit is
    /// small), a synchronization within a second, and new backends that start now.
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
