/// Which fields of app state and device properties are sent.
public enum SiftProfile: String, Hashable, Sendable, CaseIterable {
    /// The fields that SDKs after 2.1.0 send.
    case current
    /// The fields that SDKs up to 2.1.0 sent: also motion, heading, and the hardware in detail.
    case legacy
}
