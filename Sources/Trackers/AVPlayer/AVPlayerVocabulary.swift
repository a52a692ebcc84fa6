public import Instrument

extension AttributeKey where Value == Int {
    /// The throughput of the network while media was fetched, bit/s (`observedBitrate` of the access log). Our
    /// addition.
    public static var observedBitrate: Self { "observedBitrate" }
    /// The average bit rate that the playlist declares for the rendition, bit/s (`indicatedAverageBitrate`). Our
    /// addition.
    public static var averageBitrate: Self { "averageBitrate" }
    /// Video frames that were dropped in this playback. Our addition.
    public static var droppedFrames: Self { "droppedFrames" }
}

extension AttributeKey where Value == String {
    /// The reason why the player waits, of a `BufferBegin` (`reasonForWaitingToPlay`). Our addition.
    public static var waitingReason: Self { "waitingReason" }
    /// The reason of a `PauseBegin` and its `PauseFinish`: `setRateCalled`, `audioSessionInterrupted`,
    /// `appBackgrounded`, `setRateFailed` (`AVPlayer.RateDidChangeReason`), `interstitialEvent`, or
    /// `waitingForCoordinatedPlayback` (SharePlay). AVFoundation may tell it after the pause began: the `PauseFinish`
    /// alone has it then. Our addition.
    public static var pauseReason: Self { "pauseReason" }
    /// The code of the innermost error that caused an error, for example `CoreMediaErrorDomain -12938`
    /// (`NSUnderlyingErrorKey`). Our addition.
    public static var underlyingErrorCode: Self { "underlyingErrorCode" }
}

extension AttributeKey where Value == Duration {
    /// The part of a live stream that can be sought (`seekableTimeRanges`), its DVR window. Whole milliseconds on the
    /// wire. Our addition.
    public static var dvrWindow: Self { "dvrWindow" }
    /// Of a `Start`: how long it took until playback was likely to continue without a stall
    /// (`AVMetricPlayerItemInitialLikelyToKeepUpEvent.timeTaken`). Whole milliseconds on the wire. Our addition.
    public static var timeToLikelyToKeepUp: Self { "timeToLikelyToKeepUp" }
}

extension PrivacyCatalogue {
    /// The fields that the monitors of AVPlayer collect in addition to the vocabulary.
    public static let avPlayer: PrivacyCatalogue = [
        FieldDeclaration(.observedBitrate, "Throughput while media was fetched, bit/s", .performanceData),
        FieldDeclaration(.averageBitrate, "Average bit rate of the rendition, bit/s", .performanceData),
        FieldDeclaration(.droppedFrames, "Video frames that were dropped", .performanceData),
        FieldDeclaration(.waitingReason, "Why the player waits", .performanceData),
        FieldDeclaration(.pauseReason, "Why playback paused", .performanceData),
        FieldDeclaration(.liveLatency, "How far behind the live edge the playhead is", .performanceData),
        FieldDeclaration(.dvrWindow, "How much of a live stream can be sought", .performanceData),
        FieldDeclaration(.timeToLikelyToKeepUp, "Until playback was likely to continue", .performanceData),
        FieldDeclaration(.requestKind, "Kind of a request", .performanceData),
        FieldDeclaration(.requestTime, "Duration of a request", .performanceData),
        FieldDeclaration(.timeToFirstByte, "Time to the first byte of a request", .performanceData),
        FieldDeclaration(.requestBytes, "Bytes of a request", .performanceData),
        FieldDeclaration(.requestFailed, "Whether a request failed", .performanceData),
        FieldDeclaration(Action.requestFinish.timeKey, "Time since the latest request", .performanceData),
        FieldDeclaration(.underlyingErrorCode, "Code of the error that caused an error", .otherDiagnosticData),
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData),
    ]
}
