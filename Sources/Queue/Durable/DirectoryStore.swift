internal import Dispatch
internal import Instrument

/// A store in one folder that this process has locked: a log of segments with its bookkeeping.
final class DirectoryStore: Sendable {
    let folder: StoreFolder
    /// Reads the folder.
    let view: FolderView
    let saver: ChangeSaver
    let drainer: Drainer
    let choreWorker: ChoreWorker
    let synchronizer: Synchronizer
    let appender: Appender
    let eraser: Eraser
    let places: BackendPlaces
    let restorer: FileRestorer
    let maintenanceQueue: MaintenanceQueue
    /// Retained here alone: the queue refers to it weakly.
    let maintenance: Maintenance
    /// Whether some files could not be opened and moved to other folders.
    let hasMovedFilesOut: Bool

    var path: String { folder.path }
    var logNumber: UInt64 { folder.logNumber }

    /// Opens the folder that `lock` owns. Replaces a damaged bookkeeping, which is set aside: every backend then
    /// receives all stored samples again.
    /// - Throws: if a file in the folder cannot be opened or read at the moment. Then nothing is changed or deleted.
    init(
        path: String,
        lock: consuming sending DirectoryLock,
        configuration: DurableConfiguration,
        randomness: RandomSource,
        stagingDirectory: String? = DirectoryStore.stagingDirectory,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) throws(QueueError) {
        let opening = try FolderOpening(
            path: path,
            lock: lock,
            configuration: configuration,
            randomness: randomness,
            report: report
        )
        folder = opening.folder
        view = FolderView(folder)
        saver = ChangeSaver(folder)
        maintenanceQueue = MaintenanceQueue()
        drainer = Drainer(folder, maintenanceQueue)
        choreWorker = ChoreWorker(folder)
        appender = Appender(folder, drainer, maintenanceQueue)
        eraser = Eraser(folder, saver, drainer, choreWorker)
        places = BackendPlaces(folder, saver, drainer, eraser)
        synchronizer = Synchronizer(folder, saver, drainer)
        restorer = FileRestorer(folder, drainer, choreWorker, erasing: eraser.erasing)
        maintenance = Maintenance(folder, saver, drainer, choreWorker, synchronizer, restorer)
        maintenanceQueue.begin(with: maintenance)
        hasMovedFilesOut = !opening.unopened.isEmpty
        try FolderRecovery(opening, saver, drainer).run(in: stagingDirectory)
        eraser.finishErasing()
    }

    /// The directory for files that the system never writes to a disk; nil on a system without one.
    static var stagingDirectory: String? {
        #if os(Linux)
        "/dev/shm"
        #else
        nil
        #endif
    }

    /// Seals the head, saves all changes, and releases the folder to other processes.
    func close() {
        write()
        folder.lock.withLock { $0 = nil }
    }

    /// Deletes the folder, which is no longer needed. Returns false if it stays, because it contains other files.
    func closeAndRemove() -> Bool {
        write()
        return folder.lock.withLock { lock in
            guard let held = lock.take() else { return true }
            return held.removeFolder()
        }
    }

    private func write() {
        drainer.close()
        // Waits for a thread that is creating a spare segment.
        choreWorker.doChores()
        folder.state.withLock { $0.log.takeSpare() }?.delete()
        _ = saver.saveChangesRetrying()
        do throws(QueueError) { try synchronizer.synchronizeWritten() } catch { folder.report(.store("\(error)")) }
        // Not while deleted files are restored, for which the open bookkeeping is copied.
        choreWorker.chores.withLock { _ in folder.bookkeeping.close() }
    }

    /// Releases the folder without closing it. Copies staged samples first, if the disk accepts them. Waits for work
    /// that changes files: from here on another store may change them.
    func letGo() {
        choreWorker.chores.withLock { _ in
            drainer.letGo()
            saver.letGo()
            // The next owner must not meet files that this connection still changes.
            folder.bookkeeping.close()
        }
        folder.lock.withLock { $0 = nil }
    }
}
