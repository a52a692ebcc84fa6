/// A chain: trackers report events, the hub accepts or rejects them, the metricalc computes metrics, the queue
/// delivers to every backend.
///
/// ```swift
/// let instrument = Instrument(backends: [.console])
/// let id = instrument.add(PlayerTracker(player))
/// instrument.ready()
/// instrument.emit(.mediaRequest, from: id)
/// …
/// await instrument.shutdown(timeout: .seconds(5))
/// ```
///
/// All methods may be called from any thread. The chain processes one event at a time, in the order of emits; an
/// event that a component emits during processing runs next, so that nothing re-enters and nothing deadlocks.
public final class Instrument: Sendable {
    struct Registry {
        var slots = TrackerTable<TrackerSlot>()
        var nextNumber = 0
        var attributes = InstrumentAttributes()
        var appTracker: TrackerID?
        var isReady = false
        var isShutDown = false
    }

    /// The work of the line: an event, or a change of the chain.
    ///
    /// Not an enum, because an event could not be moved out of one without a copy, and changing a copied event is
    /// expensive.
    private struct Work: Sendable {
        var pending: PendingEvent?
        /// The result of the event, once it is processed.
        var result: EmitResult?
        var change: (@Sendable (inout ChainState) -> Void)?
    }

    /// The time between two pings.
    public static let pingInterval: Duration = .seconds(30)

    /// The queue that feeds the backends.
    public let queue: BatchQueue
    let clock: any SchedulingClock
    let identifier: String
    let feed: DiagnosticFeed
    let registry = Lock(Registry())
    private let environment: ChainEnvironment
    private let chain: Lock<ChainState>
    private let line = EmitLine<Work>()

    /// Creates an instrument, by default for playbacks of content. Without a backend, it collects nothing.
    ///
    /// - Parameters:
    ///   - hub: accepts or rejects events.
    ///   - metricalc: computes metrics; nil computes none.
    ///   - backends: the destinations of samples. Names must differ: of two backends with one name only the first is
    ///     used, and the other is reported (``Diagnostic/Kind/duplicateBackend``).
    ///   - store: keeps the samples of the shared queue.
    ///   - clock: the clock of events and pings.
    ///   - deliveryClock: the clock of deliveries; by default `clock`. Differs for a session that is played faster
    ///     than real time.
    ///   - randomness: the source of identifiers and of the jitter of retries.
    ///   - consent: the consent of the person; nil keeps the consent of the store, which is `granted` for a new
    ///     store.
    ///   - privacy: the attribute that identifies a person, the declared fields, and the changes of attributes before
    ///     storage.
    ///   - reachability: whether there is a network; without one, the queue does not try backends that need it.
    ///   - onDiagnostic: receives every diagnostic, on the emitting thread or a backend's; must return quickly. By
    ///     default the first diagnostic of each kind goes to standard error; `{ _ in }` turns this off.
    public init(
        hub: some Hub = CoreHub(),
        metricalc: (any Metricalc)? = CoreMetricalc(),
        backends: [any Backend] = [],
        store: any SampleStore = InMemoryStore(),
        clock: any SchedulingClock = SystemClock(),
        deliveryClock: (any SchedulingClock)? = nil,
        randomness: RandomSource = RandomSource(),
        consent: Consent? = nil,
        privacy: PrivacyRules = PrivacyRules(),
        reachability: any Reachability = AlwaysOnline(),
        onDiagnostic: @escaping @Sendable (Diagnostic) -> Void = Diagnostic.firstOfEachKindToStandardError()
    ) {
        let feed = DiagnosticFeed(onDiagnostic)
        self.feed = feed
        self.clock = clock
        identifier = randomness.identifier()
        environment = ChainEnvironment(randomness: randomness)
        chain = Lock(ChainState(hub: hub, metricalc: metricalc, userIdKey: privacy.userIdKey))
        queue = BatchQueue(
            store: store,
            backends: backends,
            clock: deliveryClock ?? clock,
            randomness: randomness,
            consent: consent,
            privacy: privacy,
            reachability: reachability,
            report: { feed.report($0) }
        )
        environment.instrument.withLock { $0.instrument = self }
    }

    /// Emits an event: `action` happened to the player of `tracker`. For an unknown tracker, only reports a
    /// diagnostic.
    ///
    /// Once this method returns, the event is in the queue's store, unless the result says otherwise. It waits
    /// neither for the network nor for the disk: with a durable store, a disk that does not respond costs 10 ms once.
    /// When the memory in which samples wait for that disk is full, the store drops samples, which it counts and
    /// reports.
    ///
    /// - Parameters:
    ///   - action: the action.
    ///   - tracker: the tracker that reports the event.
    ///   - instant: the instant of the event; nil means now. Never earlier than the tracker's last event.
    ///   - attributes: further attributes of the event. They override getters, scoped values, attributes of the
    ///     instrument, and the content's `position` that the ads hub adds. The attributes that a hub computes
    ///     (counters, sums, blocks, `streamId`, `playbackId`, `deltaPlayTime`) always come from the hub.
    /// - Returns: the result of the event.
    @discardableResult
    public func emit(
        _ action: Action,
        from tracker: TrackerID,
        at instant: MonotonicInstant? = nil,
        attributes: consuming Attributes = Attributes()
    ) -> EmitResult {
        submit(action, from: tracker, at: instant, scoped: .inForce, attributes: attributes)
    }

    /// Adds an attribute to events from now on; nil removes it. The narrower scope wins.
    ///
    /// The chain adds the attribute where no stronger source has the name. The order, from the strongest: the
    /// attributes of the emit, the tracker's getters, scoped values (``AnalyticsValues``), time attributes,
    /// attributes of the instrument. A getter wins because it reads the tracker's value at the instant of the event:
    /// `set(.title, to: "Trailer")` has an effect only while the player reports no title. To replace the value of a
    /// getter, pass the attribute with the emit, change the event in ``Tracker/process(_:)``, or use another name.
    public func set<Value>(_ key: AttributeKey<Value>, to value: Value?, in scope: AttributeScope = .all) {
        registry.withLock { $0.attributes.set(value?.attributeValue, for: key.name, in: scope) }
    }

    /// Returns the current value of an attribute of a tracker, by its getter; nil without a value.
    public func value<Value>(of key: AttributeKey<Value>, from tracker: TrackerID) -> Value? {
        slot(of: tracker)?.read(key.name).flatMap(Value.init(attributeValue:))
    }

    /// The number of rejected events, by action and reason.
    public var rejectedCounts: [Action: [Rejection: Int]] { feed.rejectedCounts }

    /// Returns a stream of diagnostics from now on. A reader that is 1024 diagnostics behind misses the oldest.
    public func diagnostics() -> AsyncStream<Diagnostic> { feed.stream() }

    func slot(of tracker: TrackerID) -> TrackerSlot? { registry.withLock { $0.slots[tracker] } }

    /// Creates the event on the caller's thread and passes it to the line.
    ///
    /// - Parameter isCollected: whether a tracker collected the attributes; otherwise they are the app's.
    @discardableResult
    func submit(
        _ action: Action,
        from tracker: TrackerID,
        at instant: MonotonicInstant?,
        scoped: AnalyticsValues?,
        attributes: consuming Attributes,
        isCollected: Bool = false
    ) -> EmitResult {
        let (slot, common) = registry.withLock { ($0.slots[tracker], $0.attributes.isEmpty ? nil : $0.attributes) }
        guard let slot else {
            feed.report(.unknownTracker(tracker, action))
            return .unknownTracker
        }
        let time = instant.map { clock.timestamp(of: $0) } ?? clock.timestamp
        // The caller's attributes come first and stay unchanged; the others are added after them, in the same memory.
        var known = attributes
        if isCollected { slot.fields.filter(&known) }
        let knownCount = known.count
        var givenCount = knownCount
        if let scoped, !scoped.isEmpty {
            known.addMissing(scoped.attributes)
            givenCount = known.count
        }
        var (pending, getters) = slot.makeEvent(
            action,
            at: time,
            known: consume known,
            given: givenCount,
            common: common
        )
        if !getters.isEmpty { GetterReading.addValues(of: getters, to: &pending.event, given: knownCount) }
        var work = Work(pending: consume pending)
        line.enter(&work) { perform(&$0) }
        return work.result ?? .deferred
    }

    /// Changes the chain between two events.
    func change(_ body: @escaping @Sendable (inout ChainState) -> Void) {
        var work = Work(change: body)
        line.enter(&work) { perform(&$0) }
    }

    private func perform(_ work: inout Work) {
        if var pending = work.pending.take() {
            let (pings, result) = chain.withLock {
                $0.process(&pending, in: environment, into: queue, report: feed)
            }
            work.result = result
            for ping in pings { apply(ping) }
        }
        if let change = work.change { chain.withLock { change(&$0) } }
    }
}

/// The environment of an instrument's hub: its randomness and its trackers' getters.
private final class ChainEnvironment: HubEnvironment {
    struct WeakInstrument { weak var instrument: Instrument? }

    let instrument = Lock(WeakInstrument())
    private let randomness: RandomSource

    init(randomness: RandomSource) { self.randomness = randomness }

    func makeIdentifier() -> String { randomness.identifier() }

    func value(of name: AttributeName, from tracker: TrackerID) -> AttributeValue? {
        instrument.withLock { $0.instrument }?.slot(of: tracker)?.read(name)
    }
}

/// A ping every 30 s while a hub requests it. Keeps neither instrument nor tracker alive.
extension Instrument {
    func apply(_ change: HubContext.PingChange) {
        switch change {
        case .start(let id): schedulePing(of: id, at: clock.now.advanced(by: Self.pingInterval))
        case .stop(let id): slot(of: id)?.setPing(nil)
        }
    }

    private func schedulePing(of id: TrackerID, at instant: MonotonicInstant) {
        guard let slot = slot(of: id) else { return }
        let ping = clock.schedule(at: instant) { [weak self] in
            guard let self else { return }
            schedulePing(of: id, at: instant.advanced(by: Self.pingInterval))
            emit(.ping, from: id)
        }
        slot.setPing(ping)
    }
}
