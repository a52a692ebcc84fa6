public import Instrument

/// How a ``KafkaBackend`` produces.
public struct KafkaConfiguration: Sendable {
    /// The codec of record batches. Brokers and consumers unpack all of them.
    public enum Compression: String, Hashable, Sendable {
        /// Not compressed.
        case none
        /// LZ4: little work for both sides.
        case lz4
        /// Zstandard: the smallest batches.
        case zstd
        /// gzip, for old consumers.
        case gzip
    }

    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The time limit of a delivery: within it, librdkafka sends a message again after temporary errors; then the queue
    /// retries.
    public var timeout: Duration
    /// When a batch is due and how large it may be.
    public var policy: DeliveryPolicy
    /// The codec of record batches.
    public var compression: Compression
    /// The most bytes of a message, its key and headers included; a larger one becomes a dead letter. The topic's
    /// `max.message.bytes` should not be smaller.
    public var maxMessageBytes: Int
    /// The most bytes of messages that wait in memory for the brokers, beside the batch itself.
    public var maxBufferedBytes: Int
    /// Maps a sample to a message; nil leaves the sample out, which then counts as delivered. Must return the same
    /// value in every attempt. Without this function, ``KafkaMapping`` maps whole batches.
    public var mapping: (@Sendable (SampleRecord) -> KafkaMessage?)?
    /// Further settings of librdkafka by name, such as `client.rack`. The backend's promises depend on some settings,
    /// which cannot be set here; `KafkaBackend.init` then throws.
    public var properties: [String: String]

    /// Creates a configuration; by default batches have up to 5,000 samples or 4 MiB, wait at most 5 s, are compressed
    /// by LZ4, and use ``KafkaMapping``.
    public init(
        name: BackendName = "kafka",
        timeout: Duration = .seconds(30),
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 5000, maxBytes: 4 << 20),
        compression: Compression = .lz4,
        maxMessageBytes: Int = 1_000_000,
        maxBufferedBytes: Int = 32 << 20,
        properties: [String: String] = [:],
        mapping: (@Sendable (SampleRecord) -> KafkaMessage?)? = nil
    ) {
        self.name = name
        self.timeout = timeout
        self.policy = policy
        self.compression = compression
        self.maxMessageBytes = maxMessageBytes
        self.maxBufferedBytes = maxBufferedBytes
        self.properties = properties
        self.mapping = mapping
    }
}
