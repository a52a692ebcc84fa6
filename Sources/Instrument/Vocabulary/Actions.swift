/// The actions of a player's life. Wire names follow OpenAVT's data model.
extension Action {
    /// A tracker came into being.
    public static let trackerInit = Action("TrackerInit")
    /// The tracker was given its player.
    public static let playerSet = Action("PlayerSet")
    /// The player is ready to take a stream.
    public static let playerReady = Action("PlayerReady")
    /// The person asked for a stream (app-driven).
    public static let mediaRequest = Action("MediaRequest")
    /// The player prepares an item.
    public static let prepareItem = Action("PrepareItem")
    /// The manifest is being loaded.
    public static let manifestLoad = Action("ManifestLoad")
    /// The stream is being loaded.
    public static let streamLoad = Action("StreamLoad")
    /// The first frame is shown.
    public static let start = Action("Start")
    /// The player began to wait for data.
    public static let bufferBegin = Action("BufferBegin")
    /// The player has enough data again.
    public static let bufferFinish = Action("BufferFinish")
    /// A jump to another position began.
    public static let seekBegin = Action("SeekBegin")
    /// The picture is back after a jump.
    public static let seekFinish = Action("SeekFinish")
    /// Playback was paused.
    public static let pauseBegin = Action("PauseBegin")
    /// Playback was resumed.
    public static let pauseFinish = Action("PauseFinish")
    /// Fast forward began.
    public static let forwardBegin = Action("ForwardBegin")
    /// Fast forward ended.
    public static let forwardFinish = Action("ForwardFinish")
    /// Rewind began.
    public static let rewindBegin = Action("RewindBegin")
    /// Rewind ended.
    public static let rewindFinish = Action("RewindFinish")
    /// The rendered quality (resolution, else bitrate) rose.
    public static let qualityChangeUp = Action("QualityChangeUp")
    /// The rendered quality (resolution, else bitrate) fell.
    public static let qualityChangeDown = Action("QualityChangeDown")
    /// The person stopped playback (app-driven).
    public static let stop = Action("Stop")
    /// The stream reached its end.
    public static let end = Action("End")
    /// The playlist moves on to its next item.
    public static let next = Action("Next")
    /// Something failed; ``AttributeKey/errorDescription`` says what.
    public static let error = Action("Error")
    /// Sent every 30 s from ``start`` until ``end``, ``stop``, ``next`` or an unrecoverable ``error``.
    public static let ping = Action("Ping")
}

/// The actions of ads.
extension Action {
    /// An ad break began.
    public static let adBreakBegin = Action("AdBreakBegin")
    /// An ad break ended; an ad left open ends with it.
    public static let adBreakFinish = Action("AdBreakFinish")
    /// An ad began.
    public static let adBegin = Action("AdBegin")
    /// An ad ended.
    public static let adFinish = Action("AdFinish")
    /// An ad was paused.
    public static let adPauseBegin = Action("AdPauseBegin")
    /// An ad was resumed.
    public static let adPauseFinish = Action("AdPauseFinish")
    /// An ad began to wait for data.
    public static let adBufferBegin = Action("AdBufferBegin")
    /// An ad has enough data again.
    public static let adBufferFinish = Action("AdBufferFinish")
    /// The person skipped an ad.
    public static let adSkip = Action("AdSkip")
    /// The person clicked an ad.
    public static let adClick = Action("AdClick")
    /// A quarter of the ad was shown.
    public static let adFirstQuartile = Action("AdFirstQuartile")
    /// Half of the ad was shown.
    public static let adSecondQuartile = Action("AdSecondQuartile")
    /// Three quarters of the ad were shown.
    public static let adThirdQuartile = Action("AdThirdQuartile")
    /// An ad failed.
    public static let adError = Action("AdError")
}

extension Action {
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
