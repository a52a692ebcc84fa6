public import Instrument
public import InstrumentHTTP
internal import InstrumentJSON
internal import InstrumentXAPI

/// Sends samples to Seer. The shared queue handles back-off, retries and dead letters; ``SeerClient`` sends an
/// app's own payloads.
///
/// A batch of the queue is split into requests by type and by ``SeerConfiguration/maxBatchBytes``. If a later
/// request fails, payloads that arrived are not sent a second time, unless the process crashes in between;
/// payloads keep their identifiers.
public final class SeerBackend: Backend {
    private struct Entry {
        let id: SampleID
        let payload: SeerPayload
        let bytes: [UInt8]
    }

    /// The value from the initializer.
    public let name: BackendName
    /// The value from the initializer.
    public let policy: DeliveryPolicy
    /// `seer`, with any ``name``.
    public let service: ServiceName? = "seer"
    private let configuration: SeerConfiguration
    private let session: SeerSession
    private let mapping: @Sendable (SampleRecord) -> SeerPayload?
    /// The samples that arrived in a batch that the queue will repeat.
    private let arrived = Lock<Set<SampleID>>([])

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - configuration: the address and settings of the service.
    ///   - credentials: the credentials of the app.
    ///   - transport: sends the requests.
    ///   - name: the name under which the queue keeps the backend's place.
    ///   - policy: the policy for batches.
    ///   - clock: measures the lifetime of tokens.
    ///   - mapping: returns the payload of a sample, the same each time. A sample without a payload counts as
    ///     delivered. See ``SeerMapping``.
    public init(
        _ configuration: SeerConfiguration,
        credentials: SeerCredentials,
        transport: any HTTPTransport,
        name: BackendName = "seer",
        policy: DeliveryPolicy = DeliveryPolicy(maxBytes: 102_400),
        clock: any SchedulingClock = SystemClock(),
        mapping: @escaping @Sendable (SampleRecord) -> SeerPayload?
    ) {
        self.name = name
        self.policy = policy
        self.configuration = configuration
        self.mapping = mapping
        session = SeerSession(configuration, credentials, transport, clock)
    }

    /// Sends the payloads of a batch. An invalid payload is never sent: its sample becomes a dead letter that
    /// names the rules.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var (entries, refused): ([Entry], [SampleID: String]) = ([], [:])
        let known = arrived.withLock { $0 }
        for record in batch.records where !known.contains(record.id) {
            guard let payload = mapping(record) else { continue }
            let failures = payload.failures(isStrict: configuration.isStrict)
            if failures.isEmpty {
                entries.append(Entry(id: record.id, payload: payload, bytes: payload.json.bytes))
            } else {
                refused[record.id] = failures.map { "\($0.rule) at \($0.path)" }.joined(separator: "; ")
            }
        }
        for kind in SeerPayload.Kind.allCases {
            if let outcome = await send(entries.filter { $0.payload.kind == kind }, kind) { return outcome }
        }
        // After the queue has halved a batch, the arrived samples of the other half are still needed.
        arrived.withLock { $0.subtract(batch.records.map(\.id)) }
        return refused.isEmpty ? .acknowledged : .acknowledgedExcept(refused)
    }

    /// Sends payloads of one type; returns nil once all have arrived.
    private func send(_ entries: [Entry], _ kind: SeerPayload.Kind) async -> DeliveryOutcome? {
        let hasBatches = configuration.endpoints.paths[kind.batchEndpoint] != nil
        var rest = entries[...]
        while let first = rest.first {
            let fitting = kind.count(of: rest.lazy.map(\.bytes.count), fitting: configuration.maxBatchBytes)
            let chosen = rest.prefix(hasBatches ? max(1, fitting) : 1)
            let isAlone = !hasBatches || fitting == 0
            let outcome = await session.post(
                isAlone ? first.bytes : kind.body(of: chosen.map(\.bytes)),
                to: isAlone ? kind.endpoint : kind.batchEndpoint
            ).outcome
            guard outcome == .acknowledged else { return outcome }
            arrived.withLock { $0.formUnion(chosen.map(\.id)) }
            rest = rest.dropFirst(chosen.count)
        }
        return nil
    }
}
