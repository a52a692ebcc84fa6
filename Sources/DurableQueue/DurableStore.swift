public import Instrument

/// A store that survives: what `emit` returned from is there after `kill -9` at any instruction.
///
/// ```swift
/// let store = try DurableStore(directory: "/var/lib/my-app/queue")
/// let instrument = Instrument(hub: CoreHub(), backends: [MyBackend()], store: store)
/// ```
///
/// A sample is written into memory that outlives the process (a file in a tmpfs, on Linux) on the emitting thread, and from
/// there into mapped files by a thread that may wait for the disk; places of backends and dead letters are kept in SQLite. Several processes may use one directory: each has its own folder in it, and what a process left that is
/// gone is delivered by the next one that starts.
///
/// The directory should be this user's, and no other user should be allowed to write to it; the store reports it otherwise.
/// The store opens and deletes only files with names that the store gives, and follows no links in the directory. Nobody else may
/// shorten these files: the system ends a process that writes to a mapped file behind its end (`SIGBUS`). The store looks at
/// a file's length before it reads, and regularly while it writes, which makes this unlikely and does not rule it out.
public final class DurableStore: SampleStore {
    private let directory: String
    private let configuration: DurableConfiguration
    let own: DirectoryStore
    private let state: Lock<State>
    private let consentOfDirectory: Lock<Consent>
    private let report: @Sendable (Diagnostic) -> Void
    /// Held while drained folders are deleted.
    private let removal = Lock(())

    private struct State {
        /// Of processes that are gone, the oldest first; delivered before ours.
        var orphans: [DirectoryStore]
        /// Whom a backend was served from last, which is what it settles.
        var serving: [BackendName: DirectoryStore] = [:]
    }

    /// Opens or creates a store.
    ///
    /// - Parameters:
    ///   - directory: for this app's queues alone; may be a link.
    ///   - configuration: how it keeps samples.
    ///   - randomness: names folders and identifiers.
    ///   - report: receives diagnostics about what was repaired; called from any thread.
    /// - Throws: `QueueError` if the directory cannot be made or written to. What is damaged in it does not throw: it is
    ///   set aside or skipped, and reported.
    public init(
        directory: String,
        configuration: DurableConfiguration = DurableConfiguration(),
        randomness: RandomSource = RandomSource(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws(QueueError) {
        self.directory = directory
        self.configuration = configuration
        self.report = report
        try Directory.make(directory)
        if let exposure = Directory.exposure(of: directory) { report(.store(exposure)) }
        let opening = Opening(
            directory: directory,
            configuration: configuration,
            randomness: randomness,
            report: report
        )
        var adopted = try Self.adopt(opening)
        if let last = adopted.lastIndex(where: { !$0.isMoved }) {
            own = adopted.remove(at: last)
        } else {
            own = try Self.makeOwn(opening)
        }
        consentOfDirectory = Lock(try Self.consent(of: directory))
        state = Lock(State(orphans: adopted))
        if consent == .pending { for store in stores { try store.hold() } }
        try own.prepareToAppend(randomness)
    }

    /// The consent that a directory says it is under; samples that are held say that nobody has answered.
    static func consent(of directory: String) throws(QueueError) -> Consent {
        let written = try ConsentMark.read(in: directory)
        if written != .granted { return written }
        for folder in QueueFolder.paths(in: directory) where try HeldMark.read(in: folder) != nil { return .pending }
        return .granted
    }

    /// Lets the directory go as the end of the process would; waits for a copy to disk that is under way.
    deinit { for store in stores { store.letGo() } }

    /// Adds samples to the log. Without a backend nothing is kept.
    public func append(_ samples: [Sample]) throws(QueueError) -> Int { try own.append(samples) }

    /// Begins to keep a place for a backend, where the configuration says; does nothing if it has one.
    public func attach(_ backend: BackendName) {
        for store in stores {
            store.attach(backend, atOldest: configuration.newcomers == .oldest)
        }
    }

    /// Begins to keep a place for a backend; an ephemeral one begins now, is not written down, and is gone with this process.
    public func attach(_ backend: BackendName, isEphemeral: Bool) {
        guard isEphemeral else { return attach(backend) }
        // Earlier versions wrote it down.
        for store in stores where store.hasWrittenPlace(of: backend) { store.forget(backend) }
        own.attach(backend, atOldest: false, isEphemeral: true)
        removeDrained()
    }

    /// Gives up a backend's place, what it had not been sent, and its dead letters.
    public func forget(_ backend: BackendName) {
        for store in stores { store.forget(backend) }
        removeDrained()
    }

    /// The next samples for a backend; those that earlier processes left come first.
    public func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord] {
        for store in stores {
            let records = store.next(for: backend, maxCount: maxCount, maxBytes: maxBytes)
            if !records.isEmpty {
                state.withLock { $0.serving[backend] = store }
                return records
            }
        }
        return []
    }

    /// What waits for a backend, the oldest first, a thousand samples or less at a time, to be looked at: nothing is given
    /// to the backend. What is appended while this is read may or may not come.
    public func queued(for backend: BackendName) -> some Sequence<[SampleRecord]> {
        stores.lazy.flatMap { $0.queued(for: backend) }
    }

    /// Reads the samples that wait for a backend without giving them to it; those of earlier processes come first.
    public func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool) {
        for records in queued(for: backend) where !body(records) { return }
    }

    /// Moves a backend's cursor in the log that it was served from.
    public func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        let store = state.withLock { $0.serving[backend] } ?? own
        store.settle(backend, through: sequence, dead: dead)
        if store !== own { removeDrained() }
    }

    /// Where a backend's samples are, those of earlier processes included.
    public func ledger(of backend: BackendName) -> Ledger {
        // Under the lock, because a drained folder's sums move meanwhile.
        state.withLock { state in
            (state.orphans + [own]).reduce(into: Ledger()) { sum, store in
                sum.add(store.ledger(of: backend))
            }
        }
    }

    /// What waits for a backend.
    public func backlog(of backend: BackendName) -> Backlog {
        stores.reduce(into: Backlog()) { sum, store in
            let backlog = store.backlog(of: backend)
            sum.count += backlog.count
            sum.bytes += backlog.bytes
        }
    }

    /// What a backend will never take, the oldest first.
    public func deadLetters(of backend: BackendName) -> [DeadLetter] {
        stores.flatMap { $0.deadLetters(of: backend) }
    }

    /// Erases samples, those of earlier processes included, such that they cannot be read from the files any more.
    @discardableResult
    public func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int {
        defer { removeDrained() }
        var count = 0
        for store in stores { count += try store.erase(where: isErased) }
        return count
    }

    /// Makes everything that was appended so far survive a loss of power, places of backends included. Waits for the disk;
    /// never call it where `emit` is called.
    /// - Throws: if that is not sure; the call may be repeated.
    public func synchronize() throws(QueueError) { for store in stores { try store.synchronize() } }

    /// The number after the last sample that was appended, and the number after the last sample that survives a loss of power.
    package var progress: (end: UInt64, synchronizedEnd: UInt64) {
        own.state.withLock { ($0.nextSequence, $0.synchronizedEnd) }
    }

    /// The consent that the directory is under, until somebody changes it: it outlives the process that set it.
    public var consent: Consent { consentOfDirectory.withLock { $0 } }

    /// Marks the end of the log, in a file that survives.
    public func hold() throws(QueueError) {
        try change(to: .pending) { () throws(QueueError) in for store in stores { try store.hold() } }
    }

    /// Takes the marks away, those of earlier processes included.
    public func release() throws(QueueError) {
        for store in stores { try store.release() }
        try change(to: .granted) { () throws(QueueError) in }
    }

    /// Writes the consent down before `body` relies on it.
    private func change(to consent: Consent, _ body: () throws(QueueError) -> Void) throws(QueueError) {
        try ConsentMark.write(consent, in: directory)
        consentOfDirectory.withLock { $0 = consent }
        try body()
    }

    /// Erases what is behind the marks, those of earlier processes included.
    @discardableResult
    public func eraseHeld() throws(QueueError) -> Int {
        defer { removeDrained() }
        var count = 0
        // A crash meanwhile leaves a denial, and marks behind which the next start erases.
        try change(to: .denied) { () throws(QueueError) in
            for store in stores { count += try store.eraseHeld() }
        }
        return count
    }

    /// Tries dead letters again: they go first, to this backend alone. Returns how many there were.
    @discardableResult
    public func retryDeadLetters(_ ids: Set<SampleID>, of backend: BackendName) -> Int {
        stores.reduce(0) { $0 + $1.takeOut(ids, of: backend, toRetry: true) }
    }

    /// Throws dead letters away; the ledger counts them as dropped. Returns how many there were.
    @discardableResult
    public func dropDeadLetters(_ ids: Set<SampleID>, of backend: BackendName) -> Int {
        defer { removeDrained() }
        return stores.reduce(0) { $0 + $1.takeOut(ids, of: backend, toRetry: false) }
    }

    /// The backends that have a place, in the order of their names.
    public var backends: [BackendName] {
        Set(stores.flatMap(\.backendNames)).sorted().map { BackendName($0) }
    }

    /// Writes everything down and lets the directory go; another process may then have it. The store is of no use afterwards.
    public func close() { for store in stores { store.close() } }

    private var stores: [DirectoryStore] { state.withLock { $0.orphans } + [own] }

    /// Deletes the folders of processes that are gone, once everybody has everything that was in them.
    private func removeDrained() {
        removal.withLock { _ in
            for store in state.withLock({ $0.orphans.filter(\.isDrained) }) { remove(store) }
        }
    }

    /// Counts a drained folder's sums here, which is written down first, and deletes it.
    private func remove(_ drained: DirectoryStore) {
        let sums = drained.settledSums
        do throws(QueueError) { try own.keepSums(sums, of: drained.logNumber) } catch {
            return report(.store("\(drained.path) is kept: \(error)"))
        }
        state.withLock { state in
            own.noteCarried(sums)
            state.orphans.removeAll { $0 === drained }
            for (name, store) in state.serving where store === drained { state.serving[name] = nil }
        }
        if !drained.closeAndRemove() {
            report(.store("\(drained.path) has no samples left and is kept, because it holds files of others"))
        }
        own.finishCarrying(drained.logNumber)
    }
}
