internal import InstrumentJSON

/// The agents and groups in the context of a statement of 2.0 (IEEE 9274.1.1, 4.2.2.5: contextAgents, contextGroups).
extension Checker {
    mutating func companions(_ members: [String: JSONValue], at path: JSONPath) {
        if let agents = members["contextAgents"] {
            companions(agents, named: "agent", kind: .agent, at: path / "contextAgents", rule: .contextAgents)
        }
        if let groups = members["contextGroups"] {
            companions(groups, named: "group", kind: .group, at: path / "contextGroups", rule: .contextGroups)
        }
    }

    private mutating func companions(
        _ value: JSONValue,
        named name: String,
        kind: ActorKind,
        at path: JSONPath,
        rule: ValidationRule
    ) {
        guard let list = elements(of: value, at: path, rule: rule) else { return }
        for (index, value) in list.enumerated() {
            companion(value, named: name, kind: kind, at: path[index], rule: rule)
        }
    }

    private mutating func companion(
        _ value: JSONValue,
        named name: String,
        kind: ActorKind,
        at path: JSONPath,
        rule: ValidationRule
    ) {
        let known: Set<String> = ["objectType", name, "relevantTypes"]
        guard let members = members(of: value, at: path, known: known, rule: rule) else { return }
        let objectType = "context" + kind.rawValue
        if let type = members["objectType"] {
            _ = oneOf([objectType], type, at: path / "objectType", rule: rule)
        } else {
            fail(rule, at: path / "objectType", "is missing; it must be `\(objectType)`")
        }
        if let actor = members[name] {
            self.actor(actor, at: path / name, expected: kind, rule: rule)
        } else {
            fail(rule, at: path / name, "is missing; a \(objectType) must have it")
        }
        if let types = members["relevantTypes"] { relevantTypes(types, at: path / "relevantTypes") }
    }

    private mutating func relevantTypes(_ value: JSONValue, at path: JSONPath) {
        guard let types = elements(of: value, at: path, rule: .relevantTypes) else { return }
        if types.isEmpty {
            fail(.relevantTypes, at: path, "must have at least one element; leave it out otherwise", found: value)
        }
        for (index, type) in types.enumerated() { iri(type, at: path[index], rule: .relevantTypes) }
    }
}
