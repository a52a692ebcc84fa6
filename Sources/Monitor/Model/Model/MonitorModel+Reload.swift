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
        for (name, slot) in streams.slots.sorted(by: { $0.value < $1.value }) {
            guard let old = streams[slot]?.stream, old.origin == nil else { continue }
            if let stream = wanted[name], stream.playsLike(old) {
                configure(slot, as: stream)
            } else {
                streams.remove(slot, at: now)
                effects += stop(slot, at: now)
            }
        }
        let continuousCount = new.streams.count { $0.schedule == .continuous && streams.slots[$0.name] == nil }
        for stream in new.streams where streams.slots[stream.name] == nil {
            add(stream, at: now, continuousCount: continuousCount)
        }
        streams.arrange(by: new.streams.map(\.name))
        reconfigurePlaces(at: now)
        book.configure(new, hosts: alertedHosts)
        objectives.keep(new.objectives, slots: Set(streams.slots.values))
        let concerned = streams.slots.mapValues { slot in
            Set((streams[slot]?.alerts ?? []).map { new.alerts[$0].name })
        }
        for key in engine.keep(where: { concerned[$0.stream]?.contains($0.alert) ?? false }) {
            book.resolves(key.alert, of: key.stream, isWatched: streams.slots[key.stream] != nil, at: now)
        }
        return effects
    }

    /// Applies the configuration to a stream.
    mutating func configure(_ slot: Int, as stream: WatchedStream) {
        let (alerts, windows) = (configuration.alerts, windows)
        streams.change(slot) { state in
            state.stream = stream
            state.configure(alerts, windows: windows)
        }
    }

    /// Notes that a new configuration could not be read: the current one stays.
    package mutating func note(_ failure: FailedReload) {
        failedReloads += 1
        failedReload = failure
    }

    /// Stops all sessions; the model starts no more.
    package mutating func stop(at now: Timestamp) -> [MonitorEffect] {
        isStopping = true
        // Also streams that were removed and still play.
        return streams.all.map(\.slot).sorted().flatMap { stop($0, at: now) }
    }
}

extension WatchedStream {
    /// Whether a session of `other` is also a session of this stream: labels and backends may differ.
    fileprivate func playsLike(_ other: WatchedStream) -> Bool {
        url == other.url && player == other.player && profile == other.profile && schedule == other.schedule
            && checks == other.checks && headers == other.headers
    }
}
