/// How a probe plays.
public struct ProbeConfiguration: Hashable, Sendable {
    /// What is played, sent as `title`; nil takes the media's own title, else its file name.
    public var title: String?
    /// What kind of player it is: what it buffers, how it chooses among renditions, how it tries again.
    public var profile: PlayerProfile
    /// The language of the sound that is preferred where there is a choice (BCP 47, as `en` or `en-GB`).
    public var language: String?
    /// What it takes from a stream.
    public var limits: StreamLimits
    /// Where playback starts, from the start of the media; beyond its end, there.
    public var startPosition: Duration
    /// How many times it is played, each a playback of its own, as long as none fails; nil until it is stopped.
    public var playCount: Int?
    /// Whether addresses that only this machine or its network can reach are fetched: the source itself, what playlists name
    /// and what redirects lead to. Refuse them for sources that others have named. Then progressive media at an address is
    /// refused altogether, because libavformat, which fetches it, cannot make this distinction; files are played. On Apple
    /// platforms streams fail, too: the transport there cannot make it either.
    public var allowsPrivateAddresses: Bool
    /// Opening and inspecting progressive media may take this long.
    public var openTimeout: Duration
    /// Each wait for more data may take this long, unless the profile says otherwise.
    public var readTimeout: Duration

    /// How much is buffered before playback starts and goes on; the profile's.
    public var buffer: BufferPolicy {
        get { profile.buffer }
        set { profile.buffer = newValue }
    }

    /// Creates a configuration; by default the standard profile, 15 s to open and 15 s for each read.
    public init(
        title: String? = nil,
        profile: PlayerProfile = .standard,
        language: String? = nil,
        limits: StreamLimits = StreamLimits(),
        startPosition: Duration = .zero,
        playCount: Int? = 1,
        allowsPrivateAddresses: Bool = true,
        openTimeout: Duration = .seconds(15),
        readTimeout: Duration = .seconds(15)
    ) {
        self.title = title
        self.profile = profile
        self.language = language
        self.limits = limits
        self.startPosition = max(.zero, startPosition)
        self.playCount = playCount.map { max(1, $0) }
        self.allowsPrivateAddresses = allowsPrivateAddresses
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
