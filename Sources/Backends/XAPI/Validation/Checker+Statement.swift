internal import InstrumentJSON

/// Statements and sub-statements (xAPI 1.0.3, Data 2.3.2, 2.4, 2.4.4.3, 2.4.10).
extension Checker {
    private static let common: Set<String> = [
        "actor", "verb", "object", "result", "context", "timestamp", "attachments",
    ]
    private static let ofStatement = common.union(["id", "stored", "authority", "version"])
    private static let ofVerb: Set<String> = ["id", "display"]
    private static let ofSubStatement = common.union(["objectType"])
    private static let voidedVerb = "http://adlnet.gov/expapi/verbs/voided"

    mutating func statement(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofStatement, rule: .wellFormed) else { return }
        if let id = members["id"] { uuid(id, at: path / "id", rule: .statementID, typeRule: .statementIDType) }
        parts(members, at: path, isNested: false)
        if let stored = members["stored"] { time(stored, at: path / "stored", rule: .stored) }
        if let authority = members["authority"] { self.authority(authority, at: path / "authority") }
        if let version = members["version"] { statementVersion(version, at: path / "version") }
    }

    /// A statement in a statement: no identity, no nesting (XAPI-00066 to XAPI-00071).
    mutating func subStatement(_ value: JSONValue, at path: JSONPath) {
        let forbidden: [String: ValidationRule] = [
            "id": .subStatementID, "stored": .subStatementStored, "version": .subStatementVersion,
            "authority": .subStatementAuthority,
        ]
        guard
            let members = members(
                of: value,
                at: path,
                known: Self.ofSubStatement,
                forbidden: forbidden,
                rule: .subStatement
            )
        else { return }
        parts(members, at: path, isNested: true)
    }

    /// The parts that statements and sub-statements share.
    private mutating func parts(_ members: [String: JSONValue], at path: JSONPath, isNested: Bool) {
        requireParts(members, at: path)
        if let actor = members["actor"] { self.actor(actor, at: path / "actor") }
        if let verb = members["verb"] { self.verb(verb, at: path / "verb") }
        if let object = members["object"] { self.object(object, at: path / "object", isNested: isNested) }
        voiding(members, at: path)
        if let result = members["result"] { self.result(result, at: path / "result") }
        if let context = members["context"] {
            self.context(context, ofActivity: Self.isActivity(members["object"]), at: path / "context")
        }
        if let timestamp = members["timestamp"] { time(timestamp, at: path / "timestamp", rule: .timestamp) }
        if let attachments = members["attachments"] { self.attachments(attachments, at: path / "attachments") }
    }

    private mutating func requireParts(_ members: [String: JSONValue], at path: JSONPath) {
        if members["actor"] == nil { fail(.actorMissing, at: path / "actor", "is missing; a statement must have it") }
        if members["verb"] == nil { fail(.verbMissing, at: path / "verb", "is missing; a statement must have it") }
        if members["object"] == nil {
            fail(.objectMissing, at: path / "object", "is missing; a statement must have it")
        }
    }

    /// A voiding statement refers to the statement that it voids (Data 2.3.2.s2.b1).
    private mutating func voiding(_ members: [String: JSONValue], at path: JSONPath) {
        guard members["verb"]?["id"]?.string == Self.voidedVerb, let object = members["object"],
            object["objectType"]?.string != "StatementRef"
        else { return }
        fail(
            .voiding,
            at: path / "object" / "objectType",
            "must be `StatementRef` in a statement that voids another one",
            foundWords: object["objectType"].map(Excerpt.value) ?? "none"
        )
    }

    private static func isActivity(_ object: JSONValue?) -> Bool {
        guard let object else { return true }
        return object["objectType"].map { $0.string == "Activity" } ?? true
    }

    /// `id` and `display` (Data 2.4.3).
    private mutating func verb(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofVerb, rule: .wrongType) else { return }
        if let id = members["id"] {
            iri(id, at: path / "id", rule: .verbID)
        } else {
            fail(.verbID, at: path / "id", "is missing; a verb must have it")
        }
        if let display = members["display"] { languageMap(display, at: path / "display", rule: .verbDisplay) }
    }

    /// 1.0.3 accepts `1.0` and `1.0.x` (XAPI-00101); 2.0 accepts the statements of 1.0.3, and therefore also `2.0.x`.
    private mutating func statementVersion(_ value: JSONValue, at path: JSONPath) {
        guard let text = string(value, at: path, rule: .statementVersion) else { return }
        let isGood =
            VersionFormat.isValid(text, family: "1.0")
            || version == .v2 && text != "2.0"
                && VersionFormat.isValid(text, family: "2.0")
        if isGood { return }
        let versions = version == .v2 ? "2.0.x or 1.0.x" : "1.0 or 1.0.x"
        fail(.statementVersion, at: path, "must be \(versions)", found: value)
    }
}
