/// Components come, go and are exchanged while events run.
extension Instrument {
    /// Adds a tracker and lets it begin. After a shutdown it ends at once.
    ///
    /// - Parameters:
    ///   - tracker: what captures events.
    ///   - content: for a tracker of ads, the tracker of the content that the ads interrupt. The instrument must have that
    ///     tracker: for a number that it does not know, or no longer, it reports ``Diagnostic/unknownContent(_:of:)``, and the
    ///     ad breaks of the new tracker are shared with no content.
    /// - Returns: the tracker's number.
    @discardableResult
    public func add(_ tracker: some Tracker, adsOf content: TrackerID? = nil) -> TrackerID {
        let declared = tracker.declaredFields
        queue.declare(collected: declared)
        let (id, isContentKnown, isReady, isShutDown) = registry.withLock { registry in
            let id = TrackerID(registry.nextNumber)
            registry.nextNumber += 1
            // Ads of an ads tracker interrupt that tracker's content.
            let known = content.flatMap { registry.slots[$0]?.content }
            if !registry.isShutDown {
                registry.slots[id] = makeSlot(id, tracker, known ?? id, isOfAds: content != nil, declared)
            }
            return (id, known != nil, registry.isReady, registry.isShutDown)
        }
        if isShutDown {
            tracker.end()
        } else {
            if let content, !isContentKnown { feed.report(.unknownContent(content, of: id)) }
            tracker.begin(in: TrackerContext(id: id, instrument: self))
            if isReady { tracker.ready() }
        }
        return id
    }

    /// Removes a tracker: its pings stop, its service ends, and its number is not used again.
    public func remove(_ id: TrackerID) {
        guard let slot = registry.withLock({ $0.slots.removeValue(forKey: id) }) else { return }
        slot.remove()
        slot.tracker.end()
        change { chain in
            chain.hub.forget(id)
            chain.metricalc?.forget(id)
        }
    }

    /// Delivers to `backend`, too, from now on.
    ///
    /// - Returns: false if the instrument has a backend of that name already. The new one is then not used, and
    ///   ``Diagnostic/duplicateBackend(_:)`` is reported; ``replace(backend:timeout:)`` exchanges the two.
    @discardableResult
    public func add(_ backend: some Backend) -> Bool {
        guard queue.add(backend) else { return false }
        if registry.withLock({ $0.isReady }) { backend.ready() }
        return true
    }

    /// Exchanges the backend that has the name of `backend`. The new one continues where the old one stopped: it gets every sample
    /// that the old one did not settle, and none that it did. Cancelling the task has the effect of `timeout`. See ``BatchQueue/replace(backend:timeout:)``.
    ///
    /// - Returns: false if the instrument has no backend of that name, or was shut down; then nothing changes.
    @discardableResult
    public func replace(backend: some Backend, timeout: Duration = .seconds(60)) async -> Bool {
        let isReady = registry.withLock { $0.isReady }
        return await queue.replace(backend, timeout: timeout) { if isReady { backend.ready() } }
    }

    /// Flushes a backend within `timeout`, ends its service and gives up what it was not sent by then.
    ///
    /// Cancelling the task while samples are queued ends the wait, and the backend stays with its samples.
    ///
    /// - Returns: true if nothing was given up; false if samples were given up, or the removal was cancelled.
    @discardableResult
    public func remove(_ backend: BackendName, timeout: Duration) async -> Bool {
        await queue.remove(backend, timeout: timeout)
    }

    /// Exchanges the hub between two events. The new one has seen nothing; pings stop until it asks for them.
    public func replace(hub: some Hub) {
        let (isReady, slots) = registry.withLock { ($0.isReady, Array($0.slots.values)) }
        change { chain in
            chain.hub.end()
            chain.hub = hub
            for slot in slots { slot.setPing(nil) }
            if isReady { chain.hub.ready() }
        }
    }

    /// Exchanges the metricalc between two events; nil computes no metrics.
    public func replace(metricalc: (any Metricalc)?) {
        let isReady = registry.withLock { $0.isReady }
        change { chain in
            chain.metricalc?.end()
            chain.metricalc = metricalc
            if isReady { chain.metricalc?.ready() }
        }
    }

    /// Tells backends, metricalc, hub and trackers, in this order, that the instrument is ready; once.
    ///
    /// Events may be emitted before. Components that are added later learn it at once.
    public func ready() {
        let slots = registry.withLock { registry -> [TrackerSlot]? in
            if registry.isReady || registry.isShutDown { return nil }
            registry.isReady = true
            return registry.slots.values.sorted { $0.id < $1.id }
        }
        guard let slots else { return }
        queue.ready()
        change { chain in
            chain.metricalc?.ready()
            chain.hub.ready()
        }
        for slot in slots { slot.tracker.ready() }
    }

    /// Ends the service of trackers, hub, metricalc and backends, in this order, and delivers what was emitted.
    ///
    /// Returns once it is delivered, or `timeout` has passed: then what was not stays in the store. What is emitted
    /// afterwards goes nowhere. Cancelling the task does not shorten the shutdown, so that an app that was cancelled can still
    /// deliver.
    ///
    /// - Returns: whether nothing is left.
    @discardableResult
    public func shutdown(timeout: Duration, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let (isFirst, ids) = registry.withLock { registry in
            defer { registry.isShutDown = true }
            return (!registry.isShutDown, registry.slots.keys.sorted(by: >))
        }
        for id in ids { remove(id) }
        if isFirst {
            change { chain in
                chain.hub.end()
                chain.metricalc?.end()
            }
        }
        let isEmpty = await queue.shutdown(timeout: timeout)
        if isFirst { feed.finish() }
        return isEmpty
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

    private func makeSlot(
        _ id: TrackerID,
        _ tracker: any Tracker,
        _ content: TrackerID,
        isOfAds: Bool,
        _ declared: PrivacyCatalogue
    ) -> TrackerSlot {
        var identity: Attributes = ["senderId": .string("\(identifier)-\(id)")]
        identity[.trackerTarget] = tracker.target
        identity[.isAdsTracker] = isOfAds ? true : nil
        let fields = CollectedFields(declared, collected)
        return TrackerSlot(id: id, tracker: tracker, content: content, identity: identity, fields: fields)
    }
}
