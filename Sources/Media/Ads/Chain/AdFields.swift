public import Instrument

extension AttributeKey where Value == String {
    /// The event of a signal (`breakBegin`, `breakContinue`, `breakEnd`, `other`). Our addition.
    public static var adSignalKind: Self { "adSignalKind" }
    /// The carrier of a signal, such as `EXT-X-DATERANGE`. Our addition.
    public static var adSignalSource: Self { "adSignalSource" }
    /// The identifier of a signal. Our addition.
    public static var adSignalId: Self { "adSignalId" }
    /// The identifier of a break in the ad server's schedule (`breakId`). Our addition.
    public static var adBreakId: Self { "adBreakId" }
    /// The time of a break as the ad server's schedule writes it (`timeOffset`). Our addition.
    public static var adBreakTime: Self { "adBreakTime" }
}

extension AttributeKey where Value == Int {
    /// The code of an ad's error (``VASTErrorCode``). Our addition.
    public static var adErrorCode: Self { "adErrorCode" }
    /// The number of ads that a break was to play. Our addition.
    public static var adsRequested: Self { "adsRequested" }
}

extension AttributeKey where Value == Duration {
    /// The duration of the break that a signal announces. Our addition.
    public static var adSignalDuration: Self { "adSignalDuration" }
}

extension Action {
    /// The playhead reached a signal of the stream. Our addition.
    public static let adSignal = Action("AdSignal")
    /// A break of the ad server's schedule lies behind the end of the content, or has the number of a break that the
    /// content never marks (`#n`): nothing of it plays, and nobody is called. Our addition.
    public static let adBreakMissed = Action("AdBreakMissed")
}

extension PrivacyCatalogue {
    /// The fields that the ads tracker collects in addition to the vocabulary.
    public static let ads: PrivacyCatalogue = [
        FieldDeclaration(.adSignalKind, "Kind of a signal in the stream", .otherDiagnosticData),
        FieldDeclaration(.adSignalSource, "Carrier of a signal in the stream", .otherDiagnosticData),
        FieldDeclaration(.adSignalId, "Identifier of a signal in the stream", .otherDiagnosticData),
        FieldDeclaration(.adSignalDuration, "Duration of the ad break that a signal announces", .otherDiagnosticData),
        FieldDeclaration(.adBreakId, "Identifier of an ad break that is not reached", .advertisingData),
        FieldDeclaration(.adBreakTime, "Scheduled time of an ad break that is not reached", .advertisingData),
        FieldDeclaration(.adErrorCode, "Code of an ad's error", .otherDiagnosticData),
        FieldDeclaration(.adsRequested, "Number of ads that a break was to play", .advertisingData),
    ]
}
