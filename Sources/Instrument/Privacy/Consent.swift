/// Whether a person allows that samples are collected and sent.
public enum Consent: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Samples are collected and delivered.
    case granted
    /// Nobody has answered yet: samples are collected and held; nothing is sent, what was queued before included.
    case pending
    /// Nothing is collected and nothing is sent. What was held while pending is erased; what was collected while
    /// granted stays, unsent, until consent is granted again or the app erases it.
    case denied

    /// The case's name.
    public var description: String { rawValue }
}
