/// Stores samples until every backend has passed them: one log, with a cursor for each backend.
///
/// All calls are safe from any thread, and no call waits for the network. ``append(_:)`` is on the path of `emit`.
public protocol SampleStore: Sendable {
    /// Appends samples to the log, all of them or none. Returns their size in bytes.
    ///
    /// Once this method returns, the samples are as durable as the store can make them. The ledgers count the samples
    /// that limits drop.
    func append(_ samples: [Sample]) throws(QueueError) -> Int
    /// Creates a place for a backend at the end of the log. Does nothing if the backend has a place.
    func attach(_ backend: BackendName)
    /// Creates a place for a backend. An ephemeral place begins at the end of the log, and a persistent store does not
    /// keep it for the next start.
    func attach(_ backend: BackendName, isEphemeral: Bool)
    /// Deletes a backend's place and the samples that wait for this backend only.
    func forget(_ backend: BackendName)
    /// Leases the next samples for a backend, in order: at most `maxCount` samples and `maxBytes` bytes, but at least
    /// one sample if any waits. They stay in the store until they are settled.
    ///
    /// Until a batch is settled, further calls return the same batch, or its beginning if they ask for fewer samples.
    /// They never add samples that were appended later, so that a server can recognize a repeated batch. For a
    /// persistent store this is also true after a restart.
    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord]
    /// Reads the samples that wait for a backend without a lease, the oldest first, and passes them to `body` in pages
    /// of at most 1,000 samples, until `body` returns false.
    ///
    /// Reading changes nothing: ``next(for:maxCount:maxBytes:)`` returns the same samples as before. The samples of a
    /// leased batch are waiting samples, too. Samples that are appended or settled during the call may or may not be
    /// among the pages.
    func readQueued(for backend: BackendName, _ body: ([SampleRecord]) -> Bool)
    /// Moves a backend's cursor past `sequence`. The backend has accepted the passed samples, except those in `dead`,
    /// which become dead letters with these reasons.
    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String])
    /// The ledger of a backend.
    func ledger(of backend: BackendName) -> Ledger
    /// The number and size of the samples that wait for a backend.
    func backlog(of backend: BackendName) -> Backlog
    /// The samples that a backend will never accept, the oldest first. A store may keep only the latest.
    func deadLetters(of backend: BackendName) -> [DeadLetter]
    /// Erases the samples for which `isErased` returns true, from the log and from the dead letters of every backend.
    /// Returns the number of erased samples, each counted once.
    ///
    /// Once this method returns, nobody can read the erased samples, not even after a crash. Their sequence numbers
    /// stay empty: reads skip them, settling past them counts nothing, and a cursor never points to one. Each backend's
    /// ledger counts erased samples that were queued or dead for this backend as ``DropReason/erased``, and no samples
    /// that the backend has passed. Never called on the path of `emit`. The erasure may or may not see samples that are
    /// appended during the call.
    /// - Throws: if some samples could not be erased; the caller may repeat the call.
    @discardableResult
    func erase(where isErased: (SampleRecord) -> Bool) throws(QueueError) -> Int
    /// The consent that applies to the samples: `granted` at first, `pending` after ``hold()``, `granted` after
    /// ``release()``, `denied` after ``eraseHeld()``. It lasts as long as the samples: a queue over a store that is
    /// opened again begins with this consent.
    var consent: Consent { get }
    /// Marks the end of the log: samples that are appended from now on are held. Does nothing if the log has a mark.
    ///
    /// The mark lasts as long as the samples, including restarts. It does not change the result of
    /// ``next(for:maxCount:maxBytes:)``: callers do not lease samples while samples are held.
    func hold() throws(QueueError)
    /// Removes the mark: held samples become ordinary samples.
    func release() throws(QueueError)
    /// Erases the samples that were appended after the mark, as ``erase(where:)`` does, and then removes the mark.
    /// Returns the number of erased samples; zero without a mark.
    ///
    /// Erases held samples that have become dead letters, too. If this method throws, the mark stays.
    @discardableResult
    func eraseHeld() throws(QueueError) -> Int
}

extension SampleStore {
    /// Creates an ordinary place, which is correct for a store that ends with the process.
    public func attach(_ backend: BackendName, isEphemeral: Bool) { attach(backend) }
}

/// The number and size of waiting samples.
public struct Backlog: Hashable, Sendable {
    /// The number of samples.
    public var count: Int
    /// The size in bytes, as the store measures it.
    public var bytes: Int

    /// Creates a backlog.
    public init(count: Int = 0, bytes: Int = 0) {
        self.count = count
        self.bytes = bytes
    }
}
