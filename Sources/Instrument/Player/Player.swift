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
    public var attributes: Attributes { Self.fields.attributes(of: self, capacity: 24) }

    /// The members under the names of the data model.
    static let fields: [StatusField<Self>] = [
        StatusField(.position) { $0.position },
        StatusField(.duration) { $0.duration },
        StatusField(.resolutionWidth) { $0.resolutionWidth },
        StatusField(.resolutionHeight) { $0.resolutionHeight },
        StatusField(.bitrate) { $0.bitrate },
        StatusField(.fps) { $0.framesPerSecond },
        StatusField(.volume) { $0.volume },
        StatusField(.isMuted) { $0.isMuted },
        StatusField(.language) { $0.language },
        StatusField(.subtitles) { $0.subtitles },
        StatusField(.title) { $0.title },
        StatusField(.source) { $0.source },
    ]
}
