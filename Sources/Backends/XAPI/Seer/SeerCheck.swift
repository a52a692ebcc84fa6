internal import InstrumentJSON

/// Looks at one payload and collects what is wrong.
struct SeerCheck {
    private let payload: JSONValue
    private(set) var failures: [ValidationFailure] = []

    init(payload: JSONValue) {
        self.payload = payload
        if payload.members == nil { failures.append(Self.noObject) }
    }

    /// A text that is not empty.
    mutating func text(at keys: [String], _ rule: ValidationRule) {
        let value = keys.reduce(payload as JSONValue?) { $0?[$1] }
        if let text = value?.string, !text.isEmpty { return }
        fail(rule, at: keys.reduce(.root, /), value == nil ? "is missing" : "must be a string that is not empty")
    }

    /// An object of texts, if it is there.
    mutating func texts(at key: String, _ rule: ValidationRule) {
        guard let value = payload[key] else { return }
        guard let members = value.members else { return fail(rule, at: .root / key, "must be an object of strings") }
        for name in members.keys.sorted() where members[name]?.string == nil {
            fail(rule, at: .root / key / name, "must be a string")
        }
    }

    mutating func time(at key: String, _ rule: ValidationRule) {
        if let text = payload[key]?.string, TimestampFormat.isValid(text, version: .v1) { return }
        fail(rule, at: .root / key, "must be a date and a time with a zone, as ISO 8601 writes them")
    }

    /// At least one of the four, and not empty.
    mutating func identifier(_ rule: ValidationRule) {
        let actor = payload["actor"]
        let hasText = ["mbox", "mbox_sha1sum", "openid"].contains { actor?[$0]?.string?.isEmpty == false }
        if hasText || actor?["account"]?.members?.isEmpty == false { return }
        fail(rule, at: .root / "actor", "must have one of mbox, mbox_sha1sum, openid, account")
    }

    private static let noObject = ValidationFailure(
        rule: .seerPayload,
        path: "$",
        message: "The payload must be an object."
    )

    private mutating func fail(_ rule: ValidationRule, at path: JSONPath, _ requirement: String) {
        let message = "\(path.subject) \(requirement)."
        failures.append(ValidationFailure(rule: rule, path: path.description, message: message))
    }
}
