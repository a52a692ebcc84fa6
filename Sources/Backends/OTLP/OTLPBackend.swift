public import Instrument
internal import InstrumentCompression
public import InstrumentHTTP

/// Sends events as log records and metrics as metrics to a receiver of the OpenTelemetry Protocol (OTLP over HTTP).
///
/// ```swift
/// let backend = try OTLPBackend(HTTPURL("http://127.0.0.1:4318"), transport: SystemTransport())
/// ```
///
/// A batch is up to two requests, to `/v1/logs` and `/v1/metrics`. If one of them fails, only that one is sent again.
/// Metrics are deltas over the samples of a batch, so a receiver that stored a request whose answer was lost counts its
/// metrics twice; copies of log records have the same `log.record.uid`.
///
/// | answer | meaning |
/// |---|---|
/// | 200 | accepted |
/// | 200 with rejected records | the queue searches for the rejected samples by halves, because the answer names none; they become dead letters, and the accepted samples of such a batch are sent again |
/// | others | as for every HTTP backend (`DeliveryOutcome`) |
public final class OTLPBackend: Backend {
    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `otlp`, with any ``name``.
    public var service: ServiceName? { "otlp" }

    private let logs: HTTPURL
    private let metrics: HTTPURL
    private let headers: HTTPHeaders
    private let configuration: OTLPConfiguration
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let accepted = AcceptedSamples()

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - endpoint: the receiver's address, to which `/v1/logs` and `/v1/metrics` are added.
    ///   - configuration: how it sends.
    ///   - transport: sends requests.
    ///   - clock: tells the calendar time, for a `Retry-After` that is a date.
    /// - Throws: `HTTPError` if an address cannot be formed.
    public init(
        _ endpoint: HTTPURL,
        configuration: OTLPConfiguration = OTLPConfiguration(),
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock()
    ) throws(HTTPError) {
        var path = endpoint.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        logs = try HTTPURL(endpoint.origin + path + "/v1/logs")
        metrics = try HTTPURL(endpoint.origin + path + "/v1/metrics")
        var headers = configuration.headers
        let isJSON = configuration.encoding == .json
        try headers.set("Content-Type", isJSON ? "application/json" : "application/x-protobuf")
        self.headers = headers
        self.configuration = configuration
        self.transport = transport
        self.clock = clock
    }

    /// Sends the log records and the metrics of the batch; a batch without any counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var (delivered, failure) = ([SampleID](), DeliveryOutcome?.none)
        for part in parts(of: accepted.remaining(of: batch)) {
            let outcome = await send(part)
            if outcome == .acknowledged { delivered += part.ids } else { failure = failure ?? outcome }
        }
        if let failure {
            accepted.insert(delivered)
            return failure
        }
        accepted.settle(batch)
        return .acknowledged
    }

    /// A request, and the samples in it.
    private struct Part {
        let url: HTTPURL
        let body: [UInt8]
        let ids: [SampleID]
    }

    private func parts(of records: [SampleRecord]) -> [Part] {
        let messages = OTLPMessages(resource: configuration.resource)
        let isJSON = configuration.encoding == .json
        var (eventIDs, events) = ([SampleID](), [OTLPLog]())
        var (metricIDs, measurements) = ([SampleID](), [OTLPMeasurement]())
        // Without a mapping and in Protocol Buffers, events are written without a record of each.
        let isDirect = configuration.mapping == nil && !isJSON
        let standard = OTLPMapping()
        for record in records {
            if isDirect, case .event = record.sample {
                eventIDs.append(record.id)
                continue
            }
            switch configuration.mapping.map({ $0(record) }) ?? standard(record) {
            case .log(let log):
                eventIDs.append(record.id)
                events.append(log)
            case .measurement(let measurement):
                metricIDs.append(record.id)
                measurements.append(measurement)
            case nil: break
            }
        }
        var parts: [Part] = []
        if !eventIDs.isEmpty {
            let body =
                isDirect
                ? messages.protobuf(ofEventsIn: records, standard)
                : isJSON ? messages.json(of: events) : messages.protobuf(of: events)
            parts.append(Part(url: logs, body: body, ids: eventIDs))
        }
        if !metricIDs.isEmpty {
            let series = OTLPSeries(measurements)
            let body = isJSON ? messages.json(of: series) : messages.protobuf(of: series)
            parts.append(Part(url: metrics, body: body, ids: metricIDs))
        }
        return parts
    }

    private func send(_ part: Part) async -> DeliveryOutcome {
        let request =
            HTTPRequest(.post, part.url, headers: headers, body: part.body, timeout: configuration.timeout).gzipped()
        return await transport.deliver(request, clock: clock) { response, outcome in
            outcome == .acknowledged ? partialOutcome(of: response, to: request) : outcome
        }
    }

    private func partialOutcome(of response: HTTPResponse, to request: HTTPRequest) -> DeliveryOutcome {
        let isJSON = configuration.encoding == .json
        guard let partial = OTLPPartialSuccess(response.body, isJSON: isJSON), partial.rejected > 0 else {
            return .acknowledged
        }
        let words = ServerWords.words(partial.message, to: request) ?? "no reason given"
        return .refused(reason: "rejected by the receiver: \(words)")
    }
}
