/// The state of a session at one instant. Each instant of a session is in exactly one state.
///
/// A later rule never overrides an earlier one: a terminal state outranks an ad, an ad outranks a seek, a seek outranks
/// buffering, and buffering outranks a pause.
public enum SessionState: String, Hashable, Sendable, CaseIterable {
    /// The player prepares, and nobody has asked for the media.
    case idle
    /// The media was asked for and has not started; buffering before the start is joining, and so is the time of an ad
    /// break without an ad on the screen.
    case joining
    /// The playhead moves.
    case playing
    /// The person paused, and the player has data; or an ad break holds the content and no ad is on the screen.
    case paused
    /// Started and neither paused nor seeking, but the player waits for data.
    case rebuffering
    /// The player waits for data while the person has paused.
    case pausedBuffering
    /// From a jump until the picture is back, with the buffering that belongs to the jump.
    case seeking
    /// An ad is on the screen: from its first frame to its end. The rest of its break is not.
    case ad
    /// The media reached its end, or the playlist moved on.
    case ended
    /// A fatal error ended the playback.
    case failed
    /// The person, or an option of a command line, stopped the playback before its end, or the events stop without an
    /// end.
    case stopped

    /// Whether a session in this state has ended.
    public var isTerminal: Bool { self == .ended || self == .failed || self == .stopped }
}
