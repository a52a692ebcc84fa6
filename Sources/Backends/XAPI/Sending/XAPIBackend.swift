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
/// What becomes of a batch:
/// - what ``XAPIMapping`` has nothing to say of has arrived, and so has what is meant for another service;
/// - what breaks a rule of xAPI is never sent, and becomes a dead letter whose reason names the rules;
/// - a statement whose time lies in the future is not sent before it; if that is more than a day ahead, it becomes a dead
///   letter;
/// - the rest goes in one request. 200 and 204 acknowledge it, however many identifiers come back;
/// - after 409 the LRS is asked for each: what it has and is the same has arrived, the rest goes once more, and one that is
///   another becomes a dead letter;
/// - after another refusal the queue halves the batch until one sample is left, whose statements then go one by one: the
///   sample becomes a dead letter with the LRS's words, and a retry sends what was refused, byte for byte, and nothing else;
/// - a refusal changes nothing of what is said of later samples: the mapping remembers a refused sample like any other;
/// - identifiers, times and bytes are the same at every attempt, also after a crash.
///
/// What the mapping remembers, and refused statements, are saved before the batch is acknowledged; where that fails, the
/// queue tries again and nothing is sent twice. ``XAPIStateStore/removeAll()`` forgets both, for a person whose samples are
/// erased.
///
/// Source: xAPI 1.0.3, Communication; IEEE 9274.1.1-2023.
public final class XAPIBackend: Backend {
    static let addressee = "xapi"

    private let configuration: XAPIConfiguration
    private let mapping: any XAPIMapping
    private let delivery: StatementDelivery
    private let shelf: MemoryShelf
    private let clock: any SchedulingClock

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - configuration: the LRS, and how to speak to it.
    ///   - mapping: what is said of a sample.
    ///   - transport: sends.
    ///   - memory: keeps what the mapping remembers. With the one in memory, a video session that is under way when the process
    ///     ends is not gone on with.
    ///   - clock: the calendar, for a `Retry-After` that is a date and for times that lie in the future.
    ///   - report: is told what was mended; called from the backend's thread.
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

    /// As configured.
    public var name: BackendName { configuration.name }
    /// As configured.
    public var policy: DeliveryPolicy { configuration.policy }

    /// Sends what the batch is worth.
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
