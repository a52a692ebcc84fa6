/// The outcome of a delivery. The queue does the rest: waits, halves, keeps dead letters.
public enum DeliveryOutcome: Hashable, Sendable {
    /// All of it has arrived.
    case acknowledged
    /// All of it has arrived but for these samples, which will never be taken, for the server's reasons.
    case acknowledgedExcept([SampleID: String])
    /// None of it has arrived; try again, no sooner than the server asked for, if it did.
    case retry(after: Duration?, reason: String)
    /// The server did not accept a credential, which may be temporary: retry with a long back-off.
    case unauthorized(reason: String)
    /// It is too large: the queue halves it; a sample that is alone too large becomes a dead letter.
    case tooLarge(reason: String)
    /// It will never be taken as it is: the queue halves it until the culprit is alone, which becomes a dead letter.
    case refused(reason: String)
    /// The endpoint is gone: nothing more is sent until the next start, and the samples stay.
    case gone(reason: String)
}
