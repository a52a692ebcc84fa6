public import Instrument

/// What one download took.
public struct ThroughputSample: Hashable, Sendable {
    /// What arrived, bytes.
    public var bytes: Int64
    /// From the first byte to the last.
    public var transferTime: Duration
    /// From the request to the first byte: the round trip, and what the server thought about.
    public var timeToFirstByte: Duration
    /// When the last byte was there.
    public var end: MonotonicInstant

    /// Creates a sample; negative values are brought to zero.
    public init(bytes: Int64, transferTime: Duration, timeToFirstByte: Duration, end: MonotonicInstant) {
        self.bytes = max(bytes, 0)
        self.transferTime = max(transferTime, .zero)
        self.timeToFirstByte = max(timeToFirstByte, .zero)
        self.end = end
    }

    /// From the request to the last byte.
    public var totalTime: Duration { transferTime + timeToFirstByte }
}

/// What the latest downloads took, the oldest first; a hundred are kept.
public struct ThroughputHistory: Hashable, Sendable {
    /// The half-lives and windows of all players reach back less far.
    public static let capacity = 100
    /// The samples, the oldest first.
    public private(set) var samples: [ThroughputSample] = []

    /// Creates a history.
    public init(_ samples: [ThroughputSample] = []) {
        for sample in samples { append(sample) }
    }

    /// Remembers a download; one of no bytes says nothing and is not kept.
    public mutating func append(_ sample: ThroughputSample) {
        if sample.bytes == 0 { return }
        if samples.count == Self.capacity { samples.removeFirst() }
        samples.append(sample)
    }
}
