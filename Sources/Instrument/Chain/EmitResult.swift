/// The result of an event, or of samples, once `emit` or ``BatchQueue/append(_:for:)`` has returned.
public enum EmitResult: Hashable, Sendable {
    /// The store has the event and its metrics: with a durable store, they survive `kill -9`.
    case stored
    /// The chain is busy, and processes the event next: a component emitted it, or another thread has been inside for a
    /// second. Until then the event is in memory only.
    case deferred
    /// The queue collects nothing, without consent or without a backend.
    case notCollected
    /// The store could not keep the event; the error says why. Ledgers count its samples under ``DropReason/refused``.
    case notStored(QueueError)
    /// The event was not legal.
    case rejected(Rejection)
    /// The instrument does not have the tracker.
    case unknownTracker
}
