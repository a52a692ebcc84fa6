public import Instrument
public import InstrumentHTTP

/// How an ``OTLPBackend`` sends.
public struct OTLPConfiguration: Sendable {
    /// The encoding of requests.
    public enum Encoding: String, Hashable, Sendable, CaseIterable {
        /// Protocol Buffers (`application/x-protobuf`).
        case protobuf
        /// JSON (`application/json`).
        case json
    }

    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The encoding of requests.
    public var encoding: Encoding
    /// The attributes of the resource, which describe the sender: at least `service.name`.
    public var resource: [OTLPLog.Attribute]
    /// The time limit of a request.
    public var timeout: Duration
    /// The delivery policy: when a batch is due, and its largest size.
    public var policy: DeliveryPolicy
    /// Additional headers of every request, for example a credential.
    public var headers: HTTPHeaders
    /// Maps a sample to a record; nil leaves the sample out, which then counts as delivered. Must return the same value
    /// in every attempt. Without this function, an ``OTLPMapping`` maps whole batches.
    public var mapping: (@Sendable (SampleRecord) -> OTLPRecord?)?

    /// Creates a configuration; by default in Protocol Buffers, for the service `instrument`, with batches of up to 500
    /// samples that wait at most 5 s, and with ``OTLPMapping``.
    public init(
        name: BackendName = "otlp",
        encoding: Encoding = .protobuf,
        resource: [OTLPLog.Attribute] = [OTLPLog.Attribute("service.name", "instrument")],
        timeout: Duration = .seconds(30),
        policy: DeliveryPolicy = DeliveryPolicy(maxCount: 500, maxBytes: 1 << 20),
        headers: HTTPHeaders = HTTPHeaders(),
        mapping: (@Sendable (SampleRecord) -> OTLPRecord?)? = nil
    ) {
        self.name = name
        self.encoding = encoding
        self.resource = resource
        self.timeout = timeout
        self.policy = policy
        self.headers = headers
        self.mapping = mapping
    }
}
