public import Instrument

/// How a ``NATSBackend`` publishes.
public struct NATSConfiguration: Sendable {
    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The time limit for connecting to a server, and the time limit for a delivery.
    public var timeout: Duration
    /// When a batch is due and how large it may be.
    public var policy: DeliveryPolicy
    /// The most messages that are sent before the first of them is confirmed.
    public var maxUnconfirmed: Int
    /// Maps a sample to a message; nil leaves the sample out, which then counts as delivered. Must return the same
    /// value in every attempt. Without this function, ``NATSMapping`` maps whole batches.
    public var mapping: (@Sendable (SampleRecord) -> NATSMessage?)?

    /// Creates a configuration; by default batches have up to 1,000 samples or 1 MiB, wait at most 5 s, and use
    /// ``NATSMapping``.
    public init(
        name: BackendName = "nats",
        timeout: Duration = .seconds(20),
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 1000, maxBytes: 1 << 20),
        maxUnconfirmed: Int = 512,
        mapping: (@Sendable (SampleRecord) -> NATSMessage?)? = nil
    ) {
        self.name = name
        self.timeout = timeout
        self.policy = policy
        self.maxUnconfirmed = max(1, maxUnconfirmed)
        self.mapping = mapping
    }
}
