public import Instrument

/// Fields that quality metrics read in addition to the vocabulary; all are our additions, and each is optional.
extension AttributeKey where Value == Bool {
    /// Whether a fatal error was caused by the person's own action, for example by closing the page while it loads.
    public static var causedByUser: Self { QualityField.causedByUser }
}

extension AttributeKey where Value == Int {
    /// The width of the area that shows the picture, in physical pixels.
    public static var displayWidth: Self { QualityField.displayWidth }
    /// The height of the area that shows the picture, in physical pixels.
    public static var displayHeight: Self { QualityField.displayHeight }
    /// The number of sessions that this sample stands for: N if one of N sessions is recorded.
    public static var sampleWeight: Self { QualityField.sampleWeight }
}

extension PrivacyCatalogue {
    /// The fields of this module. A tracker whose player reports some of them adds these declarations to its own.
    public static let quality: PrivacyCatalogue = [
        FieldDeclaration(.causedByUser, "Whether the person's own action caused an error", .otherDiagnosticData),
        FieldDeclaration(.requestFailed, "Whether a request failed", .performanceData),
        FieldDeclaration(.playbackRate, "The playback rate"),
        FieldDeclaration(.displayWidth, "Width of the area that shows the picture", .performanceData),
        FieldDeclaration(.displayHeight, "Height of the area that shows the picture", .performanceData),
        FieldDeclaration(.requestBytes, "Bytes of a request", .performanceData),
        FieldDeclaration(.requestKind, "Kind of a request", .performanceData),
        FieldDeclaration(.requestTime, "Duration of a request", .performanceData),
        FieldDeclaration(.timeToFirstByte, "Time to the first byte of a request", .performanceData),
        FieldDeclaration(.bufferLevel, "Media ahead of the playhead", .performanceData),
        FieldDeclaration(.sampleWeight, "The number of sessions that a recorded session stands for"),
        FieldDeclaration(.rendition, "The rendition that a metric is about", .performanceData),
        FieldDeclaration(.rate, "The direction of the playback rate that a metric is about"),
        FieldDeclaration(.lostEvents, "The events that a session misses", .performanceData),
        FieldDeclaration(Action.requestFinish.timeKey, "Time since the latest request", .performanceData),
        FieldDeclaration(
            Action.playbackRateChange.timeKey,
            "Time since the playback rate changed",
            .performanceData
        ),
    ]
}

/// The actions of the app's life that sessions depend on; a tracker of the lifecycle reports them.
enum QualityAction {
    static let appBackground = Action("AppBackground")
    static let systemResumed = Action("SystemResumed")
}

/// The keys, created once: creating a key looks its name up in a table.
enum QualityField {
    static let causedByUser = AttributeKey<Bool>("causedByUser")
    static let displayWidth = AttributeKey<Int>("displayWidth")
    static let displayHeight = AttributeKey<Int>("displayHeight")
    static let sampleWeight = AttributeKey<Int>("sampleWeight")
    static let joinedLate = AttributeKey<Bool>.joinedLate
    static let contentSenderId = AttributeKey<String>.contentSenderId
    /// Attributes of metrics.
    static let rendition = AttributeKey<String>("rendition")
    static let rate = AttributeKey<String>("rate")
    static let lostEvents = AttributeKey<String>("lostEvents")
}
