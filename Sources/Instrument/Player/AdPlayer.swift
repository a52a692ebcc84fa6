/// A player of ads that ``AdTracker`` observes.
///
/// Signals are reported in order, one at a time, from any thread; `status` may be read from any thread at any time.
public protocol AdPlayer: AnyObject, Sendable {
    /// The kind of the player, sent as `trackerTarget`.
    var name: String { get }
    /// The status of the current ad; empty without an ad.
    var status: AdStatus { get }
    /// The fields that the signals carry in addition to the vocabulary; other fields are not sent.
    var declaredFields: PrivacyCatalogue { get }
    /// Reports to `observer` from now on, in place of the earlier observer; nil ends the reports.
    func report(to observer: (@Sendable (AdPlayerSignal) -> Void)?)
}

extension AdPlayer {
    /// No fields in addition to the vocabulary.
    public var declaredFields: PrivacyCatalogue { [] }
}

/// Something that happened to an ad or an ad break.
public struct AdPlayerSignal: Sendable {
    /// The event.
    public var action: Action
    /// The instant at which it happened; nil for the instant of the report.
    public var instant: MonotonicInstant?
    /// The status of the ad at that instant.
    public var status: AdStatus
    /// Further attributes, for example the code of an error.
    public var attributes: Attributes

    /// Creates a signal.
    public init(
        _ action: Action,
        at instant: MonotonicInstant? = nil,
        status: AdStatus = AdStatus(),
        attributes: Attributes = Attributes()
    ) {
        (self.action, self.instant, self.status, self.attributes) = (action, instant, status, attributes)
    }
}

/// The status of an ad at an instant. A member is nil if the player does not report it.
public struct AdStatus: Hashable, Sendable {
    /// The position in the ad.
    public var position: Duration?
    /// The length of the ad.
    public var duration: Duration?
    /// The position up to which the ad is buffered.
    public var bufferedTime: Duration?
    /// The volume, 0 to 100.
    public var volume: Int?
    /// The place of the break in the content.
    public var roll: AdRoll?
    /// The ad's identifier.
    public var id: String?
    /// The ad's title.
    public var title: String?
    /// The ad's description.
    public var description: String?
    /// The advertiser's name.
    public var advertiserName: String?
    /// The creative's identifier.
    public var creativeID: String?
    /// The name of the ad server.
    public var system: String?
    /// The bit rate, bit/s.
    public var bitrate: Int?
    /// The width of the picture in pixels.
    public var resolutionWidth: Int?
    /// The height of the picture in pixels.
    public var resolutionHeight: Int?

    /// Creates an empty status.
    public init() {}

    /// The status under the names of the data model.
    public var attributes: Attributes { Self.fields.attributes(of: self, capacity: 20) }

    /// The members under the names of the data model.
    static let fields: [StatusField<Self>] = [
        StatusField(.adPosition) { $0.position },
        StatusField(.adDuration) { $0.duration },
        StatusField(.adBufferedTime) { $0.bufferedTime },
        StatusField(.adVolume) { $0.volume },
        StatusField(.adRoll) { $0.roll },
        StatusField(.adId) { $0.id },
        StatusField(.adTitle) { $0.title },
        StatusField(.adDescription) { $0.description },
        StatusField(.adAdvertiserName) { $0.advertiserName },
        StatusField(.adCreativeId) { $0.creativeID },
        StatusField(.adSystem) { $0.system },
        StatusField(.adBitrate) { $0.bitrate },
        StatusField(.adResolutionWidth) { $0.resolutionWidth },
        StatusField(.adResolutionHeight) { $0.resolutionHeight },
    ]
}
