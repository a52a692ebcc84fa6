internal import Instrument

/// The folders of a store's directory.
extension DurableStore {
    /// The parameters for opening a folder.
    struct Opening {
        let directory: String
        let configuration: DurableConfiguration
        let randomness: RandomSource
        let stagingDirectory: String?
        let report: @Sendable (Diagnostic) -> Void

        func open(_ path: String, _ lock: consuming sending DirectoryLock) throws(QueueError) -> DirectoryStore {
            try DirectoryStore(
                path: path,
                lock: lock,
                configuration: configuration,
                randomness: randomness,
                stagingDirectory: stagingDirectory,
                report: report
            )
        }
    }

    /// Locks and opens the folders without an owner, the oldest first.
    static func adopt(_ opening: Opening) throws(QueueError) -> [DirectoryStore] {
        for name in try Directory.entries(of: opening.directory) where isStrange(name, in: opening.directory) {
            opening.report(.store("\(opening.directory)/\(name) is left unchanged: it is not a folder of the queue"))
        }
        var (adopted, busy): ([DirectoryStore], [String]) = ([], [])
        for path in try QueueFolder.paths(in: opening.directory) where !isForeign(path) {
            do throws(DirectoryLock.Refusal) {
                let lock = try DirectoryLock(path)
                do throws(QueueError) { adopted.append(try opening.open(path, lock)) } catch {
                    opening.report(.store("\(path) is left unchanged: \(error)"))
                }
            } catch {
                switch error {
                case .busy: busy.append(path)
                case .missing: break
                case .foreign(let reason): opening.report(.store("\(path) is left unchanged: \(reason)"))
                }
            }
        }
        return withoutCarried(adopted, busy)
    }

    /// Whether a directory has the name of a queue's folder but another content.
    private static func isStrange(_ name: String, in directory: String) -> Bool {
        guard name.hasSuffix(".queue") else { return false }
        guard FolderNames.folderNumber(name) != nil else { return true }
        return Directory.status(of: directory + "/" + name).map { !Directory.isDirectory($0) } ?? false
    }

    /// Whether a folder contains files, none of which belongs to the store.
    static func isForeign(_ path: String) -> Bool {
        let names = Directory.names(in: path)
        return !names.isEmpty && !names.contains(where: FolderNames.isFile)
    }

    /// Deletes the folders whose sums another folder has: a crash prevented their last owner from deleting them.
    private static func withoutCarried(_ adopted: [DirectoryStore], _ busy: [String]) -> [DirectoryStore] {
        guard adopted.contains(where: \.view.isDrained) else { return adopted }
        var carried: Set<UInt64> = []
        for store in adopted { carried.formUnion((try? store.folder.bookkeeping.carriedLogs()) ?? []) }
        for path in busy {
            let copy = try? Bookkeeping.copy(ofFolder: path)
            carried.formUnion((try? copy?.carriedLogs()) ?? [])
        }
        return adopted.filter { store in
            guard store.view.isDrained, carried.contains(store.logNumber) else { return true }
            _ = store.closeAndRemove()
            return false
        }
    }

    /// Creates a folder for this process.
    static func makeOwn(_ opening: Opening) throws(QueueError) -> DirectoryStore {
        // The number in the name grows, so that the oldest folder comes first.
        let taken = try Directory.entries(of: opening.directory).compactMap(FolderNames.folderNumber)
        var number = (taken.max() ?? 0) + 1
        while true {
            let path = opening.directory + "/" + FolderNames.folder(number)
            // Another process may have locked the folder first.
            if try Directory.makeFolder(path), let lock = try lock(path) { return try opening.open(path, lock) }
            number += 1
        }
    }

    /// nil if another process owns the folder.
    private static func lock(_ path: String) throws(QueueError) -> DirectoryLock? {
        do throws(DirectoryLock.Refusal) {
            return try DirectoryLock(path)
        } catch {
            guard case .foreign(let reason) = error else { return nil }
            throw QueueError(.storeFailed, "cannot use \(path): \(reason)")
        }
    }
}
