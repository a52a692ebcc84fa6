public import Instrument
internal import InstrumentSockets
internal import InstrumentText

/// Writes metrics to Graphite, or to a server that accepts its plaintext protocol, over one TCP connection.
///
/// ```swift
/// let backend = GraphiteBackend(GraphiteAddress(host: "127.0.0.1"))
/// ```
///
/// The protocol has no answers. A batch counts as delivered once the server's machine has confirmed every byte of it
/// (TCP) and the connection still stands. A server that is killed at that moment may lose such a batch; after a
/// connection that broke in the middle, the whole batch is written again. Both are harmless to stored values: a value
/// for the same path and second replaces itself.
///
/// Graphite stores one value for a path and a second. The backend adds counts of the same second, also across batches
/// of one run; of several readings the last one stays. Where every reading matters, put an aggregator in front of
/// Graphite.
public final class GraphiteBackend: Backend {
    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `graphite`, with any ``name``.
    public var service: ServiceName? { "graphite" }
    /// The changes in written samples so far, because Graphite's paths and times do not allow the original values.
    public var alterations: [Alteration: Int] { log.counts }

    private let configuration: GraphiteConfiguration
    private let connection: GraphiteConnection
    private let log: AlterationLog
    private let sums = Lock(GraphiteSums())

    /// Creates a backend; it connects when the first batch is due.
    ///
    /// - Parameters:
    ///   - address: the server.
    ///   - configuration: how it writes.
    ///   - report: receives the alterations of each written batch (`Diagnostic.altered`); called on the backend's
    ///     thread.
    public init(
        _ address: GraphiteAddress,
        configuration: GraphiteConfiguration = GraphiteConfiguration(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) {
        self.configuration = configuration
        connection = GraphiteConnection(address.hostPort, timeout: configuration.timeout)
        log = AlterationLog(configuration.name, report: report)
    }

    /// Writes the batch; one without points counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var encoder = PlaintextProtocol()
        for record in batch.records {
            if let point = configuration.mapping(record) { encoder.append(point) }
        }
        encoder.finish(adding: sums.withLock { $0 })
        if encoder.bytes.isEmpty {
            log.record(encoder.alterations)
            return .acknowledged
        }
        do throws(SocketError) {
            try await connection.send(encoder.bytes)
        } catch {
            return .retry(after: nil, reason: error.description)
        }
        let added = encoder.sums
        sums.withLock { $0.commit(added) }
        log.record(encoder.alterations)
        return .acknowledged
    }

    /// Closes the connection.
    public func end() async { await connection.close() }
}
