/// Where a backend's samples are; `emitted == acknowledged + queued + dead + dropped` always holds.
public struct Ledger: Hashable, Sendable {
    /// Samples that the queue took since this backend was attached.
    public var emitted = 0
    /// Samples that have arrived.
    public var acknowledged = 0
    /// Samples that wait.
    public var queued = 0
    /// Samples that will never be taken.
    public var dead = 0
    /// Samples that a cap pushed out.
    public var dropped = 0

    /// Creates an empty ledger.
    public init() {}
}
