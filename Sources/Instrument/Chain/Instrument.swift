/// A chain: trackers report, the hub judges, the metricalc computes, the queue feeds every backend.
///
/// ```swift
/// let instrument = Instrument(backends: [.console])
/// let player = instrument.add(MyPlayerTracker(player))
/// instrument.ready()
/// instrument.emit(.mediaRequest, from: player)
/// …
/// await instrument.shutdown(timeout: .seconds(5))
/// ```
///
/// Everything may be called from any thread. Events are processed one at a time, in the order in which they were emitted;
/// one that a component emits while it processes another runs next, so that nothing re-enters and nothing deadlocks.
public final class Instrument: Sendable {
    struct Registry {
        var slots: [TrackerID: TrackerSlot] = [:]
        var nextNumber = 0
        var attributes = InstrumentAttributes()
        var appTracker: TrackerID?
        var isReady = false
        var isShutDown = false
    }

    /// What waits in line: an event, or a change of the chain itself.
    ///
    /// Not an enum, because an event could not be moved out of one without a copy, and changing a copied event is expensive.
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
    /// What trackers may collect.
    let collected: CommonFields
    private let environment: ChainEnvironment
    private let chain: Lock<ChainState>
    private let line = EmitLine<Work>()

    /// Creates an instrument, by default for playbacks of content. Without a backend it works, and delivers nowhere.
    ///
    /// - Parameters:
    ///   - hub: judges events.
    ///   - metricalc: computes metrics; nil computes none.
    ///   - backends: take samples. Names must differ: of two with one name only the first is used, and the other is reported
    ///     (``Diagnostic/duplicateBackend(_:)``).
    ///   - store: where the shared queue keeps samples.
    ///   - clock: times events and pings.
    ///   - deliveryClock: times deliveries; `clock`, unless a session is played faster than time and delivered in time.
    ///   - randomness: where identifiers and the jitter of retries come from.
    ///   - consent: what the person whose samples these are has allowed; nil leaves the consent that the store is under,
    ///     which for a new store is `granted`.
    ///   - privacy: which attribute names a person, and how attributes change before they are stored.
    ///   - reachability: whether there is a network; without one, backends that need it are not tried.
    ///   - onDiagnostic: called on the emitting thread, or a backend's, for everything that is left out; keep it short. By
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
        let queue = BatchQueue(
            store: store,
            backends: backends,
            clock: deliveryClock ?? clock,
            randomness: randomness,
            consent: consent,
            privacy: privacy,
            reachability: reachability,
            report: { feed.report($0) }
        )
        self.queue = queue
        collected = CommonFields(privacy) { queue.reportUndeclared($0) }
        environment.instrument.withLock { $0.instrument = self }
    }

    /// Reports that `action` happened to `tracker`'s player. For an unknown tracker it does nothing but say so.
    ///
    /// When it returns, the event is in the queue's store, unless the result says otherwise. It waits for no network, and
    /// for no disk: with a durable store, a disk that does not respond costs 10 ms once, and from then on samples, counted
    /// and reported, as soon as the memory in which they wait for the disk is full.
    ///
    /// - Parameters:
    ///   - action: what happened.
    ///   - tracker: who reports it.
    ///   - instant: when, if the tracker knows better than "now"; never earlier than the tracker's last event.
    ///   - attributes: what else is known about this event. These values win over getters, scoped values, attributes of
    ///     the instrument, and the content's `position` that the ads hub adds. The attributes that a hub computes
    ///     (counters, sums, blocks, `streamId`, `playbackId`, `deltaPlayTime`) are the hub's alone.
    /// - Returns: the result of the event.
    @discardableResult
    public func emit(
        _ action: Action,
        from tracker: TrackerID,
        at instant: MonotonicInstant? = nil,
        attributes: consuming Attributes = Attributes()
    ) -> EmitResult {
        submit(action, from: tracker, at: instant, scoped: .current, attributes: attributes)
    }

    /// Adds an attribute to events from now on; nil removes it. The narrower scope wins.
    ///
    /// The attribute is added where nothing closer to the event has the name. The order, from the strongest: the attributes of
    /// the emit, the tracker's getters, scoped values (``AnalyticsValues``), time attributes, attributes of the instrument.
    /// A getter wins because its value is the tracker's own at the moment of the event: `set(.title, to: "Trailer")`
    /// shows only while the player reports no title. To replace what a getter reads, pass the attribute with the emit,
    /// change the event in ``Tracker/process(_:)``, or use a name of your own.
    public func set<Value>(_ key: AttributeKey<Value>, to value: Value?, in scope: AttributeScope = .all) {
        registry.withLock { $0.attributes.set(value?.attributeValue, for: key.name, in: scope) }
    }

    /// The current value of an attribute of a tracker, as its getter gives it; nil if it has none.
    public func value<Value>(of key: AttributeKey<Value>, from tracker: TrackerID) -> Value? {
        slot(of: tracker)?.read(key.name).flatMap(Value.init(attributeValue:))
    }

    /// How many events were rejected, by action and reason.
    public var rejectedCounts: [Action: [Rejection: Int]] { feed.rejectedCounts }

    /// What is left out from now on, and why. A reader that falls 1024 behind misses the oldest.
    public func diagnostics() -> AsyncStream<Diagnostic> { feed.stream() }

    func slot(of tracker: TrackerID) -> TrackerSlot? { registry.withLock { $0.slots[tracker] } }

    /// Makes the event on the caller's thread and puts it in line.
    ///
    /// - Parameter isCollected: whether a tracker collected the attributes, and not the app said them.
    @discardableResult
    func submit(
        _ action: Action,
        from tracker: TrackerID,
        at instant: MonotonicInstant?,
        scoped: AnalyticsValues,
        attributes: consuming Attributes,
        isCollected: Bool = false
    ) -> EmitResult {
        let (slot, common) = registry.withLock { ($0.slots[tracker], $0.attributes) }
        guard let slot else {
            feed.report(.unknownTracker(tracker, action))
            return .unknownTracker
        }
        let time = instant.map { clock.timestamp(of: $0) } ?? clock.timestamp
        // What the caller knows comes first and stays as it is; the rest is added around it, in the same memory.
        var known = attributes
        if isCollected { slot.fields.filter(&known) }
        let knownCount = known.count
        var givenCount = knownCount
        if !scoped.isEmpty {
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
        for getter in getters where !pending.event.attributes.has(getter.name, amongFirst: knownCount) {
            if getter.filter?(pending.event) ?? true, let value = getter.read() {
                pending.event.attributes.set(value, for: getter.name)
            }
        }
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

/// What a hub may ask of the world: the instrument's randomness and its trackers' getters.
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
