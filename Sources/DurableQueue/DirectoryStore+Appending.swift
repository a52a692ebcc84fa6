internal import Dispatch
internal import Instrument

/// The path of emit: nothing here waits for the disk as long as there is a spare segment.
extension DirectoryStore {
    func append(_ samples: [Sample]) throws(QueueError) -> Int {
        let (size, isMaintenanceDue, areChoresDue) = try state.withLock {
            (state: inout State) throws(QueueError) -> (Int, Bool, Bool) in
            if state.places.isEmpty { return (0, false, false) }
            dropOld(samples.last?.time.instant, in: &state)
            try refuseIfFull(&state, samples)
            let size = try appendToLog(samples, &state)
            if exceeds(state.log, count: 0) { makeRoom(in: &state) }
            let areChoresNew = !state.areChoresDue && state.log.needsChores
            if areChoresNew { state.areChoresDue = true }
            return (size, state.needsMaintenance || isSynchronizationDue(&state, samples.count), areChoresNew)
        }
        if isMaintenanceDue { scheduleMaintenance() }
        if areChoresDue { maintenance.async { [weak self] in self?.doChores() } }
        return size
    }

    /// What the disk does not take is counted, like what the limits refuse.
    private func appendToLog(_ samples: [Sample], _ state: inout State) throws(QueueError) -> Int {
        do throws(QueueError) { return try state.log.append(samples) } catch {
            for index in state.places.indices {
                state.places[index].row.drops[.refused, default: 0] += samples.count
            }
            state.needsMaintenance = true
            // The folder may have been deleted.
            maintenance.async { [weak self] in self?.maintain() }
            throw error
        }
    }

    private func refuseIfFull(_ state: inout State, _ samples: [Sample]) throws(QueueError) {
        guard configuration.limits.whenFull == .refuseNew, exceeds(state.log, count: samples.count) else { return }
        for index in state.places.indices {
            state.places[index].row.drops[.refused, default: 0] += samples.count
        }
        throw QueueError(.full, "the queue in \(path) is at its limit; deliver what is in it, or raise the limit")
    }

    private func exceeds(_ log: SegmentedLog, count: Int) -> Bool {
        let limits = configuration.limits
        return Int(log.nextSequence - log.startSequence) + count > limits.maxCount || log.bytes > limits.maxBytes
    }

    /// Moves everybody past the oldest segment, until what is kept is within the limits.
    private func makeRoom(in state: inout State) {
        guard let oldest = state.log.stretches.first, state.log.stretches.count > 1 else { return }
        let reason: DropReason = state.log.bytes > configuration.limits.maxBytes ? .bytes : .count
        drop(before: oldest.endSequence, reason, in: &state)
    }

    /// Moves everybody past the segments that hold nothing younger than `maxAge`, by the samples' own instants.
    private func dropOld(_ now: MonotonicInstant?, in state: inout State) {
        guard let maxAge = configuration.limits.maxAge, let now else { return }
        let cutoff = now.advanced(by: .zero - maxAge)
        state.log.prepareForAge(now: now, cutoff: cutoff)
        let old = state.log.sealedStretches.prefix { $0.newest.map { $0 < cutoff } ?? false }
        if let last = old.last { drop(before: last.endSequence, .age, in: &state) }
    }

    private func drop(before end: UInt64, _ reason: DropReason, in state: inout State) {
        for index in state.places.indices where state.places[index].row.cursor < end {
            let count = state.count(state.places[index].row.cursor..<end)
            if count > 0 { state.places[index].row.drops[reason, default: 0] += count }
            state.places[index].row.cursor = end
            state.places[index].position = state.log.position(of: end)
            // What was read and lies behind may be on its way: it will be settled.
            state.places[index].readAhead.removeAll { $0.record.sequence < end }
            state.places[index].version += 1
        }
        state.needsMaintenance = true
    }

    /// Whether a sync has to be set off for what was just written; once for all that comes until then.
    private func isSynchronizationDue(_ state: inout State, _ count: Int) -> Bool {
        state.unsynchronized += count
        guard !state.isSynchronizationDue else { return false }
        switch configuration.synchronization {
        case .never: return false
        case .interval: state.isSynchronizationDue = true
        case .count(let limit): state.isSynchronizationDue = state.unsynchronized >= limit
        }
        return state.isSynchronizationDue
    }
}
