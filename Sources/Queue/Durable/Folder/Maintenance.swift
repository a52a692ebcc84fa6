internal import Instrument

/// Restores, drains, saves and synchronizes a folder: work that waits for the disk, on a separate dispatch queue.
final class Maintenance: Sendable {
    private let folder: StoreFolder
    private let saver: ChangeSaver
    private let drainer: Drainer
    let choreWorker: ChoreWorker
    private let synchronizer: Synchronizer
    private let restorer: FileRestorer

    init(
        _ folder: StoreFolder,
        _ saver: ChangeSaver,
        _ drainer: Drainer,
        _ choreWorker: ChoreWorker,
        _ synchronizer: Synchronizer,
        _ restorer: FileRestorer
    ) {
        self.folder = folder
        self.saver = saver
        self.drainer = drainer
        self.choreWorker = choreWorker
        self.synchronizer = synchronizer
        self.restorer = restorer
    }

    /// Saves changes, and synchronizes them as configured.
    func maintain() {
        if folder.bookkeeping.isClosed { return }
        restorer.restoreWhatIsGone()
        folder.state.withLock { ($0.isSynchronizationDue, $0.unsynchronized, $0.needsMaintenance) = (false, 0, false) }
        do throws(QueueError) {
            try drainer.drain()
            saver.saveChanges()
            if folder.configuration.synchronization != .never { try synchronizer.synchronizeWritten() }
            folder.noteSuccess(of: .maintenance)
        } catch {
            folder.noteFailure("\(error); the store retries with the next sample", of: .maintenance)
        }
    }

    /// Searches for deleted files, after a drain has failed.
    func restore() {
        folder.state.withLock { $0.isRestoringQueued = false }
        restorer.restoreWhatIsGone()
    }
}
