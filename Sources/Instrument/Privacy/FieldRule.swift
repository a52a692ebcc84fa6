/// A change of an attribute before its sample is stored.
public struct FieldRule: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    private enum Kind: Hashable {
        case drop
        case hash(salt: String)
        case mask(String)
    }

    private let kind: Kind

    /// Removes the attribute.
    public static let drop = FieldRule(kind: .drop)

    /// Replaces the value by the SHA-256 of the salt followed by the value's text, in lower-case hexadecimal.
    ///
    /// The samples of one person still have equal values, and a reader without the salt cannot test names. The hash is
    /// a pseudonym, not anonymity: keep the salt secret, and keep it unchanged, because another salt gives other
    /// values.
    public static func hash(salt: String) -> FieldRule { FieldRule(kind: .hash(salt: salt)) }

    /// Replaces the value by `text`.
    public static func mask(with text: String = "***") -> FieldRule { FieldRule(kind: .mask(text)) }

    /// The rule's kind, without the salt.
    public var description: String {
        switch kind {
        case .drop: "drop"
        case .hash: "hash"
        case .mask: "mask"
        }
    }

    /// Shows nothing, so that no dump shows the salt.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// The value that the queue stores instead of `value`; nil removes the attribute.
    func replacement(for value: AttributeValue) -> AttributeValue? {
        switch kind {
        case .drop: nil
        case .hash(let salt): .string(SHA256.hexadecimal(of: Array((salt + value.description).utf8)))
        case .mask(let text): .string(text)
        }
    }

    /// Whether the stored values still distinguish two persons.
    var keepsIdentity: Bool {
        if case .hash = kind { true } else { false }
    }
}

/// The privacy settings of a queue: the attribute that identifies a person, the declared fields, and the changes of
/// attributes before they are stored.
///
/// ```swift
/// let privacy = PrivacyRules(fields: ["userId": .hash(salt: salt), "email": .drop, "source": .mask()])
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], consent: .pending, privacy: privacy)
/// ```
///
/// The queue applies rules to attributes of events and metrics by their names; a value inside an array or an object
/// changes only with the whole attribute. Trackers, hubs and metricalcs still see the original values: only stored and
/// sent values change.
///
/// A field that a tracker collects and nobody declares is not sent. The vocabulary is declared, and trackers declare
/// their fields. The app's own attributes need no declaration; a declaration adds them to the catalogue and to Apple's
/// privacy manifest:
///
/// ```swift
/// PrivacyRules(declaring: [FieldDeclaration(.score, "Points in the quiz", .gameplayContent)])
/// ```
public struct PrivacyRules: Hashable, Sendable {
    /// The attribute that identifies the person of a sample.
    public var userIdKey: AttributeKey<String>
    /// The rules for attributes, by name.
    public var fields: [AttributeName: FieldRule]
    /// Fields of the app, in addition to those of the vocabulary and of trackers.
    public var declared: PrivacyCatalogue
    /// Choices of the app or the person, which override declarations: true collects the field, false does not.
    public var choices: [AttributeName: Bool]
    /// The fields that must be declared.
    public var admission: FieldAdmission

    /// Creates rules; by default `userId` identifies the person, attributes are stored unchanged, and trackers collect
    /// declared fields.
    public init(
        userIdKey: AttributeKey<String> = .userId,
        fields: [AttributeName: FieldRule] = [:],
        declaring declared: PrivacyCatalogue = [],
        choices: [AttributeName: Bool] = [:],
        admission: FieldAdmission = .declaredByTrackers
    ) {
        self.userIdKey = userIdKey
        self.fields = fields
        self.declared = declared
        self.choices = choices
        self.admission = admission
    }

    /// The sample as it may be stored.
    func applied(to sample: Sample) -> Sample {
        switch sample {
        case .event(var event):
            apply(to: &event.attributes)
            return .event(event)
        case .metric(var metric):
            apply(to: &metric.attributes)
            return .metric(metric)
        }
    }

    /// Whether a stored sample belongs to the person with that identifier: the stored value is the identifier, for
    /// samples that were stored before the rule existed, or the value to which the rule changes it. A mask identifies
    /// nobody.
    func names(_ userId: String, in sample: Sample) -> Bool {
        guard let found = sample.attributes[userIdKey] else { return false }
        guard let rule = fields[userIdKey.name] else { return found == userId }
        let stored = rule.replacement(for: .string(userId))
        if rule.keepsIdentity { return found == userId || .string(found) == stored }
        return found == userId && .string(found) != stored
    }

    private func apply(to attributes: inout Attributes) {
        for (name, rule) in fields {
            guard let value = attributes[name] else { continue }
            attributes[name] = rule.replacement(for: value)
        }
    }
}

extension AttributeKey where Value == String {
    /// The person of the sample. Not in OpenAVT's vocabulary; ``PrivacyRules`` may choose another name.
    public static var userId: Self { "userId" }
}
