public import Instrument

extension AttributeKey where Value == String {
    /// The kind of an error: `adLoadingFailed`, `adPlayingFailed` or `unknown` (`IMAErrorType`). Our addition.
    public static var errorType: Self { "errorType" }
}

extension PrivacyCatalogue {
    /// The fields that the monitor of the IMA SDK collects in addition to the vocabulary.
    public static let ima: PrivacyCatalogue = [
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData),
        FieldDeclaration(.errorType, "Kind of the error", .otherDiagnosticData),
    ]
}
