/// Where samples go. Buffering, batching, retry, splitting and the ledger come from the shared queue.
///
/// ```swift
/// struct Printer: Backend {
///     let name: BackendName = "printer"
///     func deliver(_ batch: Batch) async -> DeliveryOutcome {
///         for record in batch.records { print(record.sample) }
///         return .acknowledged
///     }
/// }
/// ```
public protocol Backend: Sendable {
    /// The name under which the queue keeps this backend's place; unique in an instrument and the same at every run.
    var name: BackendName { get }
    /// When a batch is due and how large it may be; read once, when the backend is added.
    var policy: DeliveryPolicy { get }
    /// Whether the backend is of this run alone: the queue keeps no place for it beyond the process, so that what it was not
    /// sent by then is not kept for it. Read once, when the backend is added.
    var isEphemeral: Bool { get }
    /// The service that the backend sends to; nil, the default, for a backend that takes every sample.
    ///
    /// The queue delivers no sample that was appended for another service (``BatchQueue/append(_:for:)``), and counts it as
    /// acknowledged in the backend's ledger. A backend that sends samples to other people's machines names its service; a
    /// console or a file, which stays on this machine, names none. Read once, when the backend is added.
    var service: ServiceName? { get }
    /// Delivers a batch and returns the outcome. Called for one batch at a time; may be called again with the same
    /// records, which then have the same identifiers.
    ///
    /// Runs on a thread of the backend's own and may block it: no other backend waits. Its task is cancelled when the policy's
    /// time is up, or when the queue shuts down and may wait no longer: answer ``DeliveryOutcome/retry(after:reason:)`` then.
    func deliver(_ batch: Batch) async -> DeliveryOutcome
    /// How long waiting samples may wait for more samples, from now on; nil, the default, leaves that to the policy.
    ///
    /// For a service whose rules look at the last delivery and not at the oldest sample. Never makes a sample wait longer than
    /// the policy's ``DeliveryPolicy/maxAge``. Called on the backend's thread whenever the queue looks at what waits; must not
    /// block.
    func patience() -> Duration?
    /// The instrument is ready.
    func ready()
    /// Its service ended: it was removed or the instrument shut down; nothing more will be delivered.
    func end() async
}

extension Backend {
    /// The default policy.
    public var policy: DeliveryPolicy { DeliveryPolicy() }
    /// False: what a process did not deliver, the next one delivers.
    public var isEphemeral: Bool { false }
    /// nil: the backend takes every sample.
    public var service: ServiceName? { nil }
    /// The policy alone counts.
    public func patience() -> Duration? { nil }
    /// Does nothing.
    public func ready() {}
    /// Does nothing.
    public func end() async {}
}

/// A backend's name.
public struct BackendName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The spelling.
    public let description: String
    /// Creates a name.
    public init(_ spelling: String) { description = spelling }
    /// Creates a name.
    public init(stringLiteral spelling: String) { description = spelling }
}

/// When a batch is due, whichever comes first, and how large it may be.
public struct DeliveryPolicy: Hashable, Sendable {
    /// The most samples in a batch; at least one.
    public var maxCount: Int
    /// How many waiting samples start a delivery, of all of them, in as many batches as it takes; nil: as many as a
    /// batch has.
    public var dueCount: Int?
    /// The most bytes in a batch, by the store's measure; one sample that is larger goes alone.
    public var maxBytes: Int
    /// How long a sample may wait for company.
    public var maxAge: Duration
    /// How long a delivery may take before its task is cancelled; the outcome that the backend then returns counts. nil: no limit, for
    /// backends that see to it themselves.
    public var timeout: Duration?
    /// Whether nothing can be delivered without a network; see ``Reachability``.
    public var needsNetwork: Bool

    /// Creates a policy; by default 100 samples, 256 KiB or 5 s, over a network, within 60 s.
    public init(
        maxCount: Int = 100,
        maxBytes: Int = 256 << 10,
        maxAge: Duration = .seconds(5),
        timeout: Duration? = .seconds(60),
        needsNetwork: Bool = true,
        dueCount: Int? = nil
    ) {
        self.maxCount = max(1, maxCount)
        self.maxBytes = max(1, maxBytes)
        self.maxAge = max(.zero, maxAge)
        self.timeout = timeout.map { max(.zero, $0) }
        self.needsNetwork = needsNetwork
        self.dueCount = dueCount.map { max(1, $0) }
    }
}

/// Samples for one backend, in the order in which they were emitted.
public struct Batch: Hashable, Sendable {
    /// The samples with their numbers; never empty.
    public let records: [SampleRecord]

    /// Creates a batch.
    public init(records: [SampleRecord]) { self.records = records }
}

/// A sample in the queue's log.
public struct SampleRecord: Hashable, Sendable {
    /// Its identifier, the same at every attempt.
    public let id: SampleID
    /// Its number in the log: 0, 1, 2 …, the same for every backend and at every attempt.
    public let sequence: UInt64
    /// The sample, without the service's name.
    public let sample: Sample
    /// The service that the sample was appended for; nil for a sample that is for every backend.
    public let service: ServiceName?

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - id: the sample's identifier.
    ///   - sequence: the sample's number in the log.
    ///   - sample: the sample, also as a store received it from ``SampleStore/append(_:)``: the record takes the service's
    ///     name out of the sample.
    ///   - service: the service that the sample is for; nil leaves the service that the stored sample names.
    public init(id: SampleID, sequence: UInt64, sample: Sample, service: ServiceName? = nil) {
        self.id = id
        self.sequence = sequence
        var sample = sample
        let storedService = sample.removeService()
        self.sample = sample
        self.service = service ?? storedService
    }

    /// The sample as a store keeps it, with the service's name.
    package var storedSample: Sample { sample.addressed(to: service) }

    /// Whether a backend of `service` receives the sample.
    func isMeant(for service: ServiceName?) -> Bool {
        self.service == nil || service == nil || self.service == service
    }
}
