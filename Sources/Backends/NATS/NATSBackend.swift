public import Instrument
internal import InstrumentHTTP
internal import InstrumentSockets
internal import InstrumentTLS

/// Publishes samples to a stream of NATS JetStream.
///
/// ```swift
/// let endpoint = try NATSEndpoint(servers: ["127.0.0.1"], subject: "samples")
/// let backend = try NATSBackend(endpoint)
/// ```
///
/// A sample counts as delivered once the stream has confirmed that it stores the message. The message's identifier
/// (`Nats-Msg-Id`) is that of the sample, so a stream stores a message that is sent again only once, within its
/// duplicate window.
///
/// | answer | meaning |
/// |---|---|
/// | confirmation, also of a duplicate | delivered |
/// | larger than the server's `max_payload` | a dead letter |
/// | error 4xx of JetStream | a dead letter with the server's words, for example above the stream's `max_msg_size` |
/// | no stream has the subject, login or certificate not accepted | retry with a long back-off, until an operator changes that |
/// | error 5xx of JetStream, broken connection, no confirmation within the timeout | retry, with another server of the cluster |
public final class NATSBackend: Backend {
    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `nats`, with any ``name``.
    public var service: ServiceName? { "nats" }

    private let subject: String
    private let configuration: NATSConfiguration
    private let connection: NATSConnection
    private let accepted = AcceptedSamples()

    /// Creates a backend; it connects when the first batch is due.
    ///
    /// - Parameters:
    ///   - endpoint: servers, subject, TLS and login.
    ///   - configuration: how it publishes.
    ///   - randomness: chooses the subject of confirmations.
    /// - Throws: ``NATSError`` with the code `invalidCertificate` if a file of TLS cannot be read.
    public init(
        _ endpoint: NATSEndpoint,
        configuration: NATSConfiguration = NATSConfiguration(),
        randomness: RandomSource = RandomSource()
    ) throws(NATSError) {
        if let tls = endpoint.tls {
            do throws(SocketError) { _ = try TLSContext.client(tls) } catch {
                throw NATSError(.invalidCertificate, error.description)
            }
        }
        subject = endpoint.subject
        self.configuration = configuration
        connection = NATSConnection(endpoint, configuration, randomness)
    }

    /// Publishes the batch and waits for its confirmations; a batch without messages counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        let messages = messages(of: accepted.remaining(of: batch))
        let (outcome, stored) = messages.isEmpty ? (.acknowledged, []) : await connection.deliver(messages)
        switch outcome {
        case .acknowledged, .acknowledgedExcept: accepted.settle(batch)
        default: accepted.insert(stored)
        }
        return outcome
    }

    /// Closes the connection.
    public func end() async { await connection.close() }

    private func messages(of records: [SampleRecord]) -> [OutgoingMessage] {
        if let mapping = configuration.mapping {
            return records.compactMap { record in mapping(record).map { outgoing($0, of: record) } }
        }
        return zip(records, NATSMapping.messages(of: records)).map { outgoing($1, of: $0) }
    }

    private func outgoing(_ message: NATSMessage, of record: SampleRecord) -> OutgoingMessage {
        let id = NATSMessage.Header("Nats-Msg-Id", record.id.description)
        return OutgoingMessage(
            id: record.id,
            subject: message.subject ?? subject,
            headers: ClientCommands.headers([id] + message.headers),
            payload: message.payload
        )
    }
}
