internal import InstrumentJSON

extension Statement.Activity: JSONPart {
    var json: JSONValue {
        .members(["objectType": "Activity", "id": id.json, "definition": definition?.json.nonEmpty])
    }

    init?(checked json: JSONValue) {
        guard let id: IRI = json.part("id") else { return nil }
        self.init(id, definition: json.part("definition"))
    }
}

extension Statement.Definition: JSONPart {
    var json: JSONValue {
        let own: [String: JSONValue?] = [
            "name": name.json.nonEmpty, "description": description.json.nonEmpty, "type": type?.json,
            "moreInfo": moreInfo?.json, "extensions": JSONValue.extensions(extensions).nonEmpty,
        ]
        return .members(own.merging(interaction?.members ?? [:]) { own, _ in own })
    }

    init?(checked json: JSONValue) {
        self.init(
            name: json.part("name") ?? [:],
            description: json.part("description") ?? [:],
            type: json.part("type"),
            moreInfo: json.part("moreInfo"),
            interaction: Statement.Interaction(of: json),
            extensions: json["extensions"]?.extensions ?? [:]
        )
    }
}

extension Statement.Interaction {
    /// The keys that the interaction adds to a definition.
    fileprivate var members: [String: JSONValue?] {
        var members: [String: JSONValue?] = ["interactionType": .string(kind.name)]
        members["correctResponsesPattern"] = correctResponses.map { .array($0.map(JSONValue.string)) }
        for (name, components) in kind.components { members[name] = components.nonEmptyJSON }
        return members
    }

    /// Reads the interaction of a definition.
    fileprivate init?(of json: JSONValue) {
        guard let kind = json["interactionType"]?.string.flatMap({ Kind($0, of: json) }) else { return nil }
        self.init(kind, correctResponses: json["correctResponsesPattern"]?.elements?.compactMap(\.string))
    }
}

extension Statement.Interaction.Kind {
    fileprivate var name: String {
        switch self {
        case .trueFalse: "true-false"
        case .choice: "choice"
        case .fillIn: "fill-in"
        case .longFillIn: "long-fill-in"
        case .matching: "matching"
        case .performance: "performance"
        case .sequencing: "sequencing"
        case .likert: "likert"
        case .numeric: "numeric"
        case .other: "other"
        }
    }

    fileprivate var components: [(String, [Statement.Interaction.Component])] {
        switch self {
        case .choice(let list), .sequencing(let list): [("choices", list)]
        case .likert(let list): [("scale", list)]
        case .performance(let list): [("steps", list)]
        case .matching(let source, let target): [("source", source), ("target", target)]
        case .trueFalse, .fillIn, .longFillIn, .numeric, .other: []
        }
    }

    fileprivate init?(_ name: String, of json: JSONValue) {
        switch name {
        case "true-false": self = .trueFalse
        case "choice": self = .choice(json.parts("choices"))
        case "fill-in": self = .fillIn
        case "long-fill-in": self = .longFillIn
        case "matching": self = .matching(source: json.parts("source"), target: json.parts("target"))
        case "performance": self = .performance(json.parts("steps"))
        case "sequencing": self = .sequencing(json.parts("choices"))
        case "likert": self = .likert(json.parts("scale"))
        case "numeric": self = .numeric
        case "other": self = .other
        default: return nil
        }
    }
}

extension Statement.Interaction.Component: JSONPart {
    var json: JSONValue { .members(["id": .string(id), "description": description.json.nonEmpty]) }

    init?(checked json: JSONValue) {
        guard let id = json["id"]?.string else { return nil }
        self.init(id, description: json.part("description") ?? [:])
    }
}
