/// A change of an attribute before its sample is stored.
public struct FieldRule: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    private enum Kind: Hashable {
        case drop
        case hash(salt: String)
        case mask(String)
    }

    private let kind: Kind

    /// Leaves the attribute out.
    public static let drop = FieldRule(kind: .drop)

    /// Puts in its place the SHA-256 of the salt followed by the value's text, in lower-case hexadecimal.
    ///
    /// So samples of one person still belong together, and a reader without the salt cannot try out names. It is a
    /// pseudonym, not anonymity: keep the salt secret, and the same, or what belonged together no longer does.
    public static func hash(salt: String) -> FieldRule { FieldRule(kind: .hash(salt: salt)) }

    /// Puts `text` in its place.
    public static func mask(with text: String = "***") -> FieldRule { FieldRule(kind: .mask(text)) }

    /// The rule's kind, without the salt.
    public var description: String {
        switch kind {
        case .drop: "drop"
        case .hash: "hash"
        case .mask: "mask"
        }
    }

    /// Shows what ``description`` does, so that no dump shows the salt.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// What is stored for `value`; nil if nothing is.
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

/// The privacy settings of a queue: which attribute names a person, and how attributes change before they are stored.
///
/// ```swift
/// let privacy = PrivacyRules(fields: ["userId": .hash(salt: salt), "email": .drop, "source": .mask()])
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], consent: .pending, privacy: privacy)
/// ```
///
/// Rules are applied to attributes of events and metrics by their names; what is inside an array or an object is replaced only
/// with all of it. Trackers, hubs and metricalcs still see the values: only what is kept and sent is changed.
///
/// A field that a tracker collects and nobody declared is not sent. The vocabulary is declared, trackers declare
/// theirs. What the app itself says is the app's to say; declared, it stands in the catalogue, too, and in Apple's
/// privacy manifest:
///
/// ```swift
/// PrivacyRules(declaring: [FieldDeclaration(.score, "Points in the quiz", .gameplayContent)])
/// ```
public struct PrivacyRules: Hashable, Sendable {
    /// The attribute that names the person whom a sample is of.
    public var userIdKey: AttributeKey<String>
    /// The rules for attributes, by name.
    public var fields: [AttributeName: FieldRule]
    /// Fields of the app's own, beside those of the vocabulary and of its trackers.
    public var declared: PrivacyCatalogue
    /// What the app or the person chose for a field, over its declaration: true to collect it, false not to.
    public var choices: [AttributeName: Bool]
    /// Which fields have to be declared.
    public var admission: FieldAdmission

    /// Creates rules; by default `userId` names the person, attributes are stored as they are, and trackers
    /// collect what is declared.
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

    /// Whether a stored sample is of the person with that identifier: as it stands, for samples that were stored before there
    /// was a rule, or as the rule changes it. A text that stands for everybody names nobody.
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
    /// The person whose sample it is. Not in OpenAVT's vocabulary; ``PrivacyRules`` may choose another name.
    public static var userId: Self { "userId" }
}
