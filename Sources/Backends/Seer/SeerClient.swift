public import Instrument
public import InstrumentHTTP
public import InstrumentXAPI

/// Reports activities, instrumentation and Tin Can statements to Seer, and queues them while the service is
/// unavailable.
///
/// ```swift
/// let client = SeerClient(
///     SeerConfiguration(baseURL: try HTTPURL("https://seer.example.org")),
///     credentials: SeerCredentials(clientID: "my-app", clientSecret: secret),
///     store: try DurableStore(directory: directory + "/seer"),
///     memory: FileStateStore(root: directory + "/seer-state"),
///     transport: try SystemTransport()
/// )
/// client.startSession()
/// client.report(.activity(stream)) { response in print(response.isSuccess) }
/// for await response in client.responses { … }
/// ```
///
/// Every request has one response, which its completion, the delegate, every observer and every sequence of
/// ``responses`` receive once. Requests run one at a time, in order; payloads of a type arrive in the order of
/// the calls. No call waits for the network; ``queue(_:completion:)`` waits for the store.
public final class SeerClient: LifecycleObserver {
    private typealias Work = @Sendable () async -> Void

    private let configuration: SeerConfiguration
    private let courier: SeerCourier
    private let hub = SeerResponses()
    private let requestIDs: SeerRequestIDs
    private let waiting: SeerQueue
    private let work: AsyncStream<Work>.Continuation

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - configuration: the address and settings of the service and of the queue.
    ///   - credentials: the credentials of the app.
    ///   - store: stores queued payloads, for this client alone. Its limits must be wider than those of the
    ///     configuration.
    ///   - memory: stores the number of the latest request.
    ///   - transport: sends the requests.
    ///   - clock: measures the lifetime of tokens, and timestamps stored payloads.
    public init(
        _ configuration: SeerConfiguration,
        credentials: SeerCredentials,
        store: any SampleStore,
        memory: any XAPIStateStore,
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock()
    ) {
        self.configuration = configuration
        let (hub, waiting) = (hub, SeerQueue(store, clock: clock))
        let requestIDs = SeerRequestIDs(memory, floor: waiting.lastRequestID)
        let session = SeerSession(configuration, credentials, transport, clock) { error in
            hub.tell(SeerResponse(.tokenFetch, requestIDs.next(), error: error))
        }
        self.requestIDs = requestIDs
        self.waiting = waiting
        courier = SeerCourier(
            configuration: configuration,
            session: session,
            queue: waiting,
            responses: hub,
            requestIDs: requestIDs
        )
        let (works, work) = AsyncStream.makeStream(of: Work.self)
        self.work = work
        // Outside Swift's pool, which the app may keep busy.
        let executor = LaneExecutor(label: "instrument.seer")
        Task(executorPreference: executor) {
            for await work in works { await work() }
            // The task may outlive the client.
            withExtendedLifetime(executor) {}
        }
    }

    deinit {
        let hub = hub
        work.yield { hub.end() }
        work.finish()
    }

    /// Receives every response; held weakly.
    public var delegate: (any SeerDelegate)? {
        get { hub.delegate }
        set { hub.set(delegate: newValue) }
    }

    /// All responses from now on; the latest 1,000 are buffered. The sequence ends with the client.
    public var responses: AsyncStream<SeerResponse> { hub.stream() }

    /// Calls `handler` for every response, until the observation is cancelled or released.
    public func observe(_ handler: @escaping @Sendable (SeerResponse) -> Void) -> SeerObservation {
        hub.observe(handler)
    }

    /// The endpoints: paths below the base address, by name.
    package var endpoints: [SeerEndpoints.Name: String] { configuration.endpoints.paths }

    /// The number of queued payloads.
    public var queuedCount: Int { waiting.count }
    /// The bytes of the queued payloads.
    package var queuedBytes: Int { waiting.bytes }
    /// The payloads that the service refused, with its reasons.
    package var deadLetters: [DeadLetter] { waiting.deadLetters }

    /// Fetches a token, and reports the queue if the configuration says so.
    @discardableResult
    public func startSession(completion: (@Sendable (SeerResponse) -> Void)? = nil) -> SeerRequestID {
        let id = requestIDs.next()
        enqueue { [courier, hub] in
            let error = await courier.session.start()
            hub.tell(SeerResponse(.sessionStart, id, error: error), completion)
        }
        if configuration.autoReportQueue { reportQueue() }
        return id
    }

    /// Reports a payload at once. It is queued if the service is unavailable, and becomes a dead letter if the
    /// service refuses it.
    ///
    /// An invalid payload has an error as its response, before this method returns, and is neither sent nor queued.
    @discardableResult
    public func report(
        _ payload: SeerPayload,
        completion: (@Sendable (SeerResponse) -> Void)? = nil
    ) -> SeerRequestID {
        let id = requestIDs.next()
        if let refusal = refusal(of: payload, id) {
            hub.tell(refusal, completion)
        } else {
            enqueue { [courier, hub] in hub.tell(await courier.report(payload, id), completion) }
        }
        return id
    }

    /// Queues a payload, to be reported later. Once this method returns, the payload is in the store, or the
    /// response has the error.
    @discardableResult
    public func queue(
        _ payload: SeerPayload,
        completion: (@Sendable (SeerResponse) -> Void)? = nil
    ) -> SeerResponse {
        let id = requestIDs.next()
        let response = refusal(of: payload, id) ?? courier.keep(payload, id)
        hub.tell(response, completion)
        return response
    }

    /// Reports the whole queue, in batches; its response comes once, at the end.
    @discardableResult
    public func reportQueue(completion: (@Sendable (SeerResponse) -> Void)? = nil) -> SeerRequestID {
        let id = requestIDs.next()
        enqueue { [courier, hub] in hub.tell(await courier.reportQueue(id), completion) }
        return id
    }

    /// Reports the queue if the configuration says so. Call it when the app enters the background, unless a
    /// lifecycle tracker calls ``enter(_:)``.
    package func enteredBackground() { if configuration.autoReportQueue { reportQueue() } }

    /// Follows the phases of a lifecycle tracker: entering the background reports the queue, if the
    /// configuration says so. Returns at once; payloads that do not arrive before the process is suspended stay
    /// in the queue.
    public func enter(_ phase: LifecyclePhase) { if phase == .background { enteredBackground() } }

    private func enqueue(_ operation: @escaping Work) { work.yield(operation) }

    private func refusal(of payload: SeerPayload, _ id: SeerRequestID) -> SeerResponse? {
        let failures = payload.failures(isStrict: configuration.isStrict)
        if failures.isEmpty { return nil }
        let error = SeerError(.invalidPayload, failures.map(\.description).joined(separator: "; "))
        return SeerResponse(payload.kind.event, id, type: payload.kind, error: error)
    }
}
