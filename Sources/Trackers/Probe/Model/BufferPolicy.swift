/// The buffer levels that a player aims at, as media time.
public struct BufferPolicy: Hashable, Sendable {
    /// The level at which playback starts, or resumes after a seek.
    public var startThreshold: Duration
    /// The level at which playback resumes after a stall.
    public var resumeThreshold: Duration
    /// The level at which fetching pauses.
    public var maximum: Duration
    /// What happens where sound and pictures do not arrive together.
    package var sound = SoundPolicy()

    /// Creates a policy; values are brought into order, none is negative and the maximum is at least 1 s.
    public init(startThreshold: Duration, resumeThreshold: Duration, maximum: Duration) {
        self.maximum = max(maximum, .seconds(1))
        self.startThreshold = min(max(startThreshold, .zero), self.maximum)
        self.resumeThreshold = min(max(resumeThreshold, .zero), self.maximum)
    }

    /// As Media3's `DefaultLoadControl` has it: `bufferForPlaybackMs` 1000, `bufferForPlaybackAfterRebufferMs` 2000,
    /// `maxBufferMs` 50000 (androidx.media3 1.6 and later; 2500 and 5000 before).
    package static let exoPlayer = BufferPolicy(
        startThreshold: .seconds(1),
        resumeThreshold: .seconds(2),
        maximum: .seconds(50)
    )

    /// Starts and resumes with a second, holds half a minute; ours where no player is imitated.
    public static let standard = BufferPolicy(
        startThreshold: .seconds(1),
        resumeThreshold: .seconds(1),
        maximum: .seconds(30)
    )
}
