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

/// The object of a statement, and activities in any place (xAPI 1.0.3, Data 2.4.4).
extension Checker {
    private static let ofReference: Set<String> = ["objectType", "id"]
    private static let ofActivity: Set<String> = ["objectType", "id", "definition"]

    mutating func object(_ value: JSONValue, at path: JSONPath, isNested: Bool) {
        guard case .object(let all) = value else {
            return fail(.wrongType, at: path, "must be an object", found: value)
        }
        guard let type = all["objectType"] else { return objectWithoutType(value, all, at: path) }
        if type == .null {
            return failNull(at: path / "objectType")
        }
        guard case .string = type else {
            return fail(.objectTypeType, at: path / "objectType", "must be a string", found: type)
        }
        let types = ["Activity", "Agent", "Group", "SubStatement", "StatementRef"]
        switch oneOf(types, type, at: path / "objectType", rule: .objectType) {
        case "Activity": activity(value, at: path)
        case "Agent", "Group": actor(value, at: path)
        case "StatementRef": statementRef(value, at: path, rule: .wrongType)
        case "SubStatement" where isNested:
            fail(.subStatementNested, at: path, "must not be a sub-statement inside a sub-statement", found: type)
        case "SubStatement": subStatement(value, at: path)
        default: break
        }
    }

    /// An activity; every other object must have an `objectType` (XAPI-00065, XAPI-00073).
    private mutating func objectWithoutType(_ value: JSONValue, _ members: [String: JSONValue], at path: JSONPath) {
        if Self.looksLikeActor(members) {
            fail(
                .agentObjectType,
                at: path / "objectType",
                "is missing; an agent or group that is the object must have it"
            )
        } else if members["actor"] != nil || members["verb"] != nil
            || members["id"]?.string.map(UUIDFormat.isValid) == true
        {
            fail(
                .statementObjectType,
                at: path / "objectType",
                "is missing; a statement or reference that is the object must have it"
            )
        } else {
            activity(value, at: path)
        }
    }

    /// Both `objectType` and `id` (Data 2.4.4.3).
    mutating func statementRef(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard let members = members(of: value, at: path, known: Self.ofReference, rule: rule) else { return }
        if let type = members["objectType"] {
            _ = oneOf(["StatementRef"], type, at: path / "objectType", rule: rule)
        } else {
            fail(rule, at: path / "objectType", "is missing; it must be `StatementRef`")
        }
        if let id = members["id"] {
            uuid(id, at: path / "id", rule: .statementRefID)
        } else {
            fail(.statementRefID, at: path / "id", "is missing; a StatementRef must have it")
        }
    }

    mutating func activity(_ value: JSONValue, at path: JSONPath, rule: ValidationRule = .wrongType) {
        guard let members = members(of: value, at: path, known: Self.ofActivity, rule: rule) else {
            return
        }
        if let type = members["objectType"] {
            _ = oneOf(["Activity"], type, at: path / "objectType", rule: .objectType)
        }
        if let id = members["id"] {
            iri(id, at: path / "id", rule: .activityID)
        } else {
            fail(.activityID, at: path / "id", "is missing; an activity must have it")
        }
        if let definition = members["definition"] { self.definition(definition, at: path / "definition") }
    }
}

/// Activity definitions and interactions (xAPI 1.0.3, Data 2.4.4.1).
extension Checker {
    private static let componentLists: [(key: String, rule: ValidationRule, types: Set<String>)] = [
        ("choices", .choices, ["choice", "sequencing"]),
        ("scale", .scale, ["likert"]),
        ("source", .source, ["matching"]),
        ("target", .target, ["matching"]),
        ("steps", .steps, ["performance"]),
    ]
    private static let interactionTypes = [
        "true-false", "choice", "fill-in", "long-fill-in", "matching", "performance", "sequencing", "likert", "numeric",
        "other",
    ]
    private static let ofComponent: Set<String> = ["id", "description"]
    private static let ofInteraction = Set(
        ["interactionType", "correctResponsesPattern"] + componentLists.map(\.key)
    )
    private static let ofDefinition = ofInteraction.union(["name", "description", "type", "moreInfo", "extensions"])

    mutating func definition(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofDefinition, rule: .activityDefinition) else {
            return
        }
        if let name = members["name"] { languageMap(name, at: path / "name", rule: .definitionName) }
        if let text = members["description"] {
            languageMap(text, at: path / "description", rule: .definitionDescription)
        }
        if let type = members["type"] { iri(type, at: path / "type", rule: .definitionType) }
        if let moreInfo = members["moreInfo"] { iri(moreInfo, at: path / "moreInfo", rule: .definitionMoreInfo) }
        if let values = members["extensions"] {
            extensions(values, at: path / "extensions", rule: .definitionExtensions)
        }
        interaction(members, at: path)
    }

    private mutating func interaction(_ members: [String: JSONValue], at path: JSONPath) {
        // Most activities are no interactions.
        guard members.contains(where: { Self.ofInteraction.contains($0.key) }) else { return }
        let type = interactionType(members, at: path)
        if let pattern = members["correctResponsesPattern"] {
            correctResponses(pattern, at: path / "correctResponsesPattern")
        }
        for (key, rule, types) in Self.componentLists {
            guard let list = members[key] else { continue }
            components(list, at: path / key, rule: rule)
            if let type, !types.contains(type) {
                fail(
                    .componentsOfType,
                    at: path / key,
                    "must not appear in an interaction of type `\(type)`",
                    found: list
                )
            }
        }
    }

    /// The type; nil if it is unknown or absent. It is required as soon as any other key of an interaction is present.
    private mutating func interactionType(_ members: [String: JSONValue], at path: JSONPath) -> String? {
        if let type = members["interactionType"] {
            return oneOf(Self.interactionTypes, type, at: path / "interactionType", rule: .interactionType)
        }
        let needing = ["correctResponsesPattern"] + Self.componentLists.map(\.key)
        if needing.contains(where: { members[$0] != nil }) {
            fail(.interactionTypeMissing, at: path / "interactionType", "is missing; an interaction must have it")
        }
        return nil
    }

    /// Texts; an empty array means that no response is correct (Data 2.4.4.1.s11).
    private mutating func correctResponses(_ value: JSONValue, at path: JSONPath) {
        guard let patterns = elements(of: value, at: path, rule: .correctResponses) else { return }
        for (index, pattern) in patterns.enumerated() { string(pattern, at: path[index], rule: .correctResponses) }
    }

    private mutating func components(_ value: JSONValue, at path: JSONPath, rule: ValidationRule) {
        guard let list = elements(of: value, at: path, rule: rule) else { return }
        // By bytes: hashing a text sorts its combining marks, and a hostile text can have very many.
        var ids: Set<[UInt8]> = []
        for (index, value) in list.enumerated() {
            guard let id = component(value, at: path[index]), !ids.insert(Array(id.utf8)).inserted else { continue }
            fail(
                .componentID,
                at: path[index] / "id",
                "must differ from the ids of the other components in the list",
                found: .string(id)
            )
        }
    }

    /// The component's id, if it is valid.
    private mutating func component(_ value: JSONValue, at path: JSONPath) -> String? {
        guard let members = members(of: value, at: path, known: Self.ofComponent, rule: .componentObject) else {
            return nil
        }
        if let text = members["description"] {
            languageMap(text, at: path / "description", rule: .componentDescription)
        }
        guard let id = members["id"] else {
            fail(.componentID, at: path / "id", "is missing; a component must have it")
            return nil
        }
        guard let text = string(id, at: path / "id", rule: .componentID) else { return nil }
        if text.isEmpty { fail(.componentID, at: path / "id", "must not be empty", found: id) }
        return text
    }
}
