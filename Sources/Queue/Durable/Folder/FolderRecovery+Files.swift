internal import Instrument

/// The staging areas that earlier processes left, and files that cannot be opened.
extension FolderRecovery {
    /// The staging area that an earlier process left for this log; nil, with a diagnostic where samples may be left
    /// behind, if it is missing.
    func leftArea(_ mark: StagingMark, in directory: String?) throws(QueueError) -> StagingArea? {
        switch mark {
        case .file(let path):
            do throws(StagingArea.Absence) { return try StagingArea.open(leftAt: path, log: folder.logNumber) } catch {
                switch error {
                case .missing: break
                case .ofOtherUser(let owner):
                    throw QueueError(
                        .storeFailed,
                        """
                        the staged samples of \(folder.path) are in \(path), which belongs to the user with the number \
                        \(owner): start once as that user, or delete the file and lose these samples
                        """
                    )
                case .foreign:
                    folder.report(
                        .store("\(path) has staged samples of another queue than \(folder.path); it is left unchanged")
                    )
                case .inUse(let area):
                    try requireOther(area)
                    folder.report(
                        .store(
                            "\(folder.path) is a copy of \(area.folderPath), which is in use: its staged samples stay there"
                        )
                    )
                case .unreadable(let cause): throw cause
                }
            }
        case .damaged:
            folder.report(
                .store("the mark of staged samples in \(folder.path) was damaged; their file is searched for")
            )
        case .memory: break
        }
        return try searchedArea(in: directory)
    }

    /// The area of this log at a path; nil if the path has none, or if the area is in use by the folder of which this
    /// one is a copy.
    func area(at path: String) throws(QueueError) -> StagingArea? {
        do throws(StagingArea.Absence) { return try StagingArea.open(leftAt: path, log: folder.logNumber) } catch {
            switch error {
            case .missing, .ofOtherUser, .foreign: break
            case .inUse(let area): try requireOther(area)
            case .unreadable(let cause): throw cause
            }
            return nil
        }
    }

    /// - Throws: if an area that is in use belongs to this folder: a child of the ended process may hold it.
    private func requireOther(_ area: StagingArea) throws(QueueError) {
        guard try FileIdentity(of: folder.path) == area.folderIdentity else { return }
        throw QueueError(.storeFailed, "\(area.path ?? folder.path) is in use by another process")
    }

    /// The mark that a folder should have, because an area says that it belongs to this log and folder.
    func foundMark(in directory: String?) throws(QueueError) -> StagingMark? {
        try folder.isMoved ? nil : searchedArea(in: directory)?.path.map { .file($0) }
    }

    /// An area that says that it belongs to this log and folder.
    private func searchedArea(in directory: String?) throws(QueueError) -> StagingArea? {
        guard let directory else { return nil }
        let own = try StagedFolder(folder.path)
        for path in StagingArea.paths(in: directory) {
            guard let area = try area(at: path) else { continue }
            if area.folderIdentity == own.identity || area.folderPath == own.path { return area }
            folder.report(
                .store("\(path) has staged samples of \(area.folderPath), of which \(own.path) may be a copy")
            )
        }
        return nil
    }

    /// Whether an area belongs to another folder that still exists, of which this folder is a copy.
    func isOfOtherFolder(_ area: StagingArea) -> Bool {
        guard let own = try? FileIdentity(of: folder.path), own != area.folderIdentity else { return false }
        // Without a path, from an earlier version, it may exist.
        return area.folderPath.isEmpty || (try? FileIdentity(of: area.folderPath)) == area.folderIdentity
    }

    /// Moves files that cannot be opened into separate folders, where the next start finds them: they may contain
    /// samples, and the other files must not wait for them.
    ///
    /// Only when all of them have moved, their sequence numbers are left out: a start that fails or is killed before
    /// that leaves out no sample that is still here.
    func moveOut(_ unopened: [SegmentedLog.Unopened]) throws(QueueError) {
        for file in unopened {
            let sibling = try moveOut(file)
            folder.report(.store("\(file.cause); \(file.name) was moved to \(sibling); the next start retries it"))
        }
        for numbers in unopened.compactMap(\.numbers) { saver.leaveOut(numbers) }
    }

    private func moveOut(_ file: SegmentedLog.Unopened) throws(QueueError) -> String {
        let unfinished = try Directory.makeSibling(of: folder.path)
        // Locked while it has no name, because another process would delete the empty folder.
        let lock = try Self.locked(unfinished)
        try Directory.replace(unfinished + "/" + FolderNames.moved, by: folder.path)
        // Held samples stay held there.
        if let mark = folder.state.withLock({ $0.heldFrom }) { try HeldMark.write(mark, in: unfinished) }
        // The file comes last: no start finds a file in an unfinished folder.
        let sibling = try Directory.finishSibling(unfinished)
        try Directory.move(folder.path + "/" + file.name, to: sibling + "/" + file.name)
        _ = consume lock
        return sibling
    }

    private static func locked(_ folder: String) throws(QueueError) -> DirectoryLock {
        do throws(DirectoryLock.Refusal) { return try DirectoryLock(folder) } catch {
            throw QueueError(.storeFailed, "cannot lock \(folder) (\(error))")
        }
    }
}
