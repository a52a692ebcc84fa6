public import Instrument
public import InstrumentHTTP

/// Sends samples as xAPI statements to a learning record store.
///
/// ```swift
/// let viewer = Statement.Actor.agent(Statement.Agent(.account(homePage: "https://example.org", name: "4711")))
/// let backend = XAPIBackend(
///     XAPIConfiguration(
///         endpoint: try HTTPURL("https://lrs.example.org/xapi"),
///         credentials: .basic(user: key, password: secret)
///     ),
///     mapping: VideoMapping(viewings: Viewings(viewer: viewer)),
///     transport: try SystemTransport(),
///     memory: FileStateStore(root: "/var/lib/my-app/xapi")
/// )
/// ```
///
/// The fate of a batch:
/// - samples without statements count as delivered;
/// - a sample with an invalid statement becomes a dead letter whose reason names the rules; the statement is never
///   sent;
/// - a statement with a time in the future waits for that time; more than a day ahead, it becomes a dead letter;
/// - the other statements are sent in one request. 200 and 204 acknowledge it, with any number of identifiers;
/// - after 409 the backend looks up each statement: equal ones have arrived, missing ones are sent once more, and a
///   different one becomes a dead letter;
/// - after another refusal the queue halves the batch until one sample is left, whose statements are sent one by one:
///   the sample becomes a dead letter with the LRS's reason, and a retry sends only the refused statements, with the
///   same bytes;
/// - a refusal does not change the statements of later samples: a refused sample changes the mapping's memory, too;
/// - identifiers, times and bytes are the same at every attempt, also after a crash.
///
/// The mapping's memories and refused statements are saved before the batch is acknowledged; if that fails, the queue
/// retries, and no statement is sent twice. ``XAPIStateStore/removeAll()`` deletes both, for a person whose samples are
/// erased.
///
/// Source: xAPI 1.0.3, Communication; IEEE 9274.1.1-2023.
public final class XAPIBackend: Backend {
    private let configuration: XAPIConfiguration
    private let mapping: any XAPIMapping
    private let delivery: StatementDelivery
    private let shelf: MemoryShelf
    private let clock: any SchedulingClock

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - configuration: the LRS and its settings.
    ///   - mapping: maps samples to statements.
    ///   - transport: sends the requests.
    ///   - memory: stores the mapping's memories. With the store in memory, a video session does not continue after
    ///     the end of the process.
    ///   - clock: the calendar, for dates in `Retry-After` and for times in the future.
    ///   - report: receives notes on repaired damage; called on the backend's thread.
    public init(
        _ configuration: XAPIConfiguration,
        mapping: any XAPIMapping,
        transport: any HTTPTransport,
        memory: any XAPIStateStore = InMemoryStateStore(),
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.mapping = mapping
        self.clock = clock
        let connection = LRSConnection(configuration: configuration, transport: transport)
        delivery = StatementDelivery(connection: connection, clock: clock)
        shelf = MemoryShelf(memory, report: report)
    }

    /// The name and policy of the configuration.
    public var name: BackendName { configuration.name }
    /// The name and policy of the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `xapi`, with any ``name``.
    public var service: ServiceName? { "xapi" }

    /// Sends the statements of a batch.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        do throws(XAPIStateError) {
            let now = clock.wallTime
            let draft = try StatementDraft(batch, mapping, shelf, configuration.version, now: now)
            if let wait = FutureTimes.wait(until: draft.latest, now: now) { return wait }
            var rejected: [SampleID: String] = [:]
            if !draft.entries.isEmpty {
                switch await delivery.deliver(draft.entries) {
                case .failed(let outcome): return outcome
                case .delivered(let except): rejected = except
                }
            }
            let change = try draft.change(rejecting: rejected, shelf)
            shelf.advance(by: change)
            try shelf.save()
            return change.refused.isEmpty ? .acknowledged : .acknowledgedExcept(change.refused)
        } catch {
            return .retry(after: nil, reason: error.description)
        }
    }
}
