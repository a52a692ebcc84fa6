/// The actions of the vocabulary, once: a case's raw value is the number under which its name is interned, so that
/// a comparison with an action of the vocabulary costs a constant.
@usableFromInline
enum VocabularyAction: UInt32, CaseIterable {
    case trackerInit, playerSet, playerReady, mediaRequest, prepareItem, manifestLoad, streamLoad, start,
        bufferBegin, bufferFinish, seekBegin, seekFinish, pauseBegin, pauseFinish, forwardBegin, forwardFinish,
        rewindBegin, rewindFinish, qualityChangeUp, qualityChangeDown, stop, end, next, error, ping, adBreakBegin,
        adBreakFinish, adBegin, adFinish, adPauseBegin, adPauseFinish, adBufferBegin, adBufferFinish, adSkip,
        adClick, adFirstQuartile, adSecondQuartile, adThirdQuartile, adError

    /// The case's name in upper camel case.
    var wireName: String {
        let name = "\(self)"
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}

/// The actions of a player's life. Wire names follow OpenAVT's data model.
extension Action {
    /// A tracker came into being.
    @inlinable public static var trackerInit: Action { Action(.trackerInit) }
    /// The tracker was given its player.
    @inlinable public static var playerSet: Action { Action(.playerSet) }
    /// The player is ready to take a stream.
    @inlinable public static var playerReady: Action { Action(.playerReady) }
    /// The person asked for a stream (app-driven).
    @inlinable public static var mediaRequest: Action { Action(.mediaRequest) }
    /// The player prepares an item.
    @inlinable public static var prepareItem: Action { Action(.prepareItem) }
    /// The manifest is being loaded.
    @inlinable public static var manifestLoad: Action { Action(.manifestLoad) }
    /// The stream is being loaded.
    @inlinable public static var streamLoad: Action { Action(.streamLoad) }
    /// The first frame is shown.
    @inlinable public static var start: Action { Action(.start) }
    /// The player began to wait for data.
    @inlinable public static var bufferBegin: Action { Action(.bufferBegin) }
    /// The player has enough data again.
    @inlinable public static var bufferFinish: Action { Action(.bufferFinish) }
    /// A jump to another position began.
    @inlinable public static var seekBegin: Action { Action(.seekBegin) }
    /// The picture is back after a jump.
    @inlinable public static var seekFinish: Action { Action(.seekFinish) }
    /// Playback was paused.
    @inlinable public static var pauseBegin: Action { Action(.pauseBegin) }
    /// Playback was resumed.
    @inlinable public static var pauseFinish: Action { Action(.pauseFinish) }
    /// Fast forward began.
    @inlinable public static var forwardBegin: Action { Action(.forwardBegin) }
    /// Fast forward ended.
    @inlinable public static var forwardFinish: Action { Action(.forwardFinish) }
    /// Rewind began.
    @inlinable public static var rewindBegin: Action { Action(.rewindBegin) }
    /// Rewind ended.
    @inlinable public static var rewindFinish: Action { Action(.rewindFinish) }
    /// The rendered quality (resolution, else bitrate) rose.
    @inlinable public static var qualityChangeUp: Action { Action(.qualityChangeUp) }
    /// The rendered quality (resolution, else bitrate) fell.
    @inlinable public static var qualityChangeDown: Action { Action(.qualityChangeDown) }
    /// The person stopped playback (app-driven).
    @inlinable public static var stop: Action { Action(.stop) }
    /// The stream reached its end.
    @inlinable public static var end: Action { Action(.end) }
    /// The playlist moves on to its next item.
    @inlinable public static var next: Action { Action(.next) }
    /// Something failed; ``AttributeKey/errorDescription`` says what.
    @inlinable public static var error: Action { Action(.error) }
    /// Sent every 30 s from ``start`` until ``end``, ``stop``, ``next`` or an unrecoverable ``error``.
    @inlinable public static var ping: Action { Action(.ping) }
}

/// The actions of ads.
extension Action {
    /// An ad break began.
    @inlinable public static var adBreakBegin: Action { Action(.adBreakBegin) }
    /// An ad break ended; an ad left open ends with it.
    @inlinable public static var adBreakFinish: Action { Action(.adBreakFinish) }
    /// An ad began.
    @inlinable public static var adBegin: Action { Action(.adBegin) }
    /// An ad ended.
    @inlinable public static var adFinish: Action { Action(.adFinish) }
    /// An ad was paused.
    @inlinable public static var adPauseBegin: Action { Action(.adPauseBegin) }
    /// An ad was resumed.
    @inlinable public static var adPauseFinish: Action { Action(.adPauseFinish) }
    /// An ad began to wait for data.
    @inlinable public static var adBufferBegin: Action { Action(.adBufferBegin) }
    /// An ad has enough data again.
    @inlinable public static var adBufferFinish: Action { Action(.adBufferFinish) }
    /// The person skipped an ad.
    @inlinable public static var adSkip: Action { Action(.adSkip) }
    /// The person clicked an ad.
    @inlinable public static var adClick: Action { Action(.adClick) }
    /// A quarter of the ad was shown.
    @inlinable public static var adFirstQuartile: Action { Action(.adFirstQuartile) }
    /// Half of the ad was shown.
    @inlinable public static var adSecondQuartile: Action { Action(.adSecondQuartile) }
    /// Three quarters of the ad were shown.
    @inlinable public static var adThirdQuartile: Action { Action(.adThirdQuartile) }
    /// An ad failed.
    @inlinable public static var adError: Action { Action(.adError) }
}

extension Action {
    /// The viewer made the sound louder or softer, or switched it off or on; `volume` and `isMuted` say what holds now.
    /// Not in the data model's list: our addition.
    public static let volumeChange = Action("VolumeChange")

    /// Every action of the player's vocabulary, in the order of a session.
    public static let playerActions: [Action] = [
        .trackerInit, .playerSet, .playerReady, .mediaRequest, .prepareItem, .manifestLoad, .streamLoad, .start,
        .bufferBegin, .bufferFinish, .seekBegin, .seekFinish, .pauseBegin, .pauseFinish, .forwardBegin, .forwardFinish,
        .rewindBegin, .rewindFinish, .qualityChangeUp, .qualityChangeDown, .stop, .end, .next, .error, .ping,
    ]

    /// Every action of the ads' vocabulary.
    public static let adActions: [Action] = [
        .adBreakBegin, .adBreakFinish, .adBegin, .adFinish, .adPauseBegin, .adPauseFinish, .adBufferBegin,
        .adBufferFinish, .adSkip, .adClick, .adFirstQuartile, .adSecondQuartile, .adThirdQuartile, .adError,
    ]
}
