public import Instrument

extension AttributeKey where Value == Int {
    /// The pictures that sinks and decoders dropped because they were late, since the playback began.
    static var droppedFrames: Self { "droppedFrames" }
}

extension PrivacyCatalogue {
    /// The fields that ``GStreamerPlayer`` collects in addition to the vocabulary.
    public static let gstreamer: PrivacyCatalogue = [
        FieldDeclaration(.droppedFrames, "Video frames that were dropped", .performanceData),
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData),
        FieldDeclaration(.playbackRate, "The playback rate", .performanceData),
    ]
}
