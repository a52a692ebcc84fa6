internal import Instrument

/// Restores files that were deleted or truncated from outside while they were in use.
final class FileRestorer: Sendable {
    private let folder: StoreFolder
    private let drainer: Drainer
    private let choreWorker: ChoreWorker
    private let erasing: OrderedLock<Void>

    init(_ folder: StoreFolder, _ drainer: Drainer, _ choreWorker: ChoreWorker, erasing: OrderedLock<Void>) {
        self.folder = folder
        self.drainer = drainer
        self.choreWorker = choreWorker
        self.erasing = erasing
    }

    /// Creates a deleted folder and its files again, whose contents are only in this process's memory. If nothing is
    /// missing, costs a few system calls.
    func restoreWhatIsGone() {
        folder.leaveCutSegment()
        guard isAnythingGone else { return }
        // Excludes erasures, renames and truncations, so that a file that is being replaced does not look deleted.
        erasing.withLock { _ in
            choreWorker.chores.withLock { _ in
                if folder.bookkeeping.isClosed { return }
                do {
                    let wasGone = try restoreFolder()
                    let names = try restoreFiles()
                    guard wasGone || !names.isEmpty else { return }
                    folder.report(
                        .store("\(folder.path) was deleted while in use; restored: \(names.joined(separator: ", "))")
                    )
                } catch {
                    folder.report(.store("\(folder.path) was deleted while in use and cannot be restored: \(error)"))
                }
            }
        }
    }

    /// Checks without a lock. May return true while a file is being renamed.
    private var isAnythingGone: Bool {
        guard let isInPlace = folder.lock.withLock({ $0?.isInPlace }) else { return false }
        let (stretches, heldFrom) = folder.state.withLock { ($0.log.stretches, $0.heldFrom) }
        return !isInPlace || !Directory.exists(folder.path + "/" + FolderNames.bookkeeping)
            || heldFrom != nil && !Directory.exists(folder.path + "/" + FolderNames.held)
            || stretches.contains { !$0.segment.isInPlace }
            || folder.state.withLock { $0.staging != nil } && !Directory.exists(folder.path + "/" + FolderNames.staging)
    }

    private func restoreFolder() throws -> Bool {
        try folder.lock.withLock { lock in
            // The store is closed.
            guard let isInPlace = lock?.isInPlace, !isInPlace else { return false }
            try Directory.make(folder.path)
            do throws(DirectoryLock.Refusal) {
                lock = try DirectoryLock(folder.path)
            } catch {
                throw QueueError(.storeFailed, "another process has a folder in its place (\(error))")
            }
            return true
        }
    }

    /// Returns the names of the files that were missing.
    private func restoreFiles() throws -> [String] {
        guard folder.lock.withLock({ $0 != nil }) else { return [] }
        var names: [String] = []
        if try restoreStagingMark() { names.append(FolderNames.staging) }
        if !Directory.exists(folder.path + "/" + FolderNames.bookkeeping) {
            try folder.bookkeeping.restore(at: folder.path + "/" + FolderNames.bookkeeping, report: folder.report)
            names.append(FolderNames.bookkeeping)
        }
        if let mark = folder.state.withLock({ $0.heldFrom }), !Directory.exists(folder.path + "/" + FolderNames.held) {
            try HeldMark.write(mark, in: folder.path)
            names.append(FolderNames.held)
        }
        guard folder.state.withLock({ state in state.log.stretches.contains { !$0.segment.isInPlace } }) else {
            return names
        }
        // A segment is copied as a whole: nothing may write to it in the meantime.
        drainer.draining.withLock { _ in drainer.sealHead() }
        let stretches = folder.state.withLock { state in
            _ = state.log.takeSpare()
            return state.log.stretches.filter { !$0.segment.isInPlace }
        }
        for stretch in stretches { names += try restore(stretch) }
        return names
    }

    /// Links staged records to a folder that was created again, which has another inode.
    private func restoreStagingMark() throws(QueueError) -> Bool {
        guard let area = folder.state.withLock({ $0.staging?.area }), let identity = try? FileIdentity(of: folder.path),
            !Directory.exists(folder.path + "/" + FolderNames.staging)
        else { return false }
        let large = folder.state.withLock { $0.staging?.largeAreas ?? [] }
        for area in [area] + large where area.outlivesProcess { area.begin(folder.logNumber, identity) }
        try StagingMark.write(area, in: folder.path)
        return true
    }

    private func restore(_ stretch: SegmentedLog.Stretch) throws(QueueError) -> [String] {
        let (name, end) = (FolderNames.segment(stretch.segment.first), stretch.segment.readableEnd(stretch.end))
        let copy = [UInt8](UnsafeRawBufferPointer(start: stretch.segment.base, count: end))
        try Directory.replace(folder.path + "/" + name, by: copy)
        let segment = try Segment.existing(folder.path + "/" + name, first: stretch.segment.first)
        // Every backend may have passed the segment in the meantime.
        if folder.state.withLock({ $0.log.replace(segment) }) { return [name] }
        segment.delete()
        return []
    }
}
