internal import InstrumentJSON

/// Looks at one payload and collects what is wrong.
struct SeerCheck {
    private let payload: JSONValue
    private(set) var failures: [ValidationFailure] = []

    init(payload: JSONValue) {
        self.payload = payload
        if payload.members == nil { fail(.seerPayload, at: .root, "A payload is an object.") }
    }

    /// A text that is not empty.
    mutating func text(at keys: [String], _ rule: ValidationRule) {
        let value = keys.reduce(payload as JSONValue?) { $0?[$1] }
        if let text = value?.string, !text.isEmpty { return }
        fail(rule, at: keys.reduce(.root, /), "This is a string, and not empty.")
    }

    /// An object of texts, if it is there.
    mutating func texts(at key: String, _ rule: ValidationRule) {
        guard let value = payload[key] else { return }
        guard let members = value.members else { return fail(rule, at: .root / key, "This is an object of strings.") }
        for name in members.keys.sorted() where members[name]?.string == nil {
            fail(rule, at: .root / key / name, "This is a string.")
        }
    }

    mutating func time(at key: String, _ rule: ValidationRule) {
        if let text = payload[key]?.string, TimestampFormat.isValid(text, version: .v1) { return }
        fail(rule, at: .root / key, "This is a date and a time with a zone, as ISO 8601 has it.")
    }

    /// At least one of the four, and not empty.
    mutating func identifier(_ rule: ValidationRule) {
        let actor = payload["actor"]
        let hasText = ["mbox", "mbox_sha1sum", "openid"].contains { actor?[$0]?.string?.isEmpty == false }
        if hasText || actor?["account"]?.members?.isEmpty == false { return }
        fail(rule, at: .root / "actor", "An actor has an mbox, mbox_sha1sum, openid or account.")
    }

    private mutating func fail(_ rule: ValidationRule, at path: JSONPath, _ message: String) {
        failures.append(ValidationFailure(rule: rule, path: path.description, message: message))
    }
}
