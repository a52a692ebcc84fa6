/// Keeps samples until every backend is past them: one log, a cursor per backend.
///
/// All calls are safe from any thread and none waits for the network. ``append(_:)`` is on the path of `emit`.
public protocol SampleStore: Sendable {
    /// Adds samples at the end of the log.
    func append(_ samples: [Sample])
    /// Begins to keep a place for a backend, at the end of the log; does nothing if it has one.
    func attach(_ backend: BackendName)
    /// The next samples for a backend, at most `limit`, in order. They stay until settled.
    func next(for backend: BackendName, limit: Int) -> [SampleRecord]
    /// Moves a backend's cursor past `sequence`, counting what it passes as `fate`.
    func settle(_ backend: BackendName, through sequence: UInt64, as fate: SampleFate)
    /// Where a backend's samples are.
    func ledger(of backend: BackendName) -> Ledger
}

/// What became of a sample that a backend's cursor passed.
public enum SampleFate: Hashable, Sendable {
    /// It has arrived.
    case acknowledged
    /// It will never be taken.
    case dead
}
