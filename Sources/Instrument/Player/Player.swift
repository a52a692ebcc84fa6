/// A player that can be watched: three members, and ``PlayerTracker`` does the rest.
///
/// Signals are reported in order, one at a time, from any thread; `status` may be read from any thread at any time.
public protocol Player: AnyObject, Sendable {
    /// What kind of player it is, sent as `trackerTarget`.
    var name: String { get }
    /// What is true now.
    var status: PlayerStatus { get }
    /// The fields that its signals carry beside those of the vocabulary; others are not sent.
    var declaredFields: PrivacyCatalogue { get }
    /// Reports to `observer` from now on, in place of the one before; nil reports to nobody.
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?)
}

extension Player {
    /// None but those of the vocabulary.
    public var declaredFields: PrivacyCatalogue { [] }
}

/// Something that happened in a player.
public struct PlayerSignal: Sendable {
    /// What happened.
    public var action: Action
    /// When, if the player knows better than "now".
    public var instant: MonotonicInstant?
    /// What was true at that moment; nil leaves it to `Player.status`.
    public var status: PlayerStatus?
    /// What else is known, for example what went wrong.
    public var attributes: Attributes

    /// Creates a signal.
    public init(
        _ action: Action,
        at instant: MonotonicInstant? = nil,
        status: PlayerStatus? = nil,
        attributes: Attributes = Attributes()
    ) {
        self.action = action
        self.instant = instant
        self.status = status
        self.attributes = attributes
    }
}

/// What is true of a player at a moment; nil where it does not say.
public struct PlayerStatus: Hashable, Sendable {
    /// Where the playhead is, from the start of the media.
    public var position: Duration?
    /// How long the media plays; nil for what has no end.
    public var duration: Duration?
    /// The picture's width in pixels.
    public var resolutionWidth: Int?
    /// The picture's height in pixels.
    public var resolutionHeight: Int?
    /// bit/s.
    public var bitrate: Int?
    /// Frames a second.
    public var framesPerSecond: Double?
    /// 0 to 100.
    public var volume: Int?
    /// Whether the sound is off.
    public var isMuted: Bool?
    /// The language of the sound.
    public var language: String?
    /// The language of the subtitles.
    public var subtitles: String?
    /// What is played.
    public var title: String?
    /// Where it is played from, without credentials.
    public var source: String?

    /// Creates a status that says nothing.
    public init() {}

    /// The status under the data model's names.
    public var attributes: Attributes {
        var attributes = Attributes(minimumCapacity: 24)
        attributes[.position] = position
        attributes[.duration] = duration
        attributes[.resolutionWidth] = resolutionWidth
        attributes[.resolutionHeight] = resolutionHeight
        attributes[.bitrate] = bitrate
        attributes[.fps] = framesPerSecond
        attributes[.volume] = volume
        attributes[.isMuted] = isMuted
        attributes[.language] = language
        attributes[.subtitles] = subtitles
        attributes[.title] = title
        attributes[.source] = source
        return attributes
    }
}
