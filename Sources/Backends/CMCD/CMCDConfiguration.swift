public import Instrument
public import InstrumentCMCD
public import InstrumentHTTP

/// How a ``CMCDBackend`` sends.
public struct CMCDConfiguration: Sendable {
    /// The name under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// The time limit of a request.
    public var timeout: Duration
    /// The delivery policy: when a batch is due, and its largest size.
    public var policy: DeliveryPolicy
    /// Additional headers of every request, for example a credential.
    public var headers: HTTPHeaders
    /// Maps a sample to a report; nil leaves the sample out, which then counts as delivered. Must return the same value
    /// in every attempt. The backend sets `sn`.
    public var mapping: @Sendable (SampleRecord) -> CMCDReport?

    /// Creates a configuration; by default batches have up to 100 samples, wait at most 5 s, and use ``CMCDMapping``.
    public init(
        name: BackendName = "cmcd",
        timeout: Duration = .seconds(30),
        policy: DeliveryPolicy = DeliveryPolicy(),
        headers: HTTPHeaders = HTTPHeaders(),
        mapping: @escaping @Sendable (SampleRecord) -> CMCDReport? = { CMCDMapping()($0) }
    ) {
        self.name = name
        self.timeout = timeout
        self.policy = policy
        self.headers = headers
        self.mapping = mapping
    }
}
