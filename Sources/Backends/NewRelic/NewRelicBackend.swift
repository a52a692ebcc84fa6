public import Instrument
internal import InstrumentCompression
public import InstrumentHTTP

/// Sends events to New Relic's Event API and metrics to its Metric API.
///
/// ```swift
/// let backend = try NewRelicBackend(
///     NewRelicEndpoint(accountID: "1234567", region: .eu),
///     key: licenseKey,
///     transport: SystemTransport()
/// )
/// ```
///
/// A batch is up to two requests. If one of them fails, only that one is sent again. Both services answer before they
/// look into a request: what they then do not store they report as `NrIntegrationError` in the account, and nowhere
/// else. The backend therefore keeps every published limit before it sends, and reports each change
/// (`Diagnostic.altered`). New Relic takes no events older than two days; samples of a longer time offline are lost
/// there.
public final class NewRelicBackend: Backend {
    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `newrelic`, with any ``name``.
    public var service: ServiceName? { "newrelic" }
    /// The changes in sent samples so far, because the service's limits do not allow the original values.
    public var alterations: [Alteration: Int] { log.counts }

    private let endpoint: NewRelicEndpoint
    private let headers: HTTPHeaders
    private let configuration: NewRelicConfiguration
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let log: AlterationLog
    private let accepted = AcceptedSamples()
    private let encoder = Lock(NewRelicEncoder())

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - endpoint: the addresses of the account.
    ///   - key: a license key (Event API and Metric API). Never logged.
    ///   - configuration: how it sends.
    ///   - transport: sends requests.
    ///   - clock: tells the calendar time, for a `Retry-After` that is a date.
    ///   - report: receives the alterations of each accepted request; called on the backend's thread.
    /// - Throws: `HTTPError` with the code `invalidHeader` if the key cannot be sent.
    public init(
        _ endpoint: NewRelicEndpoint,
        key: String,
        configuration: NewRelicConfiguration = NewRelicConfiguration(),
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws(HTTPError) {
        var headers = try HTTPHeaders(["Content-Type": "application/json"])
        try headers.set("Api-Key", key, isSecret: true)
        self.headers = headers
        self.endpoint = endpoint
        self.configuration = configuration
        self.transport = transport
        self.clock = clock
        log = AlterationLog(configuration.name, report: report)
    }

    /// Sends the events and the metrics of the batch; a batch without any counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var (events, metrics) = ([(SampleID, NewRelicEvent)](), [(SampleID, NewRelicMetric)]())
        for record in accepted.remaining(of: batch) {
            switch configuration.mapping(record) {
            case .event(let event): events.append((record.id, event))
            case .metric(let metric): metrics.append((record.id, metric))
            case nil: break
            }
        }
        var outcomes: [DeliveryOutcome] = []
        if !events.isEmpty {
            let (body, alterations) = encoder.withLock { ($0.body(of: events.map(\.1)), $0.alterations) }
            outcomes.append(await send(body, to: endpoint.events, of: events.map(\.0), alterations))
        }
        if !metrics.isEmpty {
            let (body, alterations) = encoder.withLock { ($0.body(of: metrics.map(\.1)), $0.alterations) }
            outcomes.append(await send(body, to: endpoint.metrics, of: metrics.map(\.0), alterations))
        }
        if let failure = outcomes.first(where: { $0 != .acknowledged }) { return failure }
        accepted.settle(batch)
        return .acknowledged
    }

    private func send(
        _ body: [UInt8],
        to url: HTTPURL,
        of ids: [SampleID],
        _ alterations: AlterationCounts
    ) async -> DeliveryOutcome {
        if body.count > NewRelicLimits.bodyBytes {
            return .tooLarge(reason: "\(body.count) bytes, of which New Relic accepts \(NewRelicLimits.bodyBytes)")
        }
        let request = HTTPRequest(.post, url, headers: headers, body: body, timeout: configuration.timeout).gzipped()
        let outcome = await transport.deliver(request, clock: clock)
        if outcome == .acknowledged {
            accepted.insert(ids)
            log.record(alterations)
        }
        return outcome
    }
}
