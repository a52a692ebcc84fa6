public import Instrument

extension RecordField {
    /// The field with what it is for the privacy catalogue.
    ///
    /// - Parameters:
    ///   - summary: what it is, for people; the members of an object are added to it.
    ///   - category: what kind of data it is.
    ///   - purposes: what it is collected for. By default analytics, and fighting fraud, which is Apple's app
    ///     functionality.
    ///   - isLinked: whether it tells, by itself, who a person is.
    ///   - isOn: whether it is collected unless somebody chooses otherwise.
    package func declared(
        _ summary: String,
        _ category: DataCategory = .otherDiagnosticData,
        for purposes: Set<DataPurpose> = [.analytics, .appFunctionality],
        isLinked: Bool = false,
        isOn: Bool = true
    ) -> Self {
        var field = self
        field.declaration = FieldDeclaration(
            AttributeName(name),
            valueType,
            members.isEmpty ? summary : "\(summary) (\(members.joined(separator: ", ")))",
            category,
            for: purposes,
            isLinked: isLinked,
            isOn: isOn
        )
        return field
    }

    private var valueType: FieldDeclaration.ValueType {
        switch kind {
        case .text: .text
        case .integer: .integer
        case .number: .number
        case .truth: .flag
        case .time: .milliseconds
        case .texts, .records: .list
        case .record: .object
        }
    }
}

extension AttributeRecord {
    /// What its fields are for the privacy catalogue, taken from ``fields``.
    public static var declaredFields: PrivacyCatalogue { PrivacyCatalogue(fields.compactMap(\.declaration)) }
}
