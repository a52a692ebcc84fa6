/// An event before it enters the chain.
struct PendingEvent: Sendable {
    var event: Event
    let slot: TrackerSlot
    /// The version of the tracker's memory that the event's time attributes are of.
    let memoryVersion: UInt64
    /// The number of the event's first attributes that come from the emit or the scope; no time attribute replaces
    /// them.
    let givenCount: Int
}

/// The state inside the line: the hub and the metricalc, which process one event at a time.
struct ChainState {
    var hub: any Hub
    var metricalc: (any Metricalc)?
    private var persons: PersonTable
    /// Kept between events, to avoid an allocation for each event.
    private var metrics: [Metric] = []
    private var samples: [Sample] = []

    init(hub: any Hub, metricalc: (any Metricalc)?, userIdKey: AttributeKey<String>) {
        self.hub = hub
        persons = PersonTable(key: userIdKey)
        self.metricalc = metricalc
    }

    /// Processes an event from the tracker's hook to the queue; returns the hub's changes of pings, and the result of
    /// the event.
    ///
    /// Changes the event in place: with a second reference, each change would copy all attributes.
    mutating func process(
        _ pending: inout PendingEvent,
        in environment: any HubEnvironment,
        into queue: BatchQueue,
        report: DiagnosticFeed
    ) -> (pings: [HubContext.PingChange], result: EmitResult) {
        let slot = pending.slot
        guard slot.admit(&pending.event, madeAt: pending.memoryVersion, given: pending.givenCount) else {
            return ([], .unknownTracker)
        }
        var context = HubContext(content: slot.content, environment: environment)
        var verdict = slot.runHook(on: &pending.event)
        if verdict == .accepted { verdict = hub.process(&pending.event, in: &context) }
        if case .rejected(let reason) = verdict {
            report.report(.rejected(pending.event.action, pending.event.tracker, reason))
            return ([], .rejected(reason))
        }
        let result = enqueue(&pending.event, in: queue, report)
        slot.remember(pending.event)
        return (context.pingChanges, result)
    }

    /// Releases the state of a removed tracker, and appends its last metrics to the queue.
    mutating func forget(_ tracker: TrackerID, into queue: BatchQueue) {
        hub.forget(tracker)
        metricalc?.forget(tracker, into: &metrics)
        persons.name(&metrics, ofRemoved: tracker)
        guard !metrics.isEmpty else { return }
        for metric in metrics { samples.append(.metric(metric)) }
        _ = queue.append(samples)
        samples.removeAll(keepingCapacity: true)
        metrics.removeAll(keepingCapacity: true)
    }

    private mutating func enqueue(
        _ event: inout Event,
        in queue: BatchQueue,
        _ report: DiagnosticFeed
    ) -> EmitResult {
        metricalc?.process(event, into: &metrics)
        persons.name(&metrics, of: event)
        if event.attributes.hasRefused {
            report.report(.notFinite(event.attributes.refused, event.action, event.tracker))
            event.attributes.forgetRefused()
        }
        // One metric is moved; several are copied, so that they keep their order.
        if metrics.count > 1 { for metric in metrics.dropLast() { samples.append(.metric(metric)) } }
        if let last = metrics.popLast() { samples.append(.metric(last)) }
        samples.append(.event(event))
        let result = queue.append(samples)
        // One by one: there are few, and emptying an array at once costs more than each of them.
        while !samples.isEmpty { samples.removeLast() }
        while !metrics.isEmpty { metrics.removeLast() }
        return result
    }
}
