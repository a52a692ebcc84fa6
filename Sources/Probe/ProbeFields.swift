public import Instrument

extension AttributeKey where Value == String {
    /// What kind of error it was, as ``ProbeError/Code`` names it. Our addition.
    static var errorCode: Self { "errorCode" }
    /// What the probe did when it failed, as ``ProbeError/Phase`` names it. Our addition.
    static var errorPhase: Self { "errorPhase" }
    /// The address that failed, without credentials and query. Our addition.
    static var errorURL: Self { "errorURL" }
    /// What a `StreamWarning` is about: the code of its ``StreamWarning/Kind``.
    public static var warningCode: Self { "warningCode" }
    /// What a `StreamWarning` says, for people.
    public static var warningDescription: Self { "warningDescription" }
    /// The address that a `StreamWarning` is about, without credentials and query.
    public static var warningURL: Self { "warningURL" }
}

extension AttributeKey where Value == Int {
    /// The HTTP status that was answered. Our addition.
    static var errorStatus: Self { "errorStatus" }
    /// How many requests the playback has made for playlists, segments and what they need. Our addition.
    public static var countRequests: Self { "countRequests" }
    /// How many of them failed. Our addition.
    public static var countFailedRequests: Self { "countFailedRequests" }
    /// Bytes that they brought. Our addition.
    public static var receivedBytes: Self { "receivedBytes" }
    /// What the latest segment came at, bit/s. Our addition.
    public static var throughput: Self { "throughput" }
}

extension AttributeKey where Value == Duration {
    /// How far behind the live edge the playhead is. Our addition.
    public static var liveLatency: Self { "liveLatency" }
}

extension PrivacyCatalogue {
    /// What the probe collects beside the vocabulary.
    public static let probe: PrivacyCatalogue = [
        FieldDeclaration(.errorCode, "What kind of error it was", .otherDiagnosticData),
        FieldDeclaration(.errorPhase, "What was done when it failed", .otherDiagnosticData),
        FieldDeclaration(.errorURL, "The address that failed, without credentials and query", .otherDiagnosticData),
        FieldDeclaration(.errorStatus, "The HTTP status that was answered", .otherDiagnosticData),
        FieldDeclaration(.warningCode, "What is odd about the stream", .otherDiagnosticData),
        FieldDeclaration(.warningDescription, "What is odd about the stream, in words", .otherDiagnosticData),
        FieldDeclaration(.warningURL, "The address of what is odd", .otherDiagnosticData),
        FieldDeclaration(.countRequests, "Requests of the playback", .performanceData),
        FieldDeclaration(.countFailedRequests, "Requests that failed", .performanceData),
        FieldDeclaration(.receivedBytes, "Bytes that the requests brought", .performanceData),
        FieldDeclaration(.throughput, "What the latest segment came at, bit/s", .performanceData),
        FieldDeclaration(.liveLatency, "How far behind the live edge the playhead is", .performanceData),
    ]
}
