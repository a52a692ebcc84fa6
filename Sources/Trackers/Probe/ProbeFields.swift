public import Instrument
internal import InstrumentCMCD

extension AttributeKey where Value == String {
    /// The step in which an error occurred (``ProbeError/Phase``). Our addition.
    static var errorPhase: Self { "errorPhase" }
    /// The address that failed, without credentials and query. Our addition.
    static var errorURL: Self { "errorURL" }
    /// The code of a `StreamWarning` (`StreamWarning.Kind`).
    public static var warningCode: Self { "warningCode" }
    /// The message of a `StreamWarning`, for people.
    public static var warningDescription: Self { "warningDescription" }
    /// The address of a `StreamWarning`, without credentials and query.
    public static var warningURL: Self { "warningURL" }
}

extension AttributeKey where Value == Duration {
    /// The time until the first segment of a presentation that has not begun is available. Our addition.
    static var presentationWait: Self { "presentationWait" }
}

extension AttributeKey where Value == Int {
    /// The HTTP status that was answered. Our addition.
    static var errorStatus: Self { "errorStatus" }
    /// The bytes of all answers. Our addition.
    public static var receivedBytes: Self { "receivedBytes" }
    /// The cues of all subtitles that were loaded; absent without subtitles. Our addition.
    public static var countSubtitleCues: Self { "countSubtitleCues" }
}

extension PrivacyCatalogue {
    /// The fields that the probe collects in addition to the vocabulary.
    public static let probe: PrivacyCatalogue = [
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData),
        FieldDeclaration(.requestSession, "The session in CMCD; new for each playback", .otherUsageData),
        FieldDeclaration(.errorPhase, "Step in which the error occurred", .otherDiagnosticData),
        FieldDeclaration(.errorURL, "The address that failed, without credentials and query", .otherDiagnosticData),
        FieldDeclaration(.errorStatus, "The HTTP status that was answered", .otherDiagnosticData),
        FieldDeclaration(.warningCode, "Code of a defect of the stream", .otherDiagnosticData),
        FieldDeclaration(.warningDescription, "A defect of the stream, in words", .otherDiagnosticData),
        FieldDeclaration(.warningURL, "The address of the resource with the defect", .otherDiagnosticData),
        FieldDeclaration(.presentationWait, "Time until a presentation begins", .otherDiagnosticData),
        FieldDeclaration(.countRequests, "Requests of the playback", .performanceData),
        FieldDeclaration(.countFailedRequests, "Requests that failed", .performanceData),
        FieldDeclaration(.receivedBytes, "Bytes that the requests brought", .performanceData),
        FieldDeclaration(.countSubtitleCues, "Cues of the subtitles that were loaded", .performanceData),
        FieldDeclaration(.throughput, "Throughput of the latest segment, bit/s", .performanceData),
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
