internal import InstrumentJSON

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
