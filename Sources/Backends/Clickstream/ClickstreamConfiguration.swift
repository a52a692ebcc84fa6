public import Instrument
public import InstrumentHTTP

/// How a ``ClickstreamBackend`` sends.
public struct ClickstreamConfiguration: Sendable {
    /// Under which the queue keeps the backend's place; the same at every run.
    public var name: BackendName
    /// How many saved events start a send of all that wait, in as many batches as it takes. They are counted in the
    /// queue, so that the count outlives a restart. nil: as ``maxDelay`` says.
    public var threshold: Int?
    /// The longest time that an event waits for a full batch. Without a ``threshold``, zero: every saved event starts a
    /// send; otherwise a full batch does, and at the latest this time. With a batch size, zero means that actions wait
    /// until the batch is full.
    public var maxDelay: Duration
    /// The largest number of bytes in a request, by the store's measure; an event that is larger goes alone.
    public var maxBytes: Int
    /// The timeout of a request.
    public var timeout: Duration
    /// Additional headers of every request, for example a credential. Headers that the backend sets take precedence.
    public var headers: HTTPHeaders
    /// The meaning of some response statuses. A service that answers 409 to a batch that it already has needs
    /// `conflictMeansDelivered`; without it such an event becomes a dead letter.
    public var rules: DeliveryRules
    /// Maps a sample to an action; nil leaves the sample out, which then counts as delivered. Must return the same
    /// value in every attempt.
    public var mapping: @Sendable (SampleRecord) -> ClickstreamAction?

    /// Creates a configuration; by default each event is sent at once, requests have up to 256 KiB and take up to 30 s,
    /// and events and metrics are sent.
    public init(
        name: BackendName = "clickstream",
        threshold: Int? = nil,
        maxDelay: Duration = .zero,
        maxBytes: Int = 256 << 10,
        timeout: Duration = .seconds(30),
        headers: HTTPHeaders = HTTPHeaders(),
        rules: DeliveryRules = DeliveryRules(),
        mapping: @escaping @Sendable (SampleRecord) -> ClickstreamAction? = { ClickstreamMapping.all($0) }
    ) {
        self.name = name
        self.threshold = threshold
        self.maxDelay = maxDelay
        self.maxBytes = maxBytes
        self.timeout = timeout
        self.headers = headers
        self.rules = rules
        self.mapping = mapping
    }
}
