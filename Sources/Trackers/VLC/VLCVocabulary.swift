public import Instrument

extension PrivacyCatalogue {
    /// The fields that ``VLCPlayer`` collects in addition to the vocabulary.
    public static let vlc: PrivacyCatalogue = [
        FieldDeclaration(.errorCode, "Code of the error", .otherDiagnosticData)
    ]
}
