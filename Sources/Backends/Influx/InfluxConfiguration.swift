public import Instrument

/// How an ``InfluxBackend`` writes.
public struct InfluxConfiguration: Sendable {
    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The time limit of a request.
    public var timeout: Duration
    /// The delivery policy: when a batch is due, and its largest size.
    public var policy: DeliveryPolicy
    /// Whether requests are packed by gzip.
    public var compresses: Bool
    /// The largest number of bytes of a text field; longer texts are cut and counted. InfluxDB 1.x documents 64 KiB.
    public var maxTextLength: Int
    /// Maps a sample to a point; nil leaves the sample out, which then counts as delivered. Must return the same value
    /// in every attempt.
    public var mapping: @Sendable (SampleRecord) -> InfluxPoint?

    /// Creates a configuration; by default batches have up to 1,000 samples or 1 MiB, wait at most 5 s, and use
    /// ``InfluxMapping``.
    public init(
        name: BackendName = "influx",
        timeout: Duration = .seconds(30),
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 1000, maxBytes: 1 << 20),
        compresses: Bool = true,
        maxTextLength: Int = 65_535,
        mapping: @escaping @Sendable (SampleRecord) -> InfluxPoint? = { InfluxMapping()($0) }
    ) {
        self.name = name
        self.timeout = timeout
        self.policy = policy
        self.compresses = compresses
        self.maxTextLength = maxTextLength
        self.mapping = mapping
    }
}
