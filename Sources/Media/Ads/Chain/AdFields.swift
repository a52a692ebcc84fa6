public import Instrument

extension AttributeKey where Value == String {
    /// The event of a signal (``AdSignal/Kind``). Our addition.
    public static var adSignalKind: Self { "adSignalKind" }
    /// The carrier of a signal (``AdSignal/Source``). Our addition.
    public static var adSignalSource: Self { "adSignalSource" }
    /// The identifier of a signal. Our addition.
    public static var adSignalId: Self { "adSignalId" }
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
}

extension PrivacyCatalogue {
    /// The fields that the ads tracker collects in addition to the vocabulary.
    public static let ads: PrivacyCatalogue = [
        FieldDeclaration(.adSignalKind, "Kind of a signal in the stream", .otherDiagnosticData),
        FieldDeclaration(.adSignalSource, "Carrier of a signal in the stream", .otherDiagnosticData),
        FieldDeclaration(.adSignalId, "Identifier of a signal in the stream", .otherDiagnosticData),
        FieldDeclaration(.adSignalDuration, "Duration of the ad break that a signal announces", .otherDiagnosticData),
        FieldDeclaration(.adErrorCode, "Code of an ad's error", .otherDiagnosticData),
        FieldDeclaration(.adsRequested, "Number of ads that a break was to play", .advertisingData),
    ]
}
