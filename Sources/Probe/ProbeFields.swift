public import Instrument

extension AttributeKey where Value == String {
    /// What kind of error it was, as ``ProbeError/Code`` names it. Our addition.
    static var errorCode: Self { "errorCode" }
    /// What the probe did when it failed, as ``ProbeError/Phase`` names it. Our addition.
    static var errorPhase: Self { "errorPhase" }
}

extension PrivacyCatalogue {
    /// What the probe collects beside the vocabulary.
    public static let probe: PrivacyCatalogue = [
        FieldDeclaration(.errorCode, "What kind of error it was", .otherDiagnosticData),
        FieldDeclaration(.errorPhase, "What was done when it failed", .otherDiagnosticData),
    ]
}
