/// How a probe plays.
public struct ProbeConfiguration: Hashable, Sendable {
    /// What is played, sent as `title`; nil takes the media's own title, else its file name.
    public var title: String?
    /// How much is buffered before playback starts and goes on.
    public var buffer: BufferPolicy
    /// Opening and inspecting the source may take this long.
    public var openTimeout: Duration
    /// Each wait for more data may take this long.
    public var readTimeout: Duration

    /// Creates a configuration; by default the standard buffer, 15 s to open and 15 s for each read.
    public init(
        title: String? = nil,
        buffer: BufferPolicy = .standard,
        openTimeout: Duration = .seconds(15),
        readTimeout: Duration = .seconds(15)
    ) {
        self.title = title
        self.buffer = buffer
        self.openTimeout = openTimeout
        self.readTimeout = readTimeout
    }
}

/// How a playback ended.
public enum ProbeOutcome: Hashable, Sendable {
    /// It reached its end.
    case ended
    /// It failed.
    case failed(ProbeError)
    /// Somebody stopped it.
    case stopped
}

/// How far a playback is, for people who watch it.
public struct ProbeProgress: Hashable, Sendable {
    /// What a player is doing.
    public enum State: String, Hashable, Sendable {
        /// Not told to play yet.
        case idle
        /// Waits for its first data.
        case loading
        /// Plays.
        case playing
        /// Was paused.
        case paused
        /// Waits for data in mid-playback.
        case stalled
        /// Waits for data after a jump.
        case seeking
        /// Is over.
        case finished
    }

    /// What the player is doing.
    public var state: State
    /// Where the playhead is.
    public var position: Duration
    /// How long the media plays, if it says so.
    public var duration: Duration?
    /// What is buffered ahead of the playhead.
    public var buffered: Duration
}
