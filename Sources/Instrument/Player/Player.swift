/// A player that ``PlayerTracker`` observes.
///
/// Signals are reported in order, one at a time, from any thread; `status` may be read from any thread at any time.
public protocol Player: AnyObject, Sendable {
    /// The kind of the player, sent as `trackerTarget`.
    var name: String { get }
    /// The status of the player at the moment of the call.
    var status: PlayerStatus { get }
    /// The fields that the signals carry in addition to the vocabulary; other fields are not sent.
    var declaredFields: PrivacyCatalogue { get }
    /// Reports to `observer` from now on, in place of the earlier observer; nil ends the reports.
    func report(to observer: (@Sendable (PlayerSignal) -> Void)?)
}

extension Player {
    /// No fields in addition to the vocabulary.
    public var declaredFields: PrivacyCatalogue { [] }
}

/// Something that happened in a player.
public struct PlayerSignal: Sendable {
    /// The event.
    public var action: Action
    /// The instant at which it happened; nil for the instant of the report.
    public var instant: MonotonicInstant?
    /// The player's status at that instant; nil for `Player.status` at the instant of the report.
    public var status: PlayerStatus?
    /// Further attributes, for example the message of an error.
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

/// The status of a player at an instant. A member is nil if the player does not report it.
public struct PlayerStatus: Hashable, Sendable {
    /// The playhead's position, from the start of the media.
    public var position: Duration?
    /// The duration of the media; nil for media without an end.
    public var duration: Duration?
    /// The picture's width in pixels.
    public var resolutionWidth: Int?
    /// The picture's height in pixels.
    public var resolutionHeight: Int?
    /// The bit rate, bit/s.
    public var bitrate: Int?
    /// Frames per second.
    public var framesPerSecond: Double?
    /// The volume, 0 to 100.
    public var volume: Int?
    /// Whether the sound is muted.
    public var isMuted: Bool?
    /// The language of the sound.
    public var language: String?
    /// The language of the subtitles.
    public var subtitles: String?
    /// The title of the media.
    public var title: String?
    /// The address or path of the media, without credentials.
    public var source: String?

    /// Creates an empty status.
    public init() {}

    /// The status under the names of the data model.
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
