/// What the app does, as collectors are told: by a lifecycle source, or by the app itself.
public enum CollectorPhase: String, Hashable, Sendable, CaseIterable {
    /// It became active: it is used.
    case active
    /// It is visible, and not used.
    case inactive
    /// It went to the background.
    case background
    /// It comes back from the background, and is not used yet.
    case foreground
    /// It is about to end.
    case terminating
}
