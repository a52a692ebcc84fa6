/// A set of field declarations, one for each name.
///
/// ```swift
/// let mine: PrivacyCatalogue = [
///     FieldDeclaration(.score, "Points in the quiz", .gameplayContent),
///     FieldDeclaration(.latitude, "Where the device is", .preciseLocation, isLinked: true, isOn: false),
/// ]
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], privacy: PrivacyRules(declaring: mine))
/// ```
///
/// ``vocabulary`` has the fields of the vocabulary, which every instrument declares; trackers declare theirs.
public struct PrivacyCatalogue: Hashable, Sendable {
    private var byName: [AttributeName: FieldDeclaration] = [:]

    /// Creates a catalogue; the later of two declarations of a field wins.
    public init(_ fields: some Sequence<FieldDeclaration> = EmptyCollection()) {
        for field in fields { byName[field.name] = field }
    }

    /// The declarations, sorted by name.
    public var fields: [FieldDeclaration] { byName.values.sortedByBytes(of: \.name.spelling) }

    /// The declarations, unsorted.
    var declarations: some Sequence<FieldDeclaration> { byName.values }

    /// Whether nothing is declared.
    public var isEmpty: Bool { byName.isEmpty }

    /// The declaration of a field; nil if the field is not declared.
    ///
    /// The time attributes of all actions (`timeSince…`) are declared by `timeSinceAction`.
    public subscript(name: AttributeName) -> FieldDeclaration? {
        byName[name] ?? (Self.isTimeSinceAction(name) ? byName[Self.timeSinceAction.name] : nil)
    }

    /// Adds declarations; where both declare a field, the declaration of `other` wins.
    public mutating func merge(_ other: PrivacyCatalogue) { byName.merge(other.byName) { _, new in new } }

    /// Returns the declarations of both; where both declare a field, the declaration of `other` wins.
    public func merging(_ other: PrivacyCatalogue) -> PrivacyCatalogue {
        var merged = self
        merged.merge(other)
        return merged
    }

    /// Whether the name is that of a time attribute of an action.
    static func isTimeSinceAction(_ name: AttributeName) -> Bool { name.spelling.hasPrefix("timeSince") }

    /// The declaration of the time attributes of all actions.
    package static let timeSinceAction = FieldDeclaration(
        "timeSince<Action>",
        .milliseconds,
        "Time since an action last happened, one field for each action",
        .performanceData
    )
}

extension PrivacyCatalogue: ExpressibleByArrayLiteral {
    /// Creates a catalogue; the later of two declarations of a field wins.
    public init(arrayLiteral elements: FieldDeclaration...) { self.init(elements) }
}
