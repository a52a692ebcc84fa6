/// A destination of samples. The shared queue buffers, batches, retries, splits, and keeps the ledger.
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
    /// The name of the backend's cursor in the queue; unique in an instrument and the same in every run.
    var name: BackendName { get }
    /// The policy that decides when a batch is due and how large it may be; read once, when the backend is added.
    var policy: DeliveryPolicy { get }
    /// Whether the backend exists in this run only: the queue keeps no cursor for it beyond the process, and no
    /// undelivered samples. Read once, when the backend is added.
    var isEphemeral: Bool { get }
    /// The service that the backend sends to; nil, the default, for a backend that takes every sample.
    ///
    /// The queue delivers no sample that was appended for another service (``BatchQueue/append(_:for:)``), and counts
    /// it as acknowledged in the backend's ledger. A backend that sends samples to other people's machines names its
    /// service; a console or a file, which stays on this machine, names none. Read once, when the backend is added.
    var service: ServiceName? { get }
    /// Delivers a batch and returns the outcome. Called for one batch at a time; may be called again with the same
    /// records, which then have the same identifiers.
    ///
    /// Runs on the thread of the backend's lane and may block it: no other backend waits. The queue cancels the task
    /// at the policy's timeout, or at the deadline of a shutdown: return ``DeliveryOutcome/retry(after:reason:)``
    /// then.
    func deliver(_ batch: Batch) async -> DeliveryOutcome
    /// Delivers a batch with a view of the samples that wait behind it, which the queue calls instead of
    /// ``deliver(_:)``. The default ignores the view.
    ///
    /// For a backend that sends samples to many servers, of which one may be down: the backend may send samples that
    /// wait behind the batch, and must then recognize them when their batch comes. The queue forgets nothing by it: a
    /// process that ends in between sends them again.
    func deliver(_ batch: Batch, before queued: QueuedSamples) async -> DeliveryOutcome
    /// Returns the time that queued samples may wait for more samples, from now on; nil, the default, uses the
    /// policy.
    ///
    /// For a service whose rules depend on the last delivery instead of the oldest sample. Never extends the wait
    /// beyond the policy's ``DeliveryPolicy/maxAge``. Called on the lane's thread whenever the queue decides about a
    /// delivery; must not block.
    func patience() -> Duration?
    /// The instrument is ready.
    func ready()
    /// The backend was removed or the instrument shut down; the queue delivers nothing more.
    func end() async
}

extension Backend {
    /// The default policy.
    public var policy: DeliveryPolicy { DeliveryPolicy() }
    /// False: the next process delivers samples that this process did not deliver.
    public var isEphemeral: Bool { false }
    /// Nil: the backend takes every sample.
    public var service: ServiceName? { nil }
    /// Delivers the batch alone.
    public func deliver(_ batch: Batch, before queued: QueuedSamples) async -> DeliveryOutcome { await deliver(batch) }
    /// Nil: only the policy applies.
    public func patience() -> Duration? { nil }
    /// Does nothing.
    public func ready() {}
    /// Does nothing.
    public func end() async {}
}

/// A backend that sends only some of the samples that it receives, and passes over the others.
package protocol SelectiveBackend: Backend {
    /// Whether the backend sends the sample.
    func sends(_ record: SampleRecord) -> Bool
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

/// The conditions for a delivery, of which the first to be met decides, and the limits of a batch.
public struct DeliveryPolicy: Hashable, Sendable {
    /// The largest number of samples in a batch; at least one.
    public var maxCount: Int
    /// The backlog size that triggers delivery of the whole backlog, in as many batches as needed; nil takes the size
    /// of a batch.
    public var dueCount: Int?
    /// The largest number of bytes in a batch, as the store counts them; a larger sample is delivered alone.
    public var maxBytes: Int
    /// The longest time that a sample waits for a full batch.
    public var maxAge: Duration
    /// The time limit of a delivery, after which its task is cancelled; the outcome that the backend then returns
    /// applies. Nil sets no limit, for backends with their own timeout.
    public var timeout: Duration?
    /// Whether delivery needs a network; see ``Reachability``.
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
    /// The identifier, the same at every attempt.
    public let id: SampleID
    /// The number in the log: 0, 1, 2 …, the same for every backend and at every attempt.
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
    ///   - sample: the sample, also as a store received it from ``SampleStore/append(_:)``: the record removes the
    ///     service's name from the sample.
    ///   - service: the service of the sample; nil keeps the service that the stored sample names.
    public init(id: SampleID, sequence: UInt64, sample: Sample, service: ServiceName? = nil) {
        self.id = id
        self.sequence = sequence
        guard sample.hasService else {
            self.sample = sample
            self.service = service
            return
        }
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
