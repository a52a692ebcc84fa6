package import Instrument
package import InstrumentWatch

extension MonitorModel {
    /// Replaces the configuration: streams that did not change play on, others stop or start.
    package mutating func reload(_ new: WatchConfiguration, at now: Timestamp) -> [MonitorEffect] {
        guard !isStopping else { return [] }
        reloads += 1
        ownChanges.note(.configuration, "the monitor uses a new configuration", at: now.wallTime)
        failedReload = nil
        configuration = new
        windows = Self.windows(of: new)
        let wanted = Dictionary(new.streams.map { ($0.name, $0) }) { first, _ in first }
        var effects: [MonitorEffect] = []
        for (name, slot) in slots.sorted(by: { $0.value < $1.value }) {
            guard let old = streams[slot]?.stream, old.origin == nil else { continue }
            if let stream = wanted[name], stream.playsLike(old) {
                configure(slot, as: stream)
            } else {
                effects += remove(slot, name, at: now)
            }
        }
        let continuousCount = new.streams.count { $0.schedule == .continuous && slots[$0.name] == nil }
        for stream in new.streams where slots[stream.name] == nil {
            add(stream, at: now, continuousCount: continuousCount)
        }
        order = new.streams.compactMap { slots[$0.name] } + order.filter { streams[$0]?.stream.origin != nil }
        reconfigurePlaces(at: now)
        book.configure(new, hosts: alertedHosts)
        objectives.keep(new.objectives, slots: Set(slots.values))
        let concerned = slots.mapValues { slot in
            Set((streams[slot]?.alerts ?? []).map { new.alerts[$0].name })
        }
        for key in engine.keep(where: { concerned[$0.stream]?.contains($0.alert) ?? false }) {
            book.resolves(key.alert, of: key.stream, isWatched: slots[key.stream] != nil, at: now)
        }
        return effects
    }

    /// Applies the configuration to a stream.
    mutating func configure(_ slot: Int, as stream: WatchedStream) {
        let (alerts, windows) = (configuration.alerts, windows)
        change(slot) { state in
            state.stream = stream
            state.configure(alerts, windows: windows)
        }
    }

    /// Notes that a new configuration could not be read: the current one stays.
    package mutating func note(_ failure: FailedReload) {
        failedReloads += 1
        failedReload = failure
    }

    private mutating func remove(_ slot: Int, _ name: String, at now: Timestamp) -> [MonitorEffect] {
        slots[name] = nil
        guard let state = streams[slot] else { return [] }
        let totals = state.totals(at: now.instant)
        retired.put(totals, name)
        guard state.run != nil else {
            streams[slot] = nil
            return []
        }
        change(slot) { state in
            state.isRemoved = true
            state.counters.handOver(totals)
        }
        return stop(slot, at: now)
    }

    /// Forgets a stream that was removed. The rest of its last session counts for the stream that has its name now.
    mutating func forget(_ slot: Int, at now: Timestamp) {
        guard let state = streams.removeValue(forKey: slot) else { return }
        let totals = state.totals(at: now.instant)
        let earlier = state.counters.handedOver ?? totals
        if let heir = slots[state.stream.name] {
            change(heir) { $0.counters.add(totals, since: earlier) }
        } else if var kept = retired.take(state.stream.name) {
            kept.add(totals, since: earlier)
            retired.put(kept, state.stream.name)
        }
    }

    /// Stops all sessions; the model starts no more.
    package mutating func stop(at now: Timestamp) -> [MonitorEffect] {
        isStopping = true
        // Also streams that were removed and still play.
        return streams.keys.sorted().flatMap { stop($0, at: now) }
    }
}

extension WatchedStream {
    /// Whether a session of `other` is also a session of this stream: labels and backends may differ.
    fileprivate func playsLike(_ other: WatchedStream) -> Bool {
        url == other.url && player == other.player && profile == other.profile && schedule == other.schedule
            && checks == other.checks && headers == other.headers
    }
}
