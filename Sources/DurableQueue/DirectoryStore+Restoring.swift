internal import Instrument

/// Files that were deleted or truncated from outside while they were in use.
extension DirectoryStore {
    /// Makes the folder and the files in it again if they are gone: their contents are still in this process's memory, and
    /// nowhere else. Does nothing, at the price of a few looks, if everything is in its place.
    func restoreWhatIsGone() {
        leaveCutSegment()
        guard isAnythingGone else { return }
        // Nothing is erased, named or cut meanwhile: what is replaced just now is not gone.
        erasing.withLock { _ in
            chores.withLock { _ in
                do {
                    let wasGone = try restoreFolder()
                    let names = try restoreFiles()
                    guard wasGone || !names.isEmpty else { return }
                    report(.store("\(path) was deleted while in use; restored: \(names.joined(separator: ", "))"))
                } catch {
                    report(.store("\(path) was deleted while in use and cannot be restored: \(error)"))
                }
            }
        }
    }

    /// Looks without a lock: may say yes of what is being renamed.
    private var isAnythingGone: Bool {
        guard let isInPlace = lock.withLock({ $0?.isInPlace }) else { return false }
        let (stretches, heldFrom) = state.withLock { ($0.log.stretches, $0.heldFrom) }
        return !isInPlace || !Directory.exists(path + "/" + FolderNames.bookkeeping)
            || heldFrom != nil && !Directory.exists(path + "/" + FolderNames.held)
            || stretches.contains { !$0.segment.isInPlace }
            || state.withLock { $0.staging != nil } && !Directory.exists(path + "/" + FolderNames.staging)
    }

    private func restoreFolder() throws -> Bool {
        try lock.withLock { lock in
            // Closed already.
            guard let isInPlace = lock?.isInPlace, !isInPlace else { return false }
            try Directory.make(path)
            do throws(DirectoryLock.Refusal) {
                lock = try DirectoryLock(path)
            } catch {
                throw QueueError(.storeFailed, "another process has a folder in its place (\(error))")
            }
            return true
        }
    }

    /// Returns the names of the files that were gone.
    private func restoreFiles() throws -> [String] {
        guard lock.withLock({ $0 != nil }) else { return [] }
        var names: [String] = []
        if try restoreStagingMark() { names.append(FolderNames.staging) }
        if !Directory.exists(path + "/" + FolderNames.bookkeeping) {
            try bookkeeping.restore(at: path + "/" + FolderNames.bookkeeping, report: report)
            names.append(FolderNames.bookkeeping)
        }
        if let mark = state.withLock({ $0.heldFrom }), !Directory.exists(path + "/" + FolderNames.held) {
            try HeldMark.write(mark, in: path)
            names.append(FolderNames.held)
        }
        guard state.withLock({ state in state.log.stretches.contains { !$0.segment.isInPlace } }) else { return names }
        // A segment is copied as a whole, so that nothing may be written to it meanwhile.
        draining.withLock { _ in sealHead() }
        let stretches = state.withLock { state in
            _ = state.log.takeSpare()
            return state.log.stretches.filter { !$0.segment.isInPlace }
        }
        for stretch in stretches { names += try restore(stretch) }
        return names
    }

    /// A folder that was made again is another one to the system: staged records have to be found from there.
    private func restoreStagingMark() throws(QueueError) -> Bool {
        guard let area = state.withLock({ $0.staging?.area }), let identity = FileIdentity(of: path),
            !Directory.exists(path + "/" + FolderNames.staging)
        else { return false }
        if area.outlivesProcess { area.begin(logNumber, identity) }
        try StagingMark.write(area, in: path)
        return true
    }

    private func restore(_ stretch: SegmentedLog.Stretch) throws(QueueError) -> [String] {
        let (name, end) = (FolderNames.segment(stretch.segment.first), stretch.segment.readableEnd(stretch.end))
        let copy = [UInt8](UnsafeRawBufferPointer(start: stretch.segment.base, count: end))
        try Directory.replace(path + "/" + name, by: copy)
        let segment = try Segment.existing(path + "/" + name, first: stretch.segment.first)
        // Everybody may have passed it meanwhile.
        if state.withLock({ $0.log.replace(segment) }) { return [name] }
        segment.delete()
        return []
    }

    /// A write to memory behind the end of a file ends the process (SIGBUS): a segment that was truncated from outside is not written to again.
    func leaveCutSegment() {
        let cut = state.withLock { state -> Segment? in
            guard let head = state.log.head?.segment, head.readableEnd(head.capacity) < head.capacity else {
                return nil
            }
            state.log.leaveHead()
            return head
        }
        if let cut { report(.store("\(cut.path) was truncated while in use: the samples behind its new end are lost")) }
    }
}
