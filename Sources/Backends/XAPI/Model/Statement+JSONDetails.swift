internal import InstrumentJSON

extension Statement.Result: JSONPart {
    var json: JSONValue {
        .members([
            "score": score?.json.nonEmpty, "success": success.map(JSONValue.bool),
            "completion": completion.map(JSONValue.bool), "response": response.map(JSONValue.string),
            "duration": duration?.json, "extensions": JSONValue.extensions(extensions).nonEmpty,
        ])
    }

    init?(checked json: JSONValue) {
        self.init(
            score: json.part("score"),
            success: json["success"]?.bool,
            completion: json["completion"]?.bool,
            response: json["response"]?.string,
            duration: json.part("duration"),
            extensions: json["extensions"]?.extensions ?? [:]
        )
    }
}

extension Statement.Score: JSONPart {
    var json: JSONValue {
        .members([
            "scaled": scaled.map(JSONValue.number), "raw": raw.map(JSONValue.number), "min": min.map(JSONValue.number),
            "max": max.map(JSONValue.number),
        ])
    }

    init?(checked json: JSONValue) {
        self.init(
            scaled: json["scaled"]?.number,
            raw: json["raw"]?.number,
            min: json["min"]?.number,
            max: json["max"]?.number
        )
    }
}

extension Statement.Context: JSONPart {
    var json: JSONValue {
        .members([
            "registration": registration.map(JSONValue.id), "instructor": instructor?.json, "team": team?.json,
            "contextActivities": activities.json.nonEmpty, "revision": revision.map(JSONValue.string),
            "platform": platform.map(JSONValue.string), "language": language.map(JSONValue.string),
            "statement": statement.map(JSONValue.statementRef), "extensions": JSONValue.extensions(extensions).nonEmpty,
            "contextAgents": JSONValue.array(agents.map { $0.json(named: "agent") }).nonEmpty,
            "contextGroups": JSONValue.array(groups.map { $0.json(named: "group") }).nonEmpty,
        ])
    }

    init?(checked json: JSONValue) {
        self.init(
            registration: json["registration"]?.id,
            instructor: json.part("instructor"),
            team: json.part("team"),
            activities: json.part("contextActivities") ?? Statement.ContextActivities(),
            revision: json["revision"]?.string,
            platform: json["platform"]?.string,
            language: json["language"]?.string,
            statement: json["statement"]?["id"]?.id,
            extensions: json["extensions"]?.extensions ?? [:],
            agents: (json["contextAgents"]?.elements ?? []).compactMap { .init(checked: $0, named: "agent") },
            groups: (json["contextGroups"]?.elements ?? []).compactMap { .init(checked: $0, named: "group") }
        )
    }
}

extension Statement.ContextActivities: JSONPart {
    var json: JSONValue {
        .members([
            "parent": parent.nonEmptyJSON, "grouping": grouping.nonEmptyJSON, "category": category.nonEmptyJSON,
            "other": other.nonEmptyJSON,
        ])
    }

    init?(checked json: JSONValue) {
        self.init(
            parent: json.parts("parent"),
            grouping: json.parts("grouping"),
            category: json.parts("category"),
            other: json.parts("other")
        )
    }
}

extension Statement.Companion where Someone: JSONPart {
    fileprivate func json(named name: String) -> JSONValue {
        .members([
            "objectType": name == "agent" ? "contextAgent" : "contextGroup", name: actor.json,
            "relevantTypes": relevantTypes.nonEmptyJSON,
        ])
    }

    fileprivate init?(checked json: JSONValue, named name: String) {
        guard let actor: Someone = json.part(name) else { return nil }
        self.init(actor, relevantTypes: json.parts("relevantTypes"))
    }
}

extension Statement.Attachment: JSONPart {
    var json: JSONValue {
        .members([
            "usageType": usageType.json, "display": display.json, "description": description.json.nonEmpty,
            "contentType": .string(contentType), "length": .int(length), "sha2": .string(sha2),
            "fileUrl": fileURL?.json,
        ])
    }

    init?(checked json: JSONValue) {
        guard let usageType: IRI = json.part("usageType"), let display: LanguageMap = json.part("display"),
            let contentType = json["contentType"]?.string, let sha2 = json["sha2"]?.string,
            let length = json["length"]?.int ?? json["length"]?.number.flatMap({ Int(exactly: $0) })
        else { return nil }
        self.init(
            usageType: usageType,
            display: display,
            description: json.part("description") ?? [:],
            contentType: contentType,
            length: length,
            sha2: sha2,
            fileURL: json.part("fileUrl")
        )
    }
}
