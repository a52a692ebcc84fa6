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
}

extension PrivacyCatalogue {
    /// The fields that the monitors of AVPlayer collect in addition to the vocabulary.
    public static let avPlayer: PrivacyCatalogue = [
        FieldDeclaration(.observedBitrate, "Throughput while media was fetched, bit/s", .performanceData),
        FieldDeclaration(.averageBitrate, "Average bit rate of the rendition, bit/s", .performanceData),
        FieldDeclaration(.droppedFrames, "Video frames that were dropped", .performanceData),
        FieldDeclaration(.waitingReason, "Why the player waits", .performanceData),
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData),
    ]
}
