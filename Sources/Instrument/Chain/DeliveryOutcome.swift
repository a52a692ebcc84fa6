/// The outcome of a delivery, by which the queue waits, halves the batch, or keeps dead letters.
public enum DeliveryOutcome: Hashable, Sendable {
    /// The whole batch has arrived.
    case acknowledged
    /// The batch has arrived, except these samples, which the server refuses permanently, with its reasons.
    case acknowledgedExcept([SampleID: String])
    /// No sample has arrived; the queue retries, not before the delay that the server requested.
    case retry(after: Duration?, reason: String)
    /// The server did not accept a credential, which may be temporary: the queue retries with a long back-off.
    case unauthorized(reason: String)
    /// The batch is too large: the queue halves it; a single sample that is too large becomes a dead letter.
    case tooLarge(reason: String)
    /// The server refuses the batch permanently: the queue halves it until the refused sample is alone and becomes a
    /// dead letter.
    case refused(reason: String)
    /// The endpoint is gone: the queue sends nothing more until the next start, and keeps the samples.
    case gone(reason: String)
}
