#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A chain: trackers report, the hub judges, the metricalc computes, the queue feeds every backend.
///
/// Everything may be called from any thread. Events are processed one at a time, in the order in which they were emitted;
/// one that a component emits while it processes another runs next, so that nothing re-enters and nothing deadlocks.
public final class Instrument: Sendable {
    private struct TrackerEntry {
        var tracker: any Tracker
        var content: TrackerID
        var attributes: Attributes
        var getters: [Getter] = []
        var ping: ScheduledAction?
    }

    private struct Registry {
        var trackers: [TrackerID: TrackerEntry] = [:]
        var nextNumber = 0
        var attributes = InstrumentAttributes()
        var appTracker: TrackerID?
    }

    private struct Chain {
        var hub: any Hub
        var metricalc: (any Metricalc)?
        var memories: [TrackerID: ActionMemory] = [:]
    }

    private struct Inbox {
        var events: [Event] = []
        var isRunning = false
    }

    /// The time between two pings.
    public static let pingInterval: Duration = .seconds(30)

    /// The queue that feeds the backends.
    public let queue: BatchQueue
    private let identifier = UUID().uuidString
    private let clock: any SchedulingClock
    private let onDiagnostic: @Sendable (Diagnostic) -> Void
    private let registry = Lock(Registry())
    private let chain: Lock<Chain>
    private let inbox = Lock(Inbox())
    private let rejections = Lock([Action: [Rejection: Int]]())

    /// Creates an instrument. Without a backend it works, and delivers nowhere.
    ///
    /// `onDiagnostic` is called on the emitting thread for everything that is left out; keep it short.
    public init(
        hub: some Hub,
        metricalc: (any Metricalc)? = nil,
        backends: [any Backend] = [],
        store: any SampleStore = InMemoryStore(),
        clock: any SchedulingClock = SystemClock(),
        onDiagnostic: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) {
        self.onDiagnostic = onDiagnostic
        self.clock = clock
        queue = BatchQueue(store: store, backends: backends, clock: clock)
        chain = Lock(Chain(hub: hub, metricalc: metricalc))
    }

    /// Adds a tracker and lets it begin.
    ///
    /// - Parameter content: for a tracker of ads, the tracker of the content that the ads interrupt.
    @discardableResult
    public func add(_ tracker: some Tracker, adsOf content: TrackerID? = nil) -> TrackerID {
        let id = registry.withLock { registry in
            let id = TrackerID(registry.nextNumber)
            registry.nextNumber += 1
            var attributes: Attributes = ["senderId": .string("\(identifier)-\(id)")]
            attributes[.trackerTarget] = tracker.target
            attributes[.isAdsTracker] = content == nil ? nil : true
            registry.trackers[id] = TrackerEntry(tracker: tracker, content: content ?? id, attributes: attributes)
            return id
        }
        tracker.begin(in: TrackerContext(id: id, instrument: self))
        return id
    }

    /// Removes a tracker; its pings stop, and its number is not used again.
    public func remove(_ id: TrackerID) {
        let entry = registry.withLock { $0.trackers.removeValue(forKey: id) }
        entry?.ping?.cancel()
        entry?.tracker.end()
    }

    /// Reports that `action` happened to `tracker`'s player. For an unknown tracker it does nothing.
    ///
    /// - Parameters:
    ///   - action: what happened.
    ///   - tracker: who reports it.
    ///   - instant: when, if the tracker knows better than "now"; never earlier than the tracker's last event.
    ///   - attributes: what else is known; these win over getters.
    public func emit(
        _ action: Action,
        from tracker: TrackerID,
        at instant: MonotonicInstant? = nil,
        attributes: Attributes = [:]
    ) {
        submit(action, from: tracker, at: instant, scoped: .current, attributes: attributes)
    }

    /// Adds an attribute to events from now on; nil removes it. The narrower scope wins.
    public func set<Value>(_ key: AttributeKey<Value>, to value: Value?, in scope: AttributeScope = .all) {
        registry.withLock { $0.attributes.set(value?.attributeValue, for: key.name, in: scope) }
    }

    /// The current value of an attribute of a tracker, as its getter gives it; nil if it has none.
    public func value<Value>(of key: AttributeKey<Value>, from tracker: TrackerID) -> Value? {
        read(key.name, from: tracker).flatMap(Value.init(attributeValue:))
    }

    /// How many events were rejected, by action and reason.
    public var rejectedCounts: [Action: [Rejection: Int]] { rejections.withLock { $0 } }

    /// Ends every tracker's service and delivers what was emitted; true if nothing is left after `timeout`.
    @discardableResult
    public func shutdown(timeout: Duration) async -> Bool {
        for id in registry.withLock({ Array($0.trackers.keys) }).sorted() { remove(id) }
        return await queue.shutdown(timeout: timeout)
    }

    /// The tracker that app events come from.
    var appTracker: TrackerID {
        if let known = registry.withLock({ $0.appTracker }) { return known }
        let added = add(AppTracker())
        let chosen = registry.withLock { registry in
            if registry.appTracker == nil { registry.appTracker = added }
            return registry.appTracker ?? added
        }
        if chosen != added { remove(added) }
        return chosen
    }

    /// Makes the event on the caller's thread and puts it in line.
    func submit(
        _ action: Action,
        from tracker: TrackerID,
        at instant: MonotonicInstant?,
        scoped: AnalyticsValues,
        attributes: Attributes
    ) {
        let found = registry.withLock { registry in registry.trackers[tracker].map { ($0, registry.attributes) } }
        guard let (entry, common) = found else { return onDiagnostic(.unknownTracker(tracker, action)) }
        let time = instant.map { clock.timestamp(of: $0) } ?? clock.timestamp
        var event = Event(action, tracker: tracker, time: time, attributes: entry.attributes)
        common.add(to: &event.attributes, of: action, from: tracker)
        event.attributes.merge(scoped.attributes)
        for getter in entry.getters where getter.filter?(event) ?? true {
            if let value = getter.read() { event.attributes.set(value, for: getter.name) }
        }
        event.attributes.merge(attributes)
        submit(event)
    }

    func register(_ getter: Getter, for id: TrackerID) {
        registry.withLock { registry in
            registry.trackers[id]?.getters.removeAll { $0.name == getter.name }
            registry.trackers[id]?.getters.append(getter)
        }
    }

    /// Puts the event in line; the thread that finds nobody running runs until the line is empty.
    private func submit(_ event: Event) {
        let isRunner = inbox.withLock { inbox in
            inbox.events.append(event)
            defer { inbox.isRunning = true }
            return !inbox.isRunning
        }
        guard isRunner else { return }
        while true {
            let events = inbox.withLock { inbox in
                let events = inbox.events
                inbox.events = []
                if events.isEmpty { inbox.isRunning = false }
                return events
            }
            if events.isEmpty { return }
            for event in events { process(event) }
        }
    }

    private func process(_ event: Event) {
        guard let entry = registry.withLock({ $0.trackers[event.tracker] }) else { return }
        var changes: [HubContext.PingChange] = []
        chain.withLock { chain in
            var memory = chain.memories[event.tracker] ?? ActionMemory()
            var event = memory.complete(event)
            var context = HubContext(content: entry.content, identifiers: { UUID().uuidString }) { name, tracker in
                self.read(name, from: tracker)
            }
            var verdict = entry.tracker.process(&event)
            if verdict == .accepted { verdict = chain.hub.process(&event, in: &context) }
            if case .rejected(let reason) = verdict {
                rejections.withLock { $0[event.action, default: [:]][reason, default: 0] += 1 }
                onDiagnostic(.rejected(event.action, event.tracker, reason))
                return
            }
            var metrics: [Metric] = []
            chain.metricalc?.process(event, into: &metrics)
            reportNotFinite(in: &event, metrics)
            queue.append(metrics.filter(\.isFinite).map(Sample.metric) + [.event(event)])
            memory.remember(event)
            chain.memories[event.tracker] = memory
            changes = context.pingChanges
        }
        for change in changes { apply(change) }
    }

    private func reportNotFinite(in event: inout Event, _ metrics: [Metric]) {
        let refused = event.attributes.refused
        if !refused.isEmpty {
            onDiagnostic(.notFinite(refused, event.action, event.tracker))
            event.attributes.forgetRefused()
        }
        for metric in metrics where !metric.isFinite { onDiagnostic(.metricNotFinite(metric.name, metric.tracker)) }
    }

    private func read(_ name: AttributeName, from tracker: TrackerID) -> AttributeValue? {
        registry.withLock { $0.trackers[tracker]?.getters.last { $0.name == name } }?.read()
    }

    private func apply(_ change: HubContext.PingChange) {
        switch change {
        case .start(let id): schedulePing(of: id, at: clock.now.advanced(by: Self.pingInterval))
        case .stop(let id): setPing(nil, of: id)
        }
    }

    private func schedulePing(of id: TrackerID, at instant: MonotonicInstant) {
        let ping = clock.schedule(at: instant) { [weak self] in
            guard let self else { return }
            schedulePing(of: id, at: instant.advanced(by: Self.pingInterval))
            emit(.ping, from: id)
        }
        setPing(ping, of: id)
    }

    private func setPing(_ ping: ScheduledAction?, of id: TrackerID) {
        let isKnown = registry.withLock { registry in
            registry.trackers[id]?.ping?.cancel()
            registry.trackers[id]?.ping = ping
            return registry.trackers[id] != nil
        }
        if !isKnown { ping?.cancel() }
    }
}
