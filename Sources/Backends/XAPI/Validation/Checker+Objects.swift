internal import InstrumentJSON

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
