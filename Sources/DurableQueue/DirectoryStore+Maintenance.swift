internal import Dispatch
internal import Instrument

/// What waits for the disk, on a queue of its own.
extension DirectoryStore {
    func scheduleMaintenance() {
        switch configuration.synchronization {
        case .interval(let interval):
            maintenance.asyncAfter(deadline: .now() + .nanoseconds(Int(interval.nanoseconds))) { [weak self] in
                self?.maintain()
            }
        default: maintenance.async { [weak self] in self?.maintain() }
        }
    }

    func maintain() {
        restoreWhatIsGone()
        let (segments, rows) = state.withLock { state -> ([Segment], [Bookkeeping.PlaceRow]) in
            let segments = state.log.unsynchronizedSegments()
            defer { (state.isSynchronizationDue, state.unsynchronized, state.needsMaintenance) = (false, 0, false) }
            return (segments, state.needsMaintenance ? state.places.map(\.row) : [])
        }
        if configuration.synchronization != .never {
            for segment in segments where !segment.synchronize() {
                report(.store("cannot synchronize \(segment.path)"))
            }
        }
        if !rows.isEmpty { save(rows) }
    }

    /// Names, cuts and makes files, so that whoever appends does not wait for the disk.
    func doChores() {
        chores.withLock { _ in
            let (chores, missing) = state.withLock { state in
                state.areChoresDue = false
                return (state.log.takeChores(), state.log.missingSpare)
            }
            for chore in chores { perform(chore) }
            if !chores.isEmpty { noteAges() }
            if let missing { makeSpare(of: missing) }
        }
    }

    /// Writes down how old segments are, for the next run of this boot.
    private func noteAges() {
        guard configuration.limits.maxAge != nil, let boot = BootSession.identifier else { return }
        let newest = state.withLock { state in
            state.log.sealedStretches.compactMap { stretch in
                stretch.newest.map { (stretch.segment.first, $0) }
            }
        }
        try? bookkeeping.save(newest: newest, boot: boot)
    }

    private func perform(_ chore: SegmentedLog.Chore) {
        switch chore {
        case .cut(let segment, let end): segment.cut(to: end)
        case .name(let segment):
            do throws(QueueError) {
                try segment.move(to: state.withLock { $0.log.path(of: segment.first) })
            } catch {
                // It may be deleted already. If not, the next start names it.
                if Directory.size(of: segment.path) != nil { report(.store("\(error)")) }
            }
        }
    }

    /// If there is no room for a spare, whoever needs the next segment will be told.
    private func makeSpare(of size: Int) {
        guard let spare = try? Segment(creating: state.withLock { $0.log.sparePath }, capacity: size) else { return }
        spare.touch()
        state.withLock { $0.log.keep(spare: spare) }
    }

    func save(_ rows: [Bookkeeping.PlaceRow]) {
        do {
            for row in rows { try bookkeeping.save(row) }
            trim()
        } catch {
            report(.store("cannot keep the places of backends: \(error)"))
        }
    }

    /// Deletes segments that every backend is past; only after the bookkeeping says so, too.
    func trim() {
        let (segments, start) = state.withLock { state -> ([Segment], UInt64?) in
            let segments = state.log.trim(to: state.places.map(\.row.cursor).min() ?? state.log.nextSequence)
            if segments.isEmpty || state.erased.isEmpty { return (segments, nil) }
            state.erased.removeAll(below: state.log.startSequence)
            return (segments, state.log.startSequence)
        }
        for segment in segments { segment.delete() }
        if let start { try? bookkeeping.forgetErased(below: start) }
    }
}
