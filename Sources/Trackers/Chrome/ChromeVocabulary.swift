public import Instrument

extension Action {
    /// The tracker no longer watches the element, whose playback may continue.
    static let detach = Action("Detach")
}

extension AttributeKey where Value == String {
    /// The kind of an ad's error, such as `adLoadingFailed`.
    static var adErrorType: Self { "errorType" }
}

extension AttributeKey where Value == Int {
    /// Pictures that the browser has dropped in this playback (`getVideoPlaybackQuality`).
    static var droppedFrames: Self { "droppedFrames" }
}

extension AttributeKey where Value == Bool {
    /// Whether the media is encrypted.
    static var isEncrypted: Self { "isEncrypted" }
}

extension PrivacyCatalogue {
    /// The fields that ``ChromePlayer`` collects in addition to the vocabulary.
    public static let chrome: PrivacyCatalogue = [
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData),
        FieldDeclaration(.adErrorType, "Kind of the error", .otherDiagnosticData),
        FieldDeclaration(.isEncrypted, "Whether the media is encrypted", .otherDiagnosticData),
        FieldDeclaration(.droppedFrames, "Pictures that the browser dropped", .performanceData),
        FieldDeclaration(.countRequests, "Requests of the playback", .performanceData),
        FieldDeclaration(.countFailedRequests, "Requests that failed", .performanceData),
        FieldDeclaration(.throughput, "Throughput by the estimate of the page's player, bit/s", .performanceData),
        FieldDeclaration(.bufferLevel, "Media ahead of the playhead", .performanceData),
        FieldDeclaration(.liveLatency, "How far behind the live edge the playhead is", .performanceData),
        FieldDeclaration(.requestKind, "Kind of a request", .performanceData),
        FieldDeclaration(.requestBytes, "Bytes of a request", .performanceData),
        FieldDeclaration(.requestTime, "Duration of a request", .performanceData),
        FieldDeclaration(.timeToFirstByte, "Time to the first byte of a request", .performanceData),
        FieldDeclaration(.requestFailed, "Whether a request failed", .performanceData),
        FieldDeclaration(.playbackRate, "The playback rate", .performanceData),
        FieldDeclaration(Action.requestFinish.timeKey, "Time since the latest request", .performanceData),
        FieldDeclaration(
            Action.playbackRateChange.timeKey,
            "Time since the playback rate changed",
            .performanceData
        ),
    ]
}
