public import Instrument
public import InstrumentHTTP
public import InstrumentXAPI

/// Reports activities, instrumentation and Tin Can statements to Seer, and keeps what cannot be reported now.
///
/// ```swift
/// let client = SeerClient(
///     SeerConfiguration(baseURL: try HTTPURL("https://seer.example.org")),
///     credentials: SeerCredentials(clientID: id, clientSecret: secret),
///     store: try DurableStore(directory: directory + "/seer"),
///     memory: FileStateStore(root: directory + "/seer-state"),
///     transport: try SystemTransport()
/// )
/// client.startSession()
/// client.report(.activity(stream)) { response in print(response.isSuccess) }
/// for await response in client.responses { … }
/// ```
///
/// Every request is answered once: by its completion, and to the delegate, every observer and every sequence of ``responses``
/// there is at that moment. Requests are carried out one at a time, in their order; payloads of a type arrive in the order in
/// which they were given. No call waits for the network; ``queue(_:completion:)`` waits for the store.
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
    ///   - configuration: the service, and the rules by which payloads wait.
    ///   - credentials: what the service knows the app by.
    ///   - store: keeps what waits; for this client alone. Its own limits have to be wider than the configuration's.
    ///   - memory: keeps the last request's number.
    ///   - transport: sends.
    ///   - clock: times tokens and stamps what is stored.
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
        Task { for await work in works { await work() } }
    }

    deinit {
        let hub = hub
        work.yield { hub.end() }
        work.finish()
    }

    /// Is told of every response; not kept alive.
    public var delegate: (any SeerDelegate)? {
        get { hub.delegate }
        set { hub.set(delegate: newValue) }
    }

    /// All responses from now on, of which the latest 1000 wait for whoever reads; ends with the client.
    public var responses: AsyncStream<SeerResponse> { hub.stream() }

    /// Calls `handler` for every response, as a notification would, until the observation is cancelled or let go of.
    public func observe(_ handler: @escaping @Sendable (SeerResponse) -> Void) -> SeerObservation {
        hub.observe(handler)
    }

    /// Names and paths below the base address.
    public var endpoints: [SeerEndpoints.Name: String] { configuration.endpoints.paths }

    /// How many payloads wait.
    public var queuedCount: Int { waiting.count }
    /// How many bytes they have.
    public var queuedBytes: Int { waiting.bytes }
    /// What the service will never take, and why.
    public var deadLetters: [DeadLetter] { waiting.deadLetters }

    /// Fetches a token, and reports what waits if that is configured.
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

    /// Reports a payload at once. What the service cannot take now waits in the queue; what it will never take is a dead letter.
    ///
    /// One that breaks rules is answered with an error before this returns, and goes nowhere.
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

    /// Puts a payload into the queue, to be reported later. When it returns, the store has it, or the response says why not.
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

    /// Reports all that waits, in as many batches as it takes; answered once, at the end.
    @discardableResult
    public func reportQueue(completion: (@Sendable (SeerResponse) -> Void)? = nil) -> SeerRequestID {
        let id = requestIDs.next()
        enqueue { [courier, hub] in hub.tell(await courier.reportQueue(id), completion) }
        return id
    }

    /// To be called when the app enters the background, unless a lifecycle tracker tells it (``enter(_:)``): reports what
    /// waits, if that is configured.
    public func enteredBackground() { if configuration.autoReportQueue { reportQueue() } }

    /// What a lifecycle tracker tells: entering the background reports what waits, if that is configured. Returns at once;
    /// what does not arrive before the process is stopped waits.
    public func enter(_ phase: LifecyclePhase) { if phase == .background { enteredBackground() } }

    private func enqueue(_ operation: @escaping Work) { work.yield(operation) }

    private func refusal(of payload: SeerPayload, _ id: SeerRequestID) -> SeerResponse? {
        let failures = payload.failures(isStrict: configuration.isStrict)
        if failures.isEmpty { return nil }
        let error = SeerError(.invalidPayload, failures.map(\.description).joined(separator: "; "))
        return SeerResponse(payload.kind.event, id, type: payload.kind, error: error)
    }
}
