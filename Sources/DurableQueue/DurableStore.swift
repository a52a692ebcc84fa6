public import Instrument

/// A store that survives: what `emit` returned from is there after `kill -9` at any instruction.
///
/// ```swift
/// let store = try DurableStore(directory: "/var/lib/my-app/queue")
/// let instrument = Instrument(hub: CoreHub(), backends: [MyBackend()], store: store)
/// ```
///
/// Samples are written once, into mapped files, on the emitting thread; places of backends and dead letters are kept in
/// SQLite. Several processes may use one directory: each has a folder of its own in it, and what a process left that is
/// gone is delivered by the next one that starts.
public final class DurableStore: SampleStore {
    private let directory: String
    private let configuration: DurableConfiguration
    private let own: DirectoryStore
    private let state: Lock<State>
    private let consentOfDirectory: Lock<Consent>

    private struct State {
        /// Of processes that are gone, the oldest first; delivered before ours.
        var orphans: [DirectoryStore]
        /// Whom a backend was served from last, which is what it settles.
        var serving: [BackendName: DirectoryStore] = [:]
    }

    /// Opens or creates a store.
    ///
    /// - Parameters:
    ///   - directory: for this app's queues alone.
    ///   - configuration: how it keeps samples.
    ///   - randomness: names folders and identifiers.
    ///   - report: is told what was mended; called from any thread.
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
        try Directory.make(directory)
        var adopted: [DirectoryStore] = []
        for name in try Directory.entries(of: directory) where name.hasSuffix(".queue") {
            let path = directory + "/" + name
            guard let lock = DirectoryLock(path) else { continue }
            do throws(QueueError) {
                adopted.append(
                    try DirectoryStore(
                        path: path,
                        lock: lock,
                        configuration: configuration,
                        randomness: randomness,
                        report: report
                    )
                )
            } catch {
                report(.store("\(path) is left as it is: \(error)"))
            }
        }
        if let last = adopted.popLast() {
            own = last
        } else {
            own = try Self.makeOwn(directory, configuration, randomness, report)
        }
        let areHeld = (adopted + [own]).contains { $0.state.withLock { $0.heldFrom } != nil }
        let written = try ConsentMark.read(in: directory)
        consentOfDirectory = Lock(written == .granted && areHeld ? .pending : written)
        state = Lock(State(orphans: adopted))
        if written != .granted || areHeld { try own.hold() }
        try own.prepareToAppend(randomness)
    }

    /// Lets the directory go as the end of the process would; waits for a copy to disk that is under way.
    deinit { for store in stores { store.letGo() } }

    private static func makeOwn(
        _ directory: String,
        _ configuration: DurableConfiguration,
        _ randomness: RandomSource,
        _ report: @escaping @Sendable (Diagnostic) -> Void
    ) throws(QueueError) -> DirectoryStore {
        // Named by a number that grows, so that the oldest comes first.
        let taken = Directory.names(in: directory).compactMap { UInt64($0.prefix(8), radix: 16) }
        var number = (taken.max() ?? 0) + 1
        while true {
            let digits = String(number, radix: 16)
            let path = directory + "/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits + ".queue"
            try Directory.make(path)
            if let lock = DirectoryLock(path) {
                return try DirectoryStore(
                    path: path,
                    lock: lock,
                    configuration: configuration,
                    randomness: randomness,
                    report: report
                )
            }
            if Directory.size(of: path + "/lock") == nil {
                throw QueueError(.storeFailed, "cannot write to \(path); check the permissions")
            }
            number += 1
        }
    }

    /// Adds samples to the log. Without a backend nothing is kept.
    public func append(_ samples: [Sample]) throws(QueueError) -> Int { try own.append(samples) }

    /// Begins to keep a place for a backend, where the configuration says; does nothing if it has one.
    public func attach(_ backend: BackendName) {
        for store in stores {
            store.attach(backend, atOldest: configuration.newcomers == .oldest)
        }
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

    /// Moves a backend's cursor in the log that it was served from.
    public func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String]) {
        let store = state.withLock { $0.serving[backend] } ?? own
        store.settle(backend, through: sequence, dead: dead)
        if store !== own { removeDrained() }
    }

    /// Where a backend's samples are, those of earlier processes included.
    public func ledger(of backend: BackendName) -> Ledger {
        stores.reduce(into: Ledger()) { sum, store in
            let ledger = store.ledger(of: backend)
            sum.emitted += ledger.emitted
            sum.acknowledged += ledger.acknowledged
            sum.queued += ledger.queued
            sum.dead += ledger.dead
            sum.drops.merge(ledger.drops, uniquingKeysWith: +)
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

    /// The consent that the directory is under, until somebody changes it: it outlives the process that set it.
    public var consent: Consent { consentOfDirectory.withLock { $0 } }

    /// Marks the end of the log, in a file that survives.
    public func hold() throws(QueueError) {
        try change(to: .pending) { () throws(QueueError) in for store in stores { try store.hold() } }
    }

    /// Takes the marks away, those of earlier processes included.
    public func release() throws(QueueError) {
        for store in stores { try store.release() }
        try change(to: .granted) {}
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
        // A crash meanwhile leaves a denial, and marks that the next call erases behind.
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
        let drained = state.withLock { state in
            let drained = state.orphans.filter(\.isDrained)
            state.orphans.removeAll { store in drained.contains { $0 === store } }
            for (name, store) in state.serving where drained.contains(where: { $0 === store }) {
                state.serving[name] = nil
            }
            return drained
        }
        for store in drained {
            let ledgers = store.backendNames.map { (BackendName($0), store.ledger(of: BackendName($0))) }
            store.close()
            // Gone before it counts elsewhere: a crash between the two must not count anything twice.
            Directory.remove(store.path)
            for (backend, ledger) in ledgers { own.carry(ledger, of: backend) }
        }
    }
}
