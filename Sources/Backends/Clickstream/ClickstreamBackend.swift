public import Instrument
public import InstrumentHTTP

/// Sends samples to a clickstream service: `POST` to the environment's endpoint, a JSON array of ``ClickstreamAction``.
///
/// ```swift
/// let backend = try ClickstreamBackend(delegate: delegate, transport: SystemTransport())
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], store: store)
/// ```
///
/// | header | value |
/// |---|---|
/// | `Content-Type` | `application/json` |
/// | `User-Agent` | the delegate's |
/// | `Idempotency-Key` | 32 hexadecimal digits, the same whenever the same samples are sent |
///
/// Any status 2xx is success; `DeliveryRules` and the table of `DeliveryOutcome` define the other statuses. The
/// queue delivers no sample that is for another service.
public final class ClickstreamBackend: Backend {
    /// As configured.
    public var name: BackendName { configuration.name }
    /// As configured, with batches of the delegate's size.
    public let policy: DeliveryPolicy
    /// `clickstream`, with any ``name``.
    public var service: ServiceName? { .clickstream }
    private let endpoint: HTTPURL
    private let headers: HTTPHeaders
    private let configuration: ClickstreamConfiguration
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock

    /// Creates a backend; the delegate's environment, user agent and batch size are read now.
    ///
    /// - Parameters:
    ///   - delegate: answers for the app.
    ///   - transport: sends requests.
    ///   - configuration: how it sends.
    ///   - clock: tells the calendar time, for a `Retry-After` that is a date.
    /// - Throws: `HTTPError` with the code `invalidHeader` if the user agent cannot be sent.
    public init(
        delegate: any ClickstreamDelegate,
        transport: any HTTPTransport,
        configuration: ClickstreamConfiguration = ClickstreamConfiguration(),
        clock: any SchedulingClock = SystemClock()
    ) throws(HTTPError) {
        var headers = configuration.headers
        try headers.set("Content-Type", "application/json")
        try headers.set("User-Agent", delegate.userAgent)
        self.headers = headers
        endpoint = delegate.environment.endpoint
        let waitsForGood = configuration.threshold != nil && configuration.maxDelay <= .zero
        policy = DeliveryPolicy(
            maxCount: delegate.preferredBatchSize,
            maxBytes: configuration.maxBytes,
            maxAge: waitsForGood ? .seconds(10 * 365 * 86_400) : configuration.maxDelay,
            dueCount: configuration.threshold
        )
        self.configuration = configuration
        self.transport = transport
        self.clock = clock
    }

    /// Sends the batch in one request; a batch of which nothing is to be sent counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let pairs = batch.records.compactMap { [mapping = configuration.mapping] record in
            mapping(record).map { (id: record.id, action: $0) }
        }
        if pairs.isEmpty { return .acknowledged }
        do throws(HTTPError) {
            let request = try request(pairs.map(\.action), key: IdempotencyKey.key(of: pairs.map(\.id)))
            return await transport.deliver(request, clock: clock, rules: configuration.rules)
        } catch {
            return DeliveryOutcome(error)
        }
    }

    private func request(_ actions: [ClickstreamAction], key: String) throws(HTTPError) -> HTTPRequest {
        var headers = headers
        try headers.set("Idempotency-Key", key)
        let body = ClickstreamAction.body(of: actions)
        return HTTPRequest(.post, endpoint, headers: headers, body: body, timeout: configuration.timeout)
    }
}

extension ServiceName {
    /// The service of ``ClickstreamBackend`` and ``Clickstream``.
    static let clickstream: Self = "clickstream"
}
