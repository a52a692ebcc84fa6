/// Whether a person allows that samples are collected and sent.
public enum Consent: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The queue collects and delivers samples.
    case granted
    /// The person has not answered yet: the queue collects and holds samples, and sends none, not even samples that
    /// were queued before.
    case pending
    /// The queue collects and sends nothing. It erases the samples that it held while consent was pending. Samples that
    /// it collected while consent was granted stay, unsent, until consent is granted again or the app erases them.
    case denied

    /// The case's name.
    public var description: String { rawValue }
}

/// The consent that a queue is under, and what the queue may therefore do.
struct ConsentState: Sendable {
    /// The consent as it was set last.
    private(set) var consent: Consent
    /// Whether lanes must not send: without consent, or because the store could not carry out a change.
    private(set) var isHeld = false
    /// Whether the queue takes samples.
    private(set) var isCollecting = true

    init(_ consent: Consent) { self.consent = consent }

    /// The queue collects and sends.
    mutating func grant() { (consent, isHeld, isCollecting) = (.granted, false, true) }

    /// The queue sends nothing from now on; the rest of the change follows.
    mutating func stopSending() { isHeld = true }

    /// The queue collects and holds.
    mutating func hold() { (consent, isHeld, isCollecting) = (.pending, true, true) }

    /// The store has no mark for what is held: without its mark, the queue could not erase it later.
    mutating func stopCollecting() { isCollecting = false }

    /// The queue neither collects nor sends.
    mutating func deny() { (consent, isHeld, isCollecting) = (.denied, true, false) }
}
