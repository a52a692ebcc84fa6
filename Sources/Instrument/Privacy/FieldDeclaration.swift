/// The declaration of a field: its meaning, the purposes of its collection, and whether it is collected.
///
/// ```swift
/// FieldDeclaration(.score, "Points in the quiz", .gameplayContent)
/// FieldDeclaration(
///     .latitude, "Where the device is", .preciseLocation, for: [.appFunctionality], isLinked: true, isOn: false
/// )
/// ```
///
/// A tracker declares the fields that it collects (``Tracker/declaredFields``), an app its own fields
/// (``PrivacyRules``).
public struct FieldDeclaration: Hashable, Sendable {
    /// The kind of a field's value.
    public enum ValueType: String, Hashable, Sendable, CaseIterable {
        /// Text.
        case text
        /// A whole number.
        case integer
        /// A number.
        case number
        /// True or false.
        case flag
        /// A time in whole milliseconds.
        case milliseconds
        /// A sequence of values.
        case list
        /// Values by name.
        case object
    }

    /// The attribute's name.
    public let name: AttributeName
    /// The kind of its value.
    public let type: ValueType
    /// The field's meaning, for people; one line.
    public let summary: String
    /// The kind of data.
    public let category: DataCategory
    /// The purposes of its collection.
    public let purposes: Set<DataPurpose>
    /// Whether the field alone identifies a person.
    public let isLinked: Bool
    /// Whether it is collected by default.
    public let isOn: Bool

    /// Declares the field of a key.
    ///
    /// - Parameters:
    ///   - key: the attribute's key, which also determines the kind of its values.
    ///   - summary: the field's meaning, for people; one line.
    ///   - category: the kind of data.
    ///   - purposes: the purposes of its collection; by default analytics.
    ///   - isLinked: whether the field alone identifies a person.
    ///   - isOn: whether it is collected by default; ``PrivacyRules/choices`` override this value.
    public init<Value>(
        _ key: AttributeKey<Value>,
        _ summary: String,
        _ category: DataCategory = .productInteraction,
        for purposes: Set<DataPurpose> = [.analytics],
        isLinked: Bool = false,
        isOn: Bool = true
    ) {
        self.init(key.name, ValueType(Value.self), summary, category, for: purposes, isLinked: isLinked, isOn: isOn)
    }

    /// Returns the same declaration with another default.
    public func turned(on isOn: Bool) -> FieldDeclaration {
        FieldDeclaration(name, type, summary, category, for: purposes, isLinked: isLinked, isOn: isOn)
    }

    /// Declares a field by its name, for attributes that have no key.
    public init(
        _ name: AttributeName,
        _ type: ValueType,
        _ summary: String,
        _ category: DataCategory = .productInteraction,
        for purposes: Set<DataPurpose> = [.analytics],
        isLinked: Bool = false,
        isOn: Bool = true
    ) {
        self.name = name
        self.type = type
        self.summary = summary
        self.category = category
        self.purposes = purposes
        self.isLinked = isLinked
        self.isOn = isOn
    }
}

extension FieldDeclaration.ValueType {
    /// Creates the kind of a type's values; an enum with raw values has the kind of its raw values.
    init<Value: AttributeValueConvertible>(_ type: Value.Type) {
        switch type {
        case is Int.Type: self = .integer
        case is Double.Type: self = .number
        case is Bool.Type: self = .flag
        case is Duration.Type: self = .milliseconds
        case is any RawRepresentable<Int>.Type: self = .integer
        case is any RawRepresentable<Double>.Type: self = .number
        case is any Collection.Type where type != String.self: self = .list
        default: self = .text
        }
    }
}
