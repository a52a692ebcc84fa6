/// The names of the vocabulary, once: a case's raw value is the number under which its name is interned, so that using
/// a key of the vocabulary costs a constant; ``AttributeKey`` offers each with its type.
@usableFromInline
enum VocabularyName: UInt32, CaseIterable {
    case trackerTarget, streamId, playbackId, senderId, isAdsTracker, title, source, countErrors, countStarts,
        countAds, accumPauseTime, accumBufferTime, accumSeekTime, accumPlayTime, deltaPlayTime, inPlaybackBlock,
        inPauseBlock, inSeekBlock, inBufferBlock, inAdBreakBlock, inAdBlock, position, duration, resolutionWidth,
        resolutionHeight, bitrate, fps, volume, isMuted, language, subtitles, errorDescription, isFatal,
        adPosition, adDuration, adBufferedTime, adVolume, adRoll, adDescription, adId, adTitle, adAdvertiserName,
        adCreativeId, adBitrate, adResolutionWidth, adResolutionHeight, adSystem
}

extension AttributeKey where Value == String {
    /// The object that the tracker observes, for example the player's name.
    @inlinable public static var trackerTarget: Self { Self(.trackerTarget) }
    /// The stream; new at each ``Action/streamLoad``.
    @inlinable public static var streamId: Self { Self(.streamId) }
    /// The playback; made at the first ``Action/mediaRequest`` or ``Action/streamLoad``, renewed by the next playback.
    @inlinable public static var playbackId: Self { Self(.playbackId) }
    /// The sender: `<instrument UUID>-<tracker number>`.
    @inlinable public static var senderId: Self { Self(.senderId) }
    /// The `senderId` of the content's tracker, in events of a tracker of ads. Our addition: without it, a log of
    /// several content trackers does not show whose playback an ad interrupts.
    public static var contentSenderId: Self { Self("contentSenderId") }
    /// The version of the library that observed the playback (`InstrumentVersion.current`), in ``Action/trackerInit``
    /// alone. Our addition.
    public static var instrumentVersion: Self { Self("instrumentVersion") }
    /// The title of what is played.
    @inlinable public static var title: Self { Self(.title) }
    /// The address or path of the media, without credentials.
    @inlinable public static var source: Self { Self(.source) }
    /// The language of the sound, as the media names it.
    @inlinable public static var language: Self { Self(.language) }
    /// The language of the subtitles shown.
    @inlinable public static var subtitles: Self { Self(.subtitles) }
    /// The message of an error for people, without secrets.
    @inlinable public static var errorDescription: Self { Self(.errorDescription) }
    /// The ad's description.
    @inlinable public static var adDescription: Self { Self(.adDescription) }
    /// The ad's identifier.
    @inlinable public static var adId: Self { Self(.adId) }
    /// The ad's title.
    @inlinable public static var adTitle: Self { Self(.adTitle) }
    /// The advertiser's name.
    @inlinable public static var adAdvertiserName: Self { Self(.adAdvertiserName) }
    /// The creative's identifier.
    @inlinable public static var adCreativeId: Self { Self(.adCreativeId) }
    /// The ad server.
    @inlinable public static var adSystem: Self { Self(.adSystem) }
}

extension AttributeKey where Value == Bool {
    /// Whether the sender watches ads.
    @inlinable public static var isAdsTracker: Self { Self(.isAdsTracker) }
    /// Between the start and the end of a playback.
    @inlinable public static var inPlaybackBlock: Self { Self(.inPlaybackBlock) }
    /// While paused.
    @inlinable public static var inPauseBlock: Self { Self(.inPauseBlock) }
    /// While seeking.
    @inlinable public static var inSeekBlock: Self { Self(.inSeekBlock) }
    /// While buffering.
    @inlinable public static var inBufferBlock: Self { Self(.inBufferBlock) }
    /// In an ad break.
    @inlinable public static var inAdBreakBlock: Self { Self(.inAdBreakBlock) }
    /// In an ad.
    @inlinable public static var inAdBlock: Self { Self(.inAdBlock) }
    /// Whether the sound is off.
    @inlinable public static var isMuted: Self { Self(.isMuted) }
    /// Whether an ``Action/error`` ended the playback; absent means that playback may continue. Our addition.
    @inlinable public static var isFatal: Self { Self(.isFatal) }
    /// Whether a ``Action/streamLoad`` or ``Action/start`` reports a playback that had begun before the tracker
    /// watched; its start time is not known. Our addition.
    public static var joinedLate: Self { Self("joinedLate") }
}

extension AttributeKey where Value == Int {
    /// Errors so far.
    @inlinable public static var countErrors: Self { Self(.countErrors) }
    /// Starts so far.
    @inlinable public static var countStarts: Self { Self(.countStarts) }
    /// Ads begun so far.
    @inlinable public static var countAds: Self { Self(.countAds) }
    /// The picture's width in pixels.
    @inlinable public static var resolutionWidth: Self { Self(.resolutionWidth) }
    /// The picture's height in pixels.
    @inlinable public static var resolutionHeight: Self { Self(.resolutionHeight) }
    /// The stream's rate in bit/s.
    @inlinable public static var bitrate: Self { Self(.bitrate) }
    /// The volume, 0 to 100.
    @inlinable public static var volume: Self { Self(.volume) }
    /// The ad's volume, 0 to 100.
    @inlinable public static var adVolume: Self { Self(.adVolume) }
    /// The ad's rate in bit/s.
    @inlinable public static var adBitrate: Self { Self(.adBitrate) }
    /// The ad's width in pixels.
    @inlinable public static var adResolutionWidth: Self { Self(.adResolutionWidth) }
    /// The ad's height in pixels.
    @inlinable public static var adResolutionHeight: Self { Self(.adResolutionHeight) }
}

extension AttributeKey where Value == Duration {
    /// Time paused in this playback. Whole milliseconds on the wire.
    @inlinable public static var accumPauseTime: Self { Self(.accumPauseTime) }
    /// Time buffering in this playback. Whole milliseconds on the wire.
    @inlinable public static var accumBufferTime: Self { Self(.accumBufferTime) }
    /// Time seeking in this playback. Whole milliseconds on the wire.
    @inlinable public static var accumSeekTime: Self { Self(.accumSeekTime) }
    /// Time played in this playback. Whole milliseconds on the wire.
    @inlinable public static var accumPlayTime: Self { Self(.accumPlayTime) }
    /// Time played since this tracker's last accepted event. Whole milliseconds on the wire.
    @inlinable public static var deltaPlayTime: Self { Self(.deltaPlayTime) }
    /// The position in the content. Whole milliseconds on the wire.
    @inlinable public static var position: Self { Self(.position) }
    /// The length of the content. Whole milliseconds on the wire.
    @inlinable public static var duration: Self { Self(.duration) }
    /// The position in the ad. Whole milliseconds on the wire.
    @inlinable public static var adPosition: Self { Self(.adPosition) }
    /// The length of the ad. Whole milliseconds on the wire.
    @inlinable public static var adDuration: Self { Self(.adDuration) }
    /// The buffered part of the ad. Whole milliseconds on the wire.
    @inlinable public static var adBufferedTime: Self { Self(.adBufferedTime) }
}

extension AttributeKey where Value == Double {
    /// Frames per second.
    @inlinable public static var fps: Self { Self(.fps) }
}

extension AttributeKey where Value == AdRoll {
    /// The place of the break in the content.
    @inlinable public static var adRoll: Self { Self(.adRoll) }
}

/// The place of an ad break in the content.
public enum AdRoll: String, Hashable, Sendable, AttributeValueConvertible {
    /// Before the content.
    case pre
    /// Between two parts of the content.
    case mid
    /// After the content.
    case post
}
