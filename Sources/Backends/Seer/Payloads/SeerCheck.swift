internal import InstrumentJSON
internal import InstrumentXAPI

/// Checks one payload and collects its failures.
struct SeerCheck {
    private let payload: JSONValue
    private(set) var failures: [ValidationFailure] = []

    init(payload: JSONValue) {
        self.payload = payload
        guard payload.members == nil else { return }
        let message = "The payload must be an object (found \(Excerpt.value(payload)))."
        failures.append(ValidationFailure(rule: .seerPayload, path: "$", message: message))
    }

    /// Requires a text that is not empty.
    mutating func text(at keys: [String], _ rule: ValidationRule) {
        let value = keys.reduce(payload as JSONValue?) { $0?[$1] }
        if let text = value?.string, !text.isEmpty { return }
        require(value, at: keys.reduce(.root, /), rule, "must be a string that is not empty")
    }

    /// Requires an object of texts, if it is present.
    mutating func texts(at key: String, _ rule: ValidationRule) {
        guard let value = payload[key] else { return }
        guard let members = value.members else {
            return fail(rule, at: .root / key, "must be an object of strings", found: Excerpt.value(value))
        }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) where member.string == nil {
            fail(rule, at: .root / key / name, "must be a string", found: Excerpt.value(member))
        }
    }

    /// Requires a time.
    mutating func time(at key: String, _ rule: ValidationRule) {
        let value = payload[key]
        if value?.isTimestamp == true { return }
        let example = "2026-01-31T09:15:00.250Z"
        require(value, at: .root / key, rule, "must be a date and time with a zone (ISO 8601), such as \(example)")
    }

    /// Requires at least one of the four identifiers, which must not be empty.
    mutating func identifier(_ rule: ValidationRule) {
        let actor = payload["actor"]
        let hasText = ["mbox", "mbox_sha1sum", "openid"].contains { actor?[$0]?.string?.isEmpty == false }
        if hasText || actor?["account"]?.members?.isEmpty == false { return }
        let requirement = "must have at least one of mbox, mbox_sha1sum, openid, account, not empty"
        fail(rule, at: .root / "actor", requirement, found: actor == nil ? "no actor" : "none")
    }

    private mutating func require(
        _ value: JSONValue?,
        at path: JSONPath,
        _ rule: ValidationRule,
        _ requirement: String
    ) {
        guard let value else { return fail(rule, at: path, "is missing; it " + requirement, found: nil) }
        fail(rule, at: path, requirement, found: Excerpt.value(value))
    }

    private mutating func fail(_ rule: ValidationRule, at path: JSONPath, _ requirement: String, found: String?) {
        failures.append(ValidationFailure(rule, at: path, requirement, found: found))
    }
}
