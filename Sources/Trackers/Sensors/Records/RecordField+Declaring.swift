public import Instrument

extension RecordField {
    /// Returns the field with a declaration for the privacy catalogue.
    ///
    /// - Parameters:
    ///   - summary: the field's meaning, for people; the members of an object are appended.
    ///   - category: the kind of data.
    ///   - purposes: the purposes of its collection. By default analytics, and fraud prevention, which is Apple's app
    ///     functionality.
    ///   - isLinked: whether the field alone identifies a person.
    ///   - isOn: whether it is collected by default.
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
    /// The declarations of the fields for the privacy catalogue, from ``fields``.
    public static var declaredFields: PrivacyCatalogue { PrivacyCatalogue(fields.compactMap(\.declaration)) }
}
