internal import Dispatch
internal import Instrument

/// Work that waits for the disk, on a separate dispatch queue.
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

    /// Saves changes, and synchronizes them as configured.
    func maintain() {
        if bookkeeping.isClosed { return }
        restoreWhatIsGone()
        state.withLock { ($0.isSynchronizationDue, $0.unsynchronized, $0.needsMaintenance) = (false, 0, false) }
        do throws(QueueError) {
            try drain()
            saveChanges()
            if configuration.synchronization != .never { try synchronizeWritten() }
            folder.noteSuccess(of: .maintenance)
        } catch {
            folder.noteFailure("\(error); the store retries with the next sample", of: .maintenance)
        }
    }

    /// Makes every sample that was appended so far survive a loss of power.
    /// - Throws: if the synchronization failed; the caller may repeat the call.
    func synchronize() throws(QueueError) {
        try drain()
        guard saveChanges() else {
            throw QueueError(.storeFailed, "cannot save the cursors of backends in \(path)")
        }
        try synchronizeWritten()
    }

    /// Synchronizes the log, and the bookkeeping if it has unsynchronized writes.
    func synchronizeWritten() throws(QueueError) {
        try synchronizing.withLock { (_: inout Void) throws(QueueError) in
            let (work, end) = state.withLock { ($0.log.takeUnsynchronized(), $0.log.nextSequence) }
            do throws(QueueError) {
                for segment in work.segments { try segment.synchronize() }
                if work.hasNewNames { try Directory.synchronize(path) }
                if bookkeeping.hasUnsynchronizedWrites { try synchronizeBookkeeping() }
            } catch {
                state.withLock { $0.log.putBack(work) }
                writeAgain(work)
                throw error
            }
            state.withLock { $0.synchronizedEnd = max($0.synchronizedEnd, end) }
        }
    }

    /// Lets the next synchronization write everything again whose synchronization failed. The system may take pages for
    /// written that it could not write, and a later call would succeed without them (fsync(2), NOTES).
    private func writeAgain(_ work: SegmentedLog.Unsynchronized) {
        // So that nothing is copied between the failure and the end of each stretch that is read here.
        draining.withLock { _ in
            let stretches = state.withLock { $0.log.stretches(of: work) }
            for stretch in stretches { stretch.segment.markDirty(upTo: stretch.end) }
        }
    }

    /// Renames, truncates and creates files, so that an append does not wait for the disk.
    func doChores() { chores.withLock { _ in doChoresLocked() } }

    /// The caller holds `chores`.
    func doChoresLocked() {
        let chores = state.withLock { state -> [SegmentChores.Chore]? in
            if state.isLetGo { return nil }
            state.areChoresDue = false
            return state.log.takeChores()
        }
        guard let chores else { return }
        for chore in chores { perform(chore) }
        if !chores.isEmpty { noteAges() }
        // Last, because no spare is created while a segment has the spare's name.
        if let missing = state.withLock({ $0.log.missingSpare }) { makeSpare(of: missing) }
    }

    /// Saves the ages of segments, for the next run in this boot.
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

    private func perform(_ chore: SegmentChores.Chore) {
        switch chore {
        case .cut(let segment, let end): segment.cut(to: end)
        case .name(let segment, let isRetry):
            do throws(QueueError) {
                try segment.move(to: state.withLock { $0.log.path(of: segment.first) })
            } catch {
                // A deleted segment was passed by every backend.
                if Directory.size(of: segment.path) != nil {
                    if !isRetry { report(.store("\(error); the store retries it")) }
                    return state.withLock { $0.log.retryNaming(segment) }
                }
            }
            state.withLock { $0.log.spareNameIsFree() }
        }
    }

    /// If the disk has no room for a spare segment, the append that needs the next segment receives the error.
    private func makeSpare(of size: Int) {
        guard let spare = try? Segment(creating: state.withLock { $0.log.sparePath }, capacity: size) else { return }
        spare.touch()
        state.withLock { $0.log.keep(spare: spare) }
    }
}
