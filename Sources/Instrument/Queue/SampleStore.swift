/// Keeps samples until every backend is past them: one log, a cursor per backend.
///
/// All calls are safe from any thread and none waits for the network. ``append(_:)`` is on the path of `emit`.
public protocol SampleStore: Sendable {
    /// Adds samples at the end of the log, all of them or none; returns their size in bytes.
    ///
    /// What was returned from is kept as well as the store can. What limits push out is counted in the ledgers.
    func append(_ samples: [Sample]) throws(QueueError) -> Int
    /// Begins to keep a place for a backend, at the end of the log; does nothing if it has one.
    func attach(_ backend: BackendName)
    /// The same; an ephemeral place begins at the end of the log, and a store that survives does not keep it for the next
    /// start.
    func attach(_ backend: BackendName, isEphemeral: Bool)
    /// Gives up a backend's place, and what it had not been sent.
    func forget(_ backend: BackendName)
    /// The next samples for a backend, in order: at most `maxCount`, and of as many bytes at most, but at least one if
    /// there is any. They stay until settled.
    ///
    /// Until it is settled, a batch comes again as it was, or shorter if fewer are asked for: never with what was appended
    /// since, so that a server can recognise a copy. A store that survives keeps to that after a restart, too.
    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord]
    /// Reads the samples that wait for a backend without giving them to it, the oldest first, and passes them to `body` in
    /// pages of at most 1,000 samples, until `body` returns false.
    ///
    /// Reading changes nothing: it leases no batch, and ``next(for:maxCount:maxBytes:)`` gives the same samples as before. A
    /// leased batch is part of what waits. Samples that are appended or settled meanwhile may or may not be among the pages.
    func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool)
    /// Moves a backend's cursor past `sequence`: what it passes has arrived, but for those in `dead`, which never will.
    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String])
    /// Where a backend's samples are.
    func ledger(of backend: BackendName) -> Ledger
    /// What waits for a backend.
    func backlog(of backend: BackendName) -> Backlog
    /// What a backend will never take, the oldest first; a store may keep only the latest.
    func deadLetters(of backend: BackendName) -> [DeadLetter]
    /// Erases the samples that `isErased` picks, wherever they are kept: in the log, and among the dead letters of every
    /// backend. Returns how many these were, each counted once.
    ///
    /// When it returns, nothing of them can be read back, after a crash neither. Their numbers stay empty: reading skips
    /// them, settling past them counts nothing, and a cursor never rests on one. Each backend's ledger moves those that were
    /// queued or dead there to ``DropReason/erased``; those that a backend is past are not counted for it. Never called on
    /// the path of `emit`; samples may be appended meanwhile, of which it may or may not see some.
    /// - Throws: if some could not be erased; the call may be repeated.
    @discardableResult
    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int
    /// The consent that the samples are under: `granted` at first, `pending` after ``hold()``, `granted` after
    /// ``release()``, `denied` after ``eraseHeld()``. It lasts as long as the samples do: a queue that is opened again, by
    /// whomever, begins with it.
    var consent: Consent { get }
    /// Marks the end of the log: what is appended from now on is held. Does nothing if there is a mark already.
    ///
    /// The mark lasts as long as the samples do, restarts included. It changes nothing of what ``next(for:maxCount:maxBytes:)``
    /// gives: whoever reads does not read while samples are held.
    func hold() throws(QueueError)
    /// Takes the mark away: what was held is like anything else.
    func release() throws(QueueError)
    /// Erases what was appended behind the mark, as ``erase(where:)`` does, and then takes the mark away. Returns how many
    /// samples these were; zero without a mark.
    ///
    /// What has become a dead letter since is erased, too. If it throws, the mark stays.
    @discardableResult
    func eraseHeld() throws(QueueError) -> Int
}

extension SampleStore {
    /// Keeps a place like any other: right for a store that ends with the process.
    public func attach(_ backend: BackendName, isEphemeral: Bool) { attach(backend) }
}

/// What waits for a backend.
public struct Backlog: Hashable, Sendable {
    /// Samples.
    public var count: Int
    /// Their bytes, by the store's measure.
    public var bytes: Int

    /// Creates a backlog.
    public init(count: Int = 0, bytes: Int = 0) {
        self.count = count
        self.bytes = bytes
    }
}
