internal import Instrument

/// Synchronizes the log and the bookkeeping with the disk, so that they survive a loss of power.
final class Synchronizer: Sendable {
    /// Held while files are synchronized, so that a second synchronization waits for the first one.
    private let synchronizing = OrderedLock(.synchronizing, ())
    private let folder: StoreFolder
    private let saver: ChangeSaver
    private let drainer: Drainer

    init(_ folder: StoreFolder, _ saver: ChangeSaver, _ drainer: Drainer) {
        self.folder = folder
        self.saver = saver
        self.drainer = drainer
    }

    /// Makes every sample that was appended so far survive a loss of power.
    /// - Throws: if the synchronization failed; the caller may repeat the call.
    func synchronize() throws(QueueError) {
        try drainer.drain()
        guard saver.saveChanges() else {
            throw QueueError(.storeFailed, "cannot save the cursors of backends in \(folder.path)")
        }
        try synchronizeWritten()
    }

    /// Synchronizes the log, and the bookkeeping if it has unsynchronized writes.
    func synchronizeWritten() throws(QueueError) {
        try synchronizing.withLock { (_: inout Void) throws(QueueError) in
            let (work, end) = folder.state.withLock { ($0.log.takeUnsynchronized(), $0.log.nextSequence) }
            do throws(QueueError) {
                for segment in work.segments { try segment.synchronize() }
                if work.hasNewNames { try Directory.synchronize(folder.path) }
                if folder.bookkeeping.hasUnsynchronizedWrites { try saver.synchronizeBookkeeping() }
            } catch {
                folder.state.withLock { $0.log.putBack(work) }
                writeAgain(work)
                throw error
            }
            folder.state.withLock { $0.synchronizedEnd = max($0.synchronizedEnd, end) }
        }
    }

    /// Lets the next synchronization write everything again whose synchronization failed. The system may take pages for
    /// written that it could not write, and a later call would succeed without them (fsync(2), NOTES).
    private func writeAgain(_ work: SegmentedLog.Unsynchronized) {
        // So that nothing is copied between the failure and the end of each stretch that is read here.
        drainer.draining.withLock { _ in
            let stretches = folder.state.withLock { $0.log.stretches(of: work) }
            for stretch in stretches { stretch.segment.markDirty(upTo: stretch.end) }
        }
    }
}
