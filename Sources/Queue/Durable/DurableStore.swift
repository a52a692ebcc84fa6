public import Instrument

/// A store on disk: a sample whose `emit` has returned survives `kill -9` at any instruction.
///
/// ```swift
/// let store = try DurableStore(directory: "/var/lib/my-app/queue")
/// let instrument = Instrument(hub: CoreHub(), backends: [MyBackend()], store: store)
/// ```
///
/// The emitting thread writes a sample into memory that outlives the process (a file in a tmpfs, on Linux). A thread
/// that may wait for the disk copies the sample from there into mapped files. SQLite stores the places of backends and
/// dead letters. Several processes may use one directory: each process has a separate folder in it, and the next
/// process that starts delivers the samples of ended processes.
///
/// The directory should belong to this user, and no other user should have write access; otherwise the store reports a
/// diagnostic. The store opens and deletes only files with names that the store gives, and follows no links in the
/// directory. No other program may truncate these files: the system ends a process that writes to a mapped file after
/// its end (`SIGBUS`). The store checks a file's length before it reads, and regularly while it writes, which makes
/// this unlikely but not impossible.
public final class DurableStore: SampleStore {
    private let opening: Opening
    let own: DirectoryStore
    /// Of the own folder, here as well: an append retains nothing.
    private let appender: Appender
    private let orphans: OrderedLock<Orphans>
    private let consentOfDirectory: Lock<Consent>
    private let report: @Sendable (Diagnostic) -> Void
    /// Held while folders, backends, dead letters or the consent change, and during an erasure: what one of these has
    /// read is still true when it changes the store.
    private let changing = OrderedLock(.changing, ())

    private var directory: String { opening.directory }
    private var configuration: DurableConfiguration { opening.configuration }

    /// The folders of ended processes.
    private struct Orphans {
        /// The oldest first. Their samples come before this process's samples.
        var stores: [DirectoryStore]
        /// The store of each backend's latest batch, in which the backend settles.
        var serving: [BackendName: DirectoryStore] = [:]
    }

    /// Opens or creates a store.
    ///
    /// - Parameters:
    ///   - directory: a directory for this app's queues only; may be a link.
    ///   - configuration: limits, segments and synchronization.
    ///   - randomness: the source of folder names and identifiers.
    ///   - report: receives diagnostics about repairs; called from any thread.
    /// - Throws: `QueueError` if the directory cannot be created or written to. Damaged files do not throw: the store
    ///   sets them aside or skips them, and reports them.
    public convenience init(
        directory: String,
        configuration: DurableConfiguration = DurableConfiguration(),
        randomness: RandomSource = RandomSource(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws(QueueError) {
        try self.init(
            directory: directory,
            configuration: configuration,
            randomness: randomness,
            stagingDirectory: DirectoryStore.stagingDirectory,
            report: report
        )
    }

    /// Opens or creates a store.
    ///
    /// - Parameter stagingDirectory: a directory for files that the system never writes to a disk; nil for a system
    ///   without one.
    init(
        directory: String,
        configuration: DurableConfiguration,
        randomness: RandomSource,
        stagingDirectory: String?,
        report: @escaping @Sendable (Diagnostic) -> Void
    ) throws(QueueError) {
        self.report = report
        try Directory.make(directory)
        if let exposure = Directory.exposure(of: directory) { report(.store(exposure)) }
        opening = Opening(
            directory: directory,
            configuration: configuration,
            randomness: randomness,
            stagingDirectory: stagingDirectory,
            report: report
        )
        var adopted = try Self.adopt(opening)
        if let last = adopted.lastIndex(where: { !$0.folder.isMoved }) {
            own = adopted.remove(at: last)
        } else {
            own = try Self.makeOwn(opening)
        }
        appender = own.appender
        consentOfDirectory = Lock(try Self.consent(of: directory))
        orphans = OrderedLock(.orphans, Orphans(stores: adopted))
        if consent == .pending { for store in stores { try store.eraser.hold() } }
        try appender.prepareToAppend(in: stagingDirectory, randomness)
        if let stagingDirectory { StagingSweep.run(in: stagingDirectory) }
    }

    /// The consent of a directory; pending if samples are held.
    static func consent(of directory: String) throws(QueueError) -> Consent {
        let written = try ConsentMark.read(in: directory)
        if written != .granted { return written }
        let folders = try QueueFolder.paths(in: directory)
        for folder in folders where try HeldMark.read(in: folder) != nil { return .pending }
        return .granted
    }

    /// Releases the directory as the end of the process does. Waits for a running copy to the disk.
    deinit { for store in stores { store.letGo() } }

    /// Appends samples to the log. Without a backend, the store keeps nothing.
    public func append(_ samples: [Sample]) throws(QueueError) -> Int { try appender.append(samples) }

    /// Creates a cursor for a backend, at the configured start; does nothing if the backend has a cursor.
    public func attach(_ backend: BackendName) {
        changing.withLock { _ in
            for store in stores {
                store.places.attach(backend, atOldest: configuration.newcomers == .oldest)
            }
        }
    }

    /// Creates a cursor for a backend; an ephemeral cursor starts now, is not stored, and ends with this process.
    public func attach(_ backend: BackendName, isEphemeral: Bool) {
        guard isEphemeral else { return attach(backend) }
        changing.withLock { _ in
            // Earlier versions saved ephemeral cursors.
            for store in stores where store.view.hasWrittenPlace(of: backend) { store.places.forget(backend) }
            own.places.attach(backend, atOldest: false, isEphemeral: true)
            removeDrainedLocked()
        }
    }

    /// Removes a backend's cursor, its queued samples and its dead letters.
    public func forget(_ backend: BackendName) {
        changing.withLock { _ in
            for store in stores { store.places.forget(backend) }
            // A batch in flight has no place any more.
            orphans.withLock { $0.serving[backend] = nil }
            removeDrainedLocked()
        }
    }

    /// Returns the next samples for a backend; samples of earlier processes come first.
    public func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        for store in stores {
            let records = store.places.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
            if !records.isEmpty {
                orphans.withLock { $0.serving[backend] = store }
                return records
            }
        }
        return []
    }

    /// Reads a backend's queued samples, the oldest first, at most a thousand at a time, without a delivery. May or may
    /// not include samples that are appended during the call.
    public func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        stores.lazy.flatMap { $0.places.queued(for: backend) }
    }

    /// Reads a backend's queued samples without a delivery; samples of earlier processes come first.
    public func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        for records in queued(for: backend) where !body(records) { return }
    }

    /// Moves a backend's cursor in the log that it was served from. Does nothing if that log's folder is deleted: the
    /// numbers of another log are other samples.
    public func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        guard let store = orphans.withLock({ $0.serving[backend] }) else { return }
        store.places.settle(backend, through: sequence, dead: dead)
        if store !== own { removeDrained() }
    }

    /// Returns a backend's ledger, including samples of earlier processes.
    public func ledger(of backend: BackendName) -> Ledger {
        // Under the lock, because another thread may move a drained folder's sums.
        orphans.withLock { orphans in
            (orphans.stores + [own]).reduce(into: Ledger()) { sum, store in
                sum.add(store.view.ledger(of: backend))
            }
        }
    }

    /// Returns a backend's backlog.
    public func backlog(of backend: BackendName) -> Backlog { stores.map(\.view).backlog(of: backend) }

    /// Returns a backend's dead letters, the oldest first.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] {
        stores.flatMap { $0.places.deadLetters(of: backend) }
    }

    /// Erases samples, including those of earlier processes, so that they cannot be read from the files.
    /// - Throws: if some samples could not be read or erased; the others are erased, and the call may be repeated.
    @discardableResult
    public func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int {
        try changing.withLock { (_: inout Void) throws(QueueError) in
            defer { removeDrainedLocked() }
            var (count, unread): (Int, [String]) = (0, [])
            for store in stores {
                do throws(QueueError) { count += try store.eraser.erase(where: isErased) } catch {
                    unread.append("\(store.path) (\(error))")
                }
            }
            return try eraseUnread(where: isErased, after: count, unread)
        }
    }

    /// Erases samples from the folders that this process could not open, or whose files it could not open, if it can
    /// open them now. Returns the number of all samples that were erased.
    private func eraseUnread(
        where isErased: (SampleRecord) -> Bool,
        after erased: Int,
        _ failed: [String]
    ) throws(QueueError) -> Int {
        let opened = Set(stores.map(\.path))
        var (count, unread) = (erased, failed)
        for path in try QueueFolder.paths(in: directory) where !opened.contains(path) && !Self.isForeign(path) {
            // The folder of a running process, or of another user.
            guard let lock = try? DirectoryLock(path) else { continue }
            do throws(QueueError) {
                let store = try opening.open(path, lock)
                defer { store.close() }
                count += try store.eraser.erase(where: isErased)
                if store.hasMovedFilesOut { unread.append(path) }
            } catch { unread.append("\(path) (\(error))") }
        }
        if unread.isEmpty { return count }
        let list = unread.joined(separator: ", ")
        throw QueueError(
            .storeFailed,
            "erased \(count) sample\(count == 1 ? "" : "s"), but could not read \(list): samples to erase may remain; make the files readable and repeat"
        )
    }

    /// Synchronizes all samples and cursors, so that they survive a loss of power. Waits for the disk; never call it
    /// on the path of `emit`.
    /// - Throws: if the synchronization failed; the call may be repeated.
    public func synchronize() throws(QueueError) { for store in stores { try store.synchronizer.synchronize() } }

    /// The number after the last sample that was appended, and the number after the last sample that survives a loss of
    /// power.
    package var progress: (end: UInt64, synchronizedEnd: UInt64) {
        own.folder.state.withLock { ($0.nextSequence, $0.synchronizedEnd) }
    }

    /// The consent of the directory. It lasts until it is changed, also after the end of the process.
    public var consent: Consent { consentOfDirectory.withLock { $0 } }

    /// Marks the end of the log, in a persistent file.
    public func hold() throws(QueueError) {
        try changing.withLock { (_: inout Void) throws(QueueError) in
            try change(to: .pending)
            for store in stores { try store.eraser.hold() }
        }
    }

    /// Removes the marks, including those of earlier processes.
    public func release() throws(QueueError) {
        try changing.withLock { (_: inout Void) throws(QueueError) in
            for store in stores { try store.eraser.release() }
            try change(to: .granted)
        }
    }

    /// Saves the consent.
    private func change(to consent: Consent) throws(QueueError) {
        try ConsentMark.write(consent, in: directory)
        consentOfDirectory.withLock { $0 = consent }
    }

    /// Erases the samples after the marks, including those of earlier processes.
    @discardableResult
    public func eraseHeld() throws(QueueError) -> Int {
        try changing.withLock { (_: inout Void) throws(QueueError) in
            defer { removeDrainedLocked() }
            // After a crash here, the next start finds the denial and the marks, and erases the samples after them.
            try change(to: .denied)
            var (count, failure): (Int, QueueError?) = (0, nil)
            // A folder that cannot be changed keeps its mark, and the other folders do not wait for it.
            for store in stores {
                do throws(QueueError) { count += try store.eraser.eraseHeld() } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
            return count
        }
    }

    /// Retries a backend's dead letters before its other samples; returns their number.
    @discardableResult
    public func retryDeadLetters(_ ids: Set<SampleID>, of backend: BackendName) -> Int {
        changing.withLock { _ in stores.reduce(0) { $0 + $1.places.takeOut(ids, of: backend, toRetry: true) } }
    }

    /// Discards dead letters, which the ledger counts as dropped; returns their number.
    @discardableResult
    public func dropDeadLetters(_ ids: Set<SampleID>, of backend: BackendName) -> Int {
        changing.withLock { _ in
            defer { removeDrainedLocked() }
            return stores.reduce(0) { $0 + $1.places.takeOut(ids, of: backend, toRetry: false) }
        }
    }

    /// The backends with a cursor, sorted by name.
    public var backends: [BackendName] {
        Set(stores.flatMap(\.view.backendNames)).sorted().map { BackendName($0) }
    }

    /// Writes everything to disk and releases the directory for other processes. The store cannot be used afterwards.
    public func close() {
        changing.withLock { _ in
            // A folder may have been empty when it was adopted.
            removeDrainedLocked()
            for store in stores { store.close() }
        }
    }

    var stores: [DirectoryStore] { orphans.withLock { $0.stores } + [own] }

    /// Deletes the folders of ended processes after every backend has received all their samples.
    private func removeDrained() { changing.withLock { _ in removeDrainedLocked() } }

    /// The caller holds `changing`.
    private func removeDrainedLocked() {
        for store in orphans.withLock({ $0.stores.filter(\.view.isDrained) }) { remove(store) }
    }

    /// Saves a drained folder's sums in this process's folder, and deletes the drained folder.
    private func remove(_ drained: DirectoryStore) {
        let sums = drained.view.settledSums
        do throws(QueueError) { try own.keepSums(sums, of: drained.logNumber) } catch {
            return report(.store("\(drained.path) is kept: \(error)"))
        }
        orphans.withLock { orphans in
            own.noteCarried(sums)
            orphans.stores.removeAll { $0 === drained }
            for (name, store) in orphans.serving where store === drained { orphans.serving[name] = nil }
        }
        if !drained.closeAndRemove() {
            report(.store("\(drained.path) has no samples left and is kept, because it holds files of others"))
        }
        own.finishCarrying(drained.logNumber)
    }
}
