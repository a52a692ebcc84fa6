public import Instrument

/// How a ``NewRelicBackend`` sends.
public struct NewRelicConfiguration: Sendable {
    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The time limit of a request.
    public var timeout: Duration
    /// The delivery policy: when a batch is due, and its largest size.
    public var policy: DeliveryPolicy
    /// Maps a sample to an event or a metric; nil leaves the sample out, which then counts as delivered. Must return
    /// the same value in every attempt.
    public var mapping: @Sendable (SampleRecord) -> NewRelicRecord?

    /// Creates a configuration; by default batches have up to 500 samples or 256 KiB, wait at most 5 s, and use
    /// ``NewRelicMapping``.
    public init(
        name: BackendName = "newrelic",
        timeout: Duration = .seconds(30),
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 500, maxBytes: 256 << 10),
        mapping: @escaping @Sendable (SampleRecord) -> NewRelicRecord? = { NewRelicMapping()($0) }
    ) {
        self.name = name
        self.timeout = timeout
        self.policy = policy
        self.mapping = mapping
    }
}
