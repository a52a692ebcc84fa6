public import Instrument
internal import InstrumentCompression
public import InstrumentHTTP

/// Writes samples to InfluxDB 1, 2 or 3, and to servers that accept its line protocol, such as VictoriaMetrics.
///
/// ```swift
/// let url = try HTTPURL("http://127.0.0.1:8086")
/// let backend = try InfluxBackend(
///     InfluxEndpoint(url: url, database: "media", credentials: .basic(user: "writer", password: password)),
///     transport: SystemTransport()
/// )
/// ```
///
/// A point that is written twice replaces itself, because the same sample always has the same measurement, tags and
/// time. The nanoseconds below a millisecond are the sample's own, so that samples of the same millisecond do not
/// replace each other.
///
/// | answer | meaning |
/// |---|---|
/// | 2xx | written |
/// | 400 or 422 with "partial write" | the points that the answer names become dead letters, the others are written |
/// | others | as for every HTTP backend (`DeliveryOutcome`); 404, because the database or the bucket does not exist, is retried until somebody creates it |
public final class InfluxBackend: Backend {
    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `influx`, with any ``name``.
    public var service: ServiceName? { "influx" }
    /// The changes in written samples so far, because the line protocol or the server's limits do not allow the
    /// original values.
    public var alterations: [Alteration: Int] { log.counts }

    private let url: HTTPURL
    private let headers: HTTPHeaders
    private let configuration: InfluxConfiguration
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let log: AlterationLog
    /// One batch at a time is delivered; the lock is free whenever a batch is encoded.
    private let encoder: Lock<LineProtocol>

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - endpoint: the address and the credentials.
    ///   - configuration: how it writes.
    ///   - transport: sends requests.
    ///   - clock: tells the calendar time, for a `Retry-After` that is a date.
    ///   - report: receives the alterations of each written batch (`Diagnostic.altered`); called on the backend's
    ///     thread.
    /// - Throws: `HTTPError` with the code `invalidHeader` if the credentials cannot be sent.
    public init(
        _ endpoint: InfluxEndpoint,
        configuration: InfluxConfiguration = InfluxConfiguration(),
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws(HTTPError) {
        var headers = try HTTPHeaders(["Content-Type": "text/plain; charset=utf-8"])
        if let credentials = endpoint.credentials { try headers.set("Authorization", credentials.header) }
        self.headers = headers
        url = endpoint.url
        self.configuration = configuration
        self.transport = transport
        self.clock = clock
        log = AlterationLog(configuration.name, report: report)
        encoder = Lock(LineProtocol(maxTextLength: configuration.maxTextLength))
    }

    /// Writes the batch in one request; a batch without points counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let (lines, body, alterations) = encode(batch)
        if lines.isEmpty { return .acknowledged }
        var request = HTTPRequest(.post, url, headers: headers, body: body, timeout: configuration.timeout)
        if configuration.compresses { request = request.gzipped() }
        let outcome = await transport.deliver(request, clock: clock) { [request] response, outcome in
            rejection(in: response, to: request, lines, body) ?? outcome
        }
        switch outcome {
        case .acknowledged, .acknowledgedExcept: log.record(alterations)
        default: break
        }
        return outcome
    }

    private func encode(_ batch: Batch) -> ([WrittenLine], [UInt8], AlterationCounts) {
        let mapping = configuration.mapping
        return encoder.withLock { encoder in
            encoder.removeAll()
            var lines: [WrittenLine] = []
            for record in batch.records {
                guard let point = mapping(record) else { continue }
                let start = encoder.bytes.count
                guard encoder.append(point, subMillisecond: Self.subMillisecond(of: record)) else { continue }
                // Without the line feed.
                lines.append(WrittenLine(id: record.id, range: start..<(encoder.bytes.count - 1)))
            }
            return (lines, encoder.bytes, encoder.alterations)
        }
    }

    /// Different for a million samples in a row of a log, and the same at each attempt.
    private static func subMillisecond(of record: SampleRecord) -> Int64 {
        Int64((record.id.log &+ record.sequence) % 1_000_000)
    }

    /// The outcome of answers that mean something else than from other servers; nil for all others.
    private func rejection(
        in response: HTTPResponse,
        to request: HTTPRequest,
        _ lines: [WrittenLine],
        _ body: [UInt8]
    ) -> DeliveryOutcome? {
        switch response.status {
        case 400, 422:
            guard let rejection = WriteRejection(response.body), rejection.isPartial else { return nil }
            let rejected = rejection.rejected(among: lines, of: body)
            if rejected.isEmpty { return nil }
            return .acknowledgedExcept(
                rejected.mapValues { words in
                    "HTTP \(response.status): " + (ServerWords.words(words, to: request) ?? "partial write")
                }
            )
        default: return nil
        }
    }
}

/// A line of a request, and the sample that it is of.
struct WrittenLine {
    let id: SampleID
    /// The bytes of the line in the body, without the line feed.
    let range: Range<Int>
}
