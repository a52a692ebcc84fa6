public import Instrument
internal import InstrumentJSON
public import InstrumentHTTP
internal import InstrumentXAPI

/// Sends samples to Seer. Waiting, retries and dead letters are the shared queue's; ``SeerClient`` is for payloads of an app's own.
///
/// A batch of the queue goes in as many requests as its types and ``SeerConfiguration/maxBatchBytes`` ask for. What one of them
/// has delivered does not go again if a later one fails, but for a crash in between; payloads keep their identifiers.
public final class SeerBackend: Backend {
    private struct Entry {
        let id: SampleID
        let payload: SeerPayload
        let bytes: [UInt8]
    }

    static let addressee = "seer"

    /// As given.
    public let name: BackendName
    /// As given.
    public let policy: DeliveryPolicy
    private let configuration: SeerConfiguration
    private let session: SeerSession
    private let mapping: @Sendable (SampleRecord) -> SeerPayload?
    /// What has arrived of the batch that the queue will give again.
    private let arrived = Lock<Set<SampleID>>([])

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - configuration: the service.
    ///   - credentials: what it knows the app by.
    ///   - transport: sends.
    ///   - name: under which the queue keeps the backend's place.
    ///   - policy: when a batch is due.
    ///   - clock: times tokens.
    ///   - mapping: what is said of a sample, the same each time; nil for what is not said, which counts as delivered. See
    ///     ``SeerMapping``.
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

    /// Sends what the batch is worth; what breaks Seer's rules is never sent, and becomes a dead letter that names them.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var (entries, refused): ([Entry], [SampleID: String]) = ([], [:])
        let known = arrived.withLock { $0 }
        for record in batch.records
        where !known.contains(record.id) && record.sample.isMeant(for: Self.addressee) {
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
        // Of the rest of a batch that the queue has halved, what has arrived is still to be known.
        arrived.withLock { $0.subtract(batch.records.map(\.id)) }
        return refused.isEmpty ? .acknowledged : .acknowledgedExcept(refused)
    }

    /// Nil once all have arrived.
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
