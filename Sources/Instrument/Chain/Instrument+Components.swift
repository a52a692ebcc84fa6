/// Adding, removing and replacing components, also during emits.
extension Instrument {
    /// Adds a tracker and calls its ``Tracker/begin(in:)``. After a shutdown, calls its ``Tracker/end()`` instead.
    ///
    /// - Parameters:
    ///   - tracker: the tracker.
    ///   - content: for a tracker of ads, the tracker of the content that the ads interrupt. For an unknown or
    ///     removed content tracker, the instrument reports ``Diagnostic/Kind/unknownContent``, and the ad breaks of
    ///     the new tracker are shared with no content.
    /// - Returns: the tracker's number.
    @discardableResult
    public func add(_ tracker: some Tracker, adsOf content: TrackerID? = nil) -> TrackerID {
        let fields = CollectedFields(declaring: tracker.declaredFields, in: queue.privacy)
        let (id, isContentKnown, isReady, isShutDown) = registry.withLock { registry in
            let id = TrackerID(registry.nextNumber)
            registry.nextNumber += 1
            // Ads of an ads tracker interrupt that tracker's content.
            let known = content.flatMap { registry.slots[$0]?.content }
            if !registry.isShutDown {
                registry.slots[id] = makeSlot(id, tracker, known ?? id, adsOf: known, isOfAds: content != nil, fields)
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

    /// Removes a tracker: stops its pings, calls its ``Tracker/end()``, queues its last metrics
    /// (``Metricalc/forget(_:into:)``), and never uses its number again.
    public func remove(_ id: TrackerID) {
        let removed = registry.withLock { registry in
            defer { registry.slots.remove(id) }
            return registry.slots[id]
        }
        guard let slot = removed else { return }
        slot.remove()
        slot.tracker.end()
        change { [queue] chain in chain.forget(id, into: queue) }
    }

    /// Adds a backend, which receives the samples from now on.
    ///
    /// - Returns: false if there is a backend with that name already. The new backend is then not used, and
    ///   ``Diagnostic/Kind/duplicateBackend`` is reported; ``replace(backend:timeout:)`` replaces the old backend.
    @discardableResult
    public func add(_ backend: some Backend) -> Bool {
        guard queue.add(backend) else { return false }
        if registry.withLock({ $0.isReady }) { backend.ready() }
        return true
    }

    /// Replaces the backend with the name of `backend`. The new backend continues where the old backend stopped: it
    /// receives every sample that the old backend did not settle, and no settled sample. Cancelling the task has the
    /// effect of `timeout`. See ``BatchQueue/replace(backend:timeout:)``.
    ///
    /// - Returns: false if there is no backend with that name, or after a shutdown; then nothing changes.
    @discardableResult
    public func replace(backend: some Backend, timeout: Duration = .seconds(60)) async -> Bool {
        let isReady = registry.withLock { $0.isReady }
        return await queue.replace(backend, timeout: timeout) { if isReady { backend.ready() } }
    }

    /// Flushes a backend within `timeout`, ends its service, and discards its samples that are still queued then.
    ///
    /// Cancelling the task while samples are queued ends the wait, and the backend stays with its samples.
    ///
    /// - Returns: true if no sample was discarded; false if samples were discarded, or the removal was cancelled.
    @discardableResult
    public func remove(_ backend: BackendName, timeout: Duration) async -> Bool {
        await queue.remove(backend, timeout: timeout)
    }

    /// Replaces the hub between two events. The new hub starts without state; pings stop until it requests them.
    public func replace(hub: some Hub) {
        let (isReady, slots) = registry.withLock { ($0.isReady, $0.slots.values) }
        change { chain in
            chain.hub.end()
            chain.hub = hub
            for slot in slots { slot.setPing(nil) }
            if isReady { chain.hub.ready() }
        }
    }

    /// Replaces the metricalc between two events; nil computes no metrics.
    public func replace(metricalc: (any Metricalc)?) {
        let isReady = registry.withLock { $0.isReady }
        change { chain in
            chain.metricalc?.end()
            chain.metricalc = metricalc
            if isReady { chain.metricalc?.ready() }
        }
    }

    /// Notifies backends, metricalc, hub and trackers, in this order, once, that the instrument is ready.
    ///
    /// Events may be emitted before. Components that are added later are notified immediately.
    public func ready() {
        let slots = registry.withLock { registry -> [TrackerSlot]? in
            if registry.isReady || registry.isShutDown { return nil }
            registry.isReady = true
            return registry.slots.values
        }
        guard let slots else { return }
        queue.ready()
        change { chain in
            chain.metricalc?.ready()
            chain.hub.ready()
        }
        for slot in slots { slot.tracker.ready() }
    }

    /// Ends trackers, hub, metricalc and backends, in this order, and delivers the queued samples.
    ///
    /// Returns once all samples are delivered, or after `timeout`: undelivered samples then stay in the store. Later
    /// emits are ignored. Cancelling the task does not shorten the shutdown, so that a cancelled app can still
    /// deliver.
    ///
    /// - Returns: true if no sample is left.
    @discardableResult
    public func shutdown(timeout: Duration, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let (isFirst, ids) = registry.withLock { registry in
            defer { registry.isShutDown = true }
            return (!registry.isShutDown, registry.slots.ids.reversed())
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
        adsOf known: TrackerID?,
        isOfAds: Bool,
        _ fields: CollectedFields
    ) -> TrackerSlot {
        var identity: Attributes = ["senderId": .string("\(identifier)-\(id)")]
        identity[.trackerTarget] = tracker.target
        identity[.isAdsTracker] = isOfAds ? true : nil
        identity[.contentSenderId] = known.map { "\(identifier)-\($0)" }
        return TrackerSlot(id: id, tracker: tracker, content: content, identity: identity, fields: fields)
    }
}
