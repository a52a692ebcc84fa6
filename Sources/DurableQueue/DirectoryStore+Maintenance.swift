internal import Dispatch
internal import Instrument

/// Work that waits for the disk, on its own dispatch queue.
extension DirectoryStore {
    func scheduleMaintenance() {
        switch configuration.synchronization {
        case .interval(let interval):
            maintenance.asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: interval.nanoseconds))) {
                [weak self] in
                self?.maintain()
            }
        default: maintenance.async { [weak self] in self?.maintain() }
        }
    }

    /// Writes down what changed, and synchronizes it as configured.
    func maintain() {
        if bookkeeping.isClosed { return }
        restoreWhatIsGone()
        state.withLock { ($0.isSynchronizationDue, $0.unsynchronized, $0.needsMaintenance) = (false, 0, false) }
        do throws(QueueError) {
            try drain()
            saveChanges()
            if configuration.synchronization != .never { try synchronizeWritten() }
        } catch {
            report(.store("\(error); the store retries with the next sample"))
        }
    }

    /// Makes everything that was appended so far survive a loss of power.
    /// - Throws: if that is not sure. The call may be repeated.
    func synchronize() throws(QueueError) {
        try drain()
        guard saveChanges() else {
            throw QueueError(.storeFailed, "cannot save the cursors of backends in \(path)")
        }
        try synchronizeWritten()
    }

    /// Synchronizes what is in the log, and the bookkeeping if anything in it is not yet safe.
    func synchronizeWritten() throws(QueueError) {
        try synchronizing.withLock { (_: inout Void) throws(QueueError) in
            let (work, end) = state.withLock { ($0.log.takeUnsynchronized(), $0.log.nextSequence) }
            do throws(QueueError) {
                for segment in work.segments { try segment.synchronize() }
                if work.hasNewNames { try Directory.synchronize(path) }
                if bookkeeping.hasUnsynchronizedWrites { try synchronizeBookkeeping() }
            } catch {
                state.withLock { $0.log.putBack(work) }
                throw error
            }
            state.withLock { $0.synchronizedEnd = max($0.synchronizedEnd, end) }
        }
    }

    /// Names, cuts and makes files, so that whoever appends does not wait for the disk.
    func doChores() { chores.withLock { _ in doChoresLocked() } }

    /// The caller holds `chores`.
    func doChoresLocked() {
        let (chores, missing) = state.withLock { state in
            state.areChoresDue = false
            return (state.log.takeChores(), state.log.missingSpare)
        }
        for chore in chores { perform(chore) }
        if !chores.isEmpty { noteAges() }
        if let missing { makeSpare(of: missing) }
    }

    /// Writes down how old segments are, for the next run of this boot.
    private func noteAges() {
        guard configuration.limits.maxAge != nil, let boot = BootSession.identifier else { return }
        let newest = state.withLock { state in
            state.log.sealedStretches.compactMap { stretch in
                stretch.newest.map { (stretch.segment.first, $0) }
            }
        }
        do { try bookkeeping.save(newest: newest, boot: boot) } catch {
            report(
                .store(
                    "cannot save the age of segments in \(path): \(error); the segments are kept longer than configured"
                )
            )
        }
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

    /// If the disk has no room for a spare segment, the append that needs the next segment gets the error.
    private func makeSpare(of size: Int) {
        guard let spare = try? Segment(creating: state.withLock { $0.log.sparePath }, capacity: size) else { return }
        spare.touch()
        state.withLock { $0.log.keep(spare: spare) }
    }
}
