/// The names of the vocabulary, once; ``AttributeKey`` offers each with its type.
package enum VocabularyNames {
    /// Every name, in the order in which they are interned.
    package static let attributes: [String] = [
        "trackerTarget", "streamId", "playbackId", "senderId", "isAdsTracker", "title", "source",
        "countErrors", "countStarts", "countAds", "accumPauseTime", "accumBufferTime", "accumSeekTime", "accumPlayTime",
        "deltaPlayTime",
        "inPlaybackBlock", "inPauseBlock", "inSeekBlock", "inBufferBlock", "inAdBreakBlock", "inAdBlock",
        "position", "duration", "resolutionWidth", "resolutionHeight", "bitrate", "fps", "volume", "isMuted",
        "language", "subtitles", "errorDescription", "isFatal",
        "adPosition", "adDuration", "adBufferedTime", "adVolume", "adRoll", "adDescription", "adId", "adTitle",
        "adAdvertiserName", "adCreativeId", "adBitrate", "adResolutionWidth", "adResolutionHeight", "adSystem",
    ]
}

/// Made once, so that reading a key costs a load and no look-up.
private enum Keys {
    static let trackerTarget = AttributeKey<String>("trackerTarget")
    static let streamId = AttributeKey<String>("streamId")
    static let playbackId = AttributeKey<String>("playbackId")
    static let senderId = AttributeKey<String>("senderId")
    static let isAdsTracker = AttributeKey<Bool>("isAdsTracker")
    static let title = AttributeKey<String>("title")
    static let source = AttributeKey<String>("source")
    static let countErrors = AttributeKey<Int>("countErrors")
    static let countStarts = AttributeKey<Int>("countStarts")
    static let countAds = AttributeKey<Int>("countAds")
    static let accumPauseTime = AttributeKey<Duration>("accumPauseTime")
    static let accumBufferTime = AttributeKey<Duration>("accumBufferTime")
    static let accumSeekTime = AttributeKey<Duration>("accumSeekTime")
    static let accumPlayTime = AttributeKey<Duration>("accumPlayTime")
    static let deltaPlayTime = AttributeKey<Duration>("deltaPlayTime")
    static let inPlaybackBlock = AttributeKey<Bool>("inPlaybackBlock")
    static let inPauseBlock = AttributeKey<Bool>("inPauseBlock")
    static let inSeekBlock = AttributeKey<Bool>("inSeekBlock")
    static let inBufferBlock = AttributeKey<Bool>("inBufferBlock")
    static let inAdBreakBlock = AttributeKey<Bool>("inAdBreakBlock")
    static let inAdBlock = AttributeKey<Bool>("inAdBlock")
    static let position = AttributeKey<Duration>("position")
    static let duration = AttributeKey<Duration>("duration")
    static let resolutionWidth = AttributeKey<Int>("resolutionWidth")
    static let resolutionHeight = AttributeKey<Int>("resolutionHeight")
    static let bitrate = AttributeKey<Int>("bitrate")
    static let fps = AttributeKey<Double>("fps")
    static let volume = AttributeKey<Int>("volume")
    static let isMuted = AttributeKey<Bool>("isMuted")
    static let language = AttributeKey<String>("language")
    static let subtitles = AttributeKey<String>("subtitles")
    static let errorDescription = AttributeKey<String>("errorDescription")
    static let isFatal = AttributeKey<Bool>("isFatal")
    static let adPosition = AttributeKey<Duration>("adPosition")
    static let adDuration = AttributeKey<Duration>("adDuration")
    static let adBufferedTime = AttributeKey<Duration>("adBufferedTime")
    static let adVolume = AttributeKey<Int>("adVolume")
    static let adRoll = AttributeKey<AdRoll>("adRoll")
    static let adDescription = AttributeKey<String>("adDescription")
    static let adId = AttributeKey<String>("adId")
    static let adTitle = AttributeKey<String>("adTitle")
    static let adAdvertiserName = AttributeKey<String>("adAdvertiserName")
    static let adCreativeId = AttributeKey<String>("adCreativeId")
    static let adBitrate = AttributeKey<Int>("adBitrate")
    static let adResolutionWidth = AttributeKey<Int>("adResolutionWidth")
    static let adResolutionHeight = AttributeKey<Int>("adResolutionHeight")
    static let adSystem = AttributeKey<String>("adSystem")
}

extension AttributeKey where Value == String {
    /// What the tracker watches, for example the player's name.
    public static var trackerTarget: Self { Keys.trackerTarget }
    /// The stream; new at each ``Action/streamLoad``.
    public static var streamId: Self { Keys.streamId }
    /// The playback; made at the first ``Action/mediaRequest`` or ``Action/streamLoad``, renewed by the next playback.
    public static var playbackId: Self { Keys.playbackId }
    /// Who sent it: `<instrument UUID>-<tracker number>`.
    public static var senderId: Self { Keys.senderId }
    /// The title of what is played.
    public static var title: Self { Keys.title }
    /// Where it is played from, without credentials.
    public static var source: Self { Keys.source }
    /// The language of the sound, as the media names it.
    public static var language: Self { Keys.language }
    /// The language of the subtitles shown.
    public static var subtitles: Self { Keys.subtitles }
    /// What went wrong, for people, without secrets.
    public static var errorDescription: Self { Keys.errorDescription }
    /// The ad's description.
    public static var adDescription: Self { Keys.adDescription }
    /// The ad's identifier.
    public static var adId: Self { Keys.adId }
    /// The ad's title.
    public static var adTitle: Self { Keys.adTitle }
    /// Who advertises.
    public static var adAdvertiserName: Self { Keys.adAdvertiserName }
    /// The creative's identifier.
    public static var adCreativeId: Self { Keys.adCreativeId }
    /// The ad server.
    public static var adSystem: Self { Keys.adSystem }
}

extension AttributeKey where Value == Bool {
    /// Whether the sender watches ads.
    public static var isAdsTracker: Self { Keys.isAdsTracker }
    /// Between the start and the end of a playback.
    public static var inPlaybackBlock: Self { Keys.inPlaybackBlock }
    /// While paused.
    public static var inPauseBlock: Self { Keys.inPauseBlock }
    /// While seeking.
    public static var inSeekBlock: Self { Keys.inSeekBlock }
    /// While buffering.
    public static var inBufferBlock: Self { Keys.inBufferBlock }
    /// In an ad break.
    public static var inAdBreakBlock: Self { Keys.inAdBreakBlock }
    /// In an ad.
    public static var inAdBlock: Self { Keys.inAdBlock }
    /// Whether the sound is off.
    public static var isMuted: Self { Keys.isMuted }
    /// Whether an ``Action/error`` ended the playback; absent means that it may go on. Our addition.
    public static var isFatal: Self { Keys.isFatal }
}

extension AttributeKey where Value == Int {
    /// Errors so far.
    public static var countErrors: Self { Keys.countErrors }
    /// Starts so far.
    public static var countStarts: Self { Keys.countStarts }
    /// Ads begun so far.
    public static var countAds: Self { Keys.countAds }
    /// The picture's width in pixels.
    public static var resolutionWidth: Self { Keys.resolutionWidth }
    /// The picture's height in pixels.
    public static var resolutionHeight: Self { Keys.resolutionHeight }
    /// The stream's rate in bit/s.
    public static var bitrate: Self { Keys.bitrate }
    /// The volume, 0 to 100.
    public static var volume: Self { Keys.volume }
    /// The ad's volume, 0 to 100.
    public static var adVolume: Self { Keys.adVolume }
    /// The ad's rate in bit/s.
    public static var adBitrate: Self { Keys.adBitrate }
    /// The ad's width in pixels.
    public static var adResolutionWidth: Self { Keys.adResolutionWidth }
    /// The ad's height in pixels.
    public static var adResolutionHeight: Self { Keys.adResolutionHeight }
}

extension AttributeKey where Value == Duration {
    /// Time paused in this playback. Whole milliseconds on the wire.
    public static var accumPauseTime: Self { Keys.accumPauseTime }
    /// Time buffering in this playback. Whole milliseconds on the wire.
    public static var accumBufferTime: Self { Keys.accumBufferTime }
    /// Time seeking in this playback. Whole milliseconds on the wire.
    public static var accumSeekTime: Self { Keys.accumSeekTime }
    /// Time played in this playback. Whole milliseconds on the wire.
    public static var accumPlayTime: Self { Keys.accumPlayTime }
    /// Time played since this tracker's last accepted event. Whole milliseconds on the wire.
    public static var deltaPlayTime: Self { Keys.deltaPlayTime }
    /// The position in the content. Whole milliseconds on the wire.
    public static var position: Self { Keys.position }
    /// The length of the content. Whole milliseconds on the wire.
    public static var duration: Self { Keys.duration }
    /// The position in the ad. Whole milliseconds on the wire.
    public static var adPosition: Self { Keys.adPosition }
    /// The length of the ad. Whole milliseconds on the wire.
    public static var adDuration: Self { Keys.adDuration }
    /// How much of the ad is buffered. Whole milliseconds on the wire.
    public static var adBufferedTime: Self { Keys.adBufferedTime }
}

extension AttributeKey where Value == Double {
    /// Frames per second.
    public static var fps: Self { Keys.fps }
}

extension AttributeKey where Value == AdRoll {
    /// Where in the content the break lies.
    public static var adRoll: Self { Keys.adRoll }
}

/// Where in the content an ad break lies.
public enum AdRoll: String, Hashable, Sendable, AttributeValueConvertible {
    /// Before the content.
    case pre
    /// Between two parts of the content.
    case mid
    /// After the content.
    case post
}
