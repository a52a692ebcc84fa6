/// Fields that may be collected, each declared once.
///
/// ```swift
/// let mine: PrivacyCatalogue = [
///     FieldDeclaration(.score, "Points in the quiz", .gameplayContent),
///     FieldDeclaration(.latitude, "Where the device is", .preciseLocation, isLinked: true, isOn: false),
/// ]
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], privacy: PrivacyRules(declaring: mine))
/// ```
///
/// ``vocabulary`` has the fields of the vocabulary, which every instrument knows; trackers bring theirs.
public struct PrivacyCatalogue: Hashable, Sendable {
    private var byName: [AttributeName: FieldDeclaration] = [:]

    /// Creates a catalogue; of two declarations of one field the later counts.
    public init(_ fields: some Sequence<FieldDeclaration> = EmptyCollection()) {
        for field in fields { byName[field.name] = field }
    }

    /// The declarations, sorted by name.
    public var fields: [FieldDeclaration] { byName.values.sortedByBytes(of: \.name.spelling) }

    /// The declarations in no order, which costs no sorting.
    var declarations: some Sequence<FieldDeclaration> { byName.values }

    /// Whether nothing is declared.
    public var isEmpty: Bool { byName.isEmpty }

    /// The declaration of a field; nil if the field is not declared.
    ///
    /// The time attributes of all actions (`timeSince…`) are declared by ``timeSinceAction``.
    public subscript(name: AttributeName) -> FieldDeclaration? {
        byName[name] ?? (name.spelling.hasPrefix(Self.timePrefix) ? byName[Self.timeSinceAction.name] : nil)
    }

    /// Adds declarations; those of `other` count where both have one.
    public mutating func merge(_ other: PrivacyCatalogue) { byName.merge(other.byName) { _, new in new } }

    /// These declarations and `other`'s, which count where both have one.
    public func merging(_ other: PrivacyCatalogue) -> PrivacyCatalogue {
        var merged = self
        merged.merge(other)
        return merged
    }

    private static let timePrefix = "timeSince"

    /// Stands for the time attributes of all actions.
    public static let timeSinceAction = FieldDeclaration(
        "timeSince<Action>",
        .milliseconds,
        "Time since an action last happened, one field for each action",
        .performanceData
    )
}

extension PrivacyCatalogue: ExpressibleByArrayLiteral {
    /// Creates a catalogue; of two declarations of one field the later counts.
    public init(arrayLiteral elements: FieldDeclaration...) { self.init(elements) }
}
