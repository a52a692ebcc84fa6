public import Instrument

/// The measurement of one download.
public struct ThroughputSample: Hashable, Sendable {
    /// The received bytes.
    public var bytes: Int64
    /// The time from the first byte to the last.
    public var transferTime: Duration
    /// The time from the request to the first byte: the round trip and the server's processing.
    public var timeToFirstByte: Duration
    /// The arrival of the last byte.
    public var end: MonotonicInstant

    /// Creates a sample; negative values are brought to zero.
    public init(bytes: Int64, transferTime: Duration, timeToFirstByte: Duration, end: MonotonicInstant) {
        self.bytes = max(bytes, 0)
        self.transferTime = max(transferTime, .zero)
        self.timeToFirstByte = max(timeToFirstByte, .zero)
        self.end = end
    }

    /// The time from the request to the last byte.
    public var totalTime: Duration { transferTime + timeToFirstByte }
}

/// The measurements of the latest downloads, the oldest first.
public struct ThroughputHistory: Hashable, Sendable {
    /// The usual number of samples that are kept: more than the half-lives and windows of all players need, if each
    /// download is one sample.
    public static let capacity = 100
    /// The number of samples that are kept.
    public let capacity: Int
    /// The samples, the oldest first.
    public private(set) var samples: [ThroughputSample] = []

    /// Creates a history of at least one sample.
    public init(_ samples: [ThroughputSample] = [], capacity: Int = Self.capacity) {
        self.capacity = max(1, capacity)
        for sample in samples { append(sample) }
    }

    /// Adds a download; ignores a download without bytes.
    package mutating func append(_ sample: ThroughputSample) {
        if sample.bytes == 0 { return }
        if samples.count == capacity { samples.removeFirst() }
        samples.append(sample)
    }
}
