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
    /// Gives up a backend's place, and what it had not been sent.
    func forget(_ backend: BackendName)
    /// The next samples for a backend, in order: at most `maxCount`, and of as many bytes at most, but at least one if
    /// there is any. They stay until settled.
    func next(for backend: BackendName, maxCount: Int, maxBytes: Int) -> [SampleRecord]
    /// Moves a backend's cursor past `sequence`: what it passes has arrived, but for those in `dead`, which never will.
    func settle(_ backend: BackendName, through sequence: UInt64, dead: [UInt64: String])
    /// Where a backend's samples are.
    func ledger(of backend: BackendName) -> Ledger
    /// What waits for a backend.
    func backlog(of backend: BackendName) -> Backlog
    /// What a backend will never take, the oldest first; a store may keep only the latest.
    func deadLetters(of backend: BackendName) -> [DeadLetter]
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
