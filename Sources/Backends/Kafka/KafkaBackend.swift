public import Instrument
internal import InstrumentBackends

/// Produces samples to a topic of Kafka, or of a system that speaks its protocol, such as Redpanda.
///
/// ```swift
/// let endpoint = try KafkaEndpoint(brokers: ["127.0.0.1:9092"], topic: "samples")
/// let backend = try KafkaBackend(endpoint)
/// ```
///
/// The producer is idempotent and waits for all in-sync replicas (`acks=all`). A sample counts as delivered once the
/// brokers have confirmed its message. The messages of one key arrive in the order of their samples.
///
/// | report | meaning |
/// |---|---|
/// | no error | delivered |
/// | larger than `maxMessageBytes` | a dead letter |
/// | message or record batch too large for the broker | the queue halves the batch; a message that is too large alone becomes a dead letter |
/// | invalid record, policy violation | the queue halves the batch until the refused message is alone; it becomes a dead letter |
/// | not authorized, unknown topic, login refused | retry with a long back-off, until an operator changes that |
/// | all others, and no report within the timeout | retry; messages that have arrived are not produced again |
///
/// A delivery that the queue cancels leaves its messages with the producer for the rest of the timeout; the next
/// attempt waits for them instead of producing them again. A process that ends between a confirmation and the queue's
/// bookkeeping produces a batch again after its restart: consumers remove copies by the header `id`.
public final class KafkaBackend: Backend {
    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `kafka`, with any ``name``.
    public var service: ServiceName? { "kafka" }

    private let configuration: KafkaConfiguration
    private let connection: KafkaConnection
    private let encoder = LineEncoder()

    /// Creates a backend; it connects when the first batch is due.
    ///
    /// - Throws: ``KafkaError`` with the code `invalidSetting` for a property that belongs to the backend or that
    ///   librdkafka refuses, and for a login that would send its password without encryption.
    public init(
        _ endpoint: KafkaEndpoint,
        configuration: KafkaConfiguration = KafkaConfiguration()
    ) throws(KafkaError) {
        let settings = try KafkaSettings(endpoint, configuration)
        try KafkaProducer.check(settings)
        self.configuration = configuration
        connection = KafkaConnection(settings, topic: endpoint.topic)
    }

    /// Produces the batch and waits for its reports; a batch without messages counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        if let mapping = configuration.mapping {
            let mapped = batch.records.compactMap { record in mapping(record).map { (id: record.id, message: $0) } }
            if mapped.isEmpty { return .acknowledged }
            return await connection.deliver([OutgoingMessages(mapped)], of: mapped.map(\.id))
        }
        let records = batch.records
        let parts = stride(from: 0, to: records.count, by: Self.partCount).lazy.map { [encoder] start in
            OutgoingMessages(of: records[start..<min(start + Self.partCount, records.count)], encoder)
        }
        return await connection.deliver(parts, of: records.map(\.id))
    }

    /// The number of messages that are encoded while librdkafka sends those before.
    private static var partCount: Int { 500 }

    /// Ends the producer.
    public func end() async { await connection.close() }
}
