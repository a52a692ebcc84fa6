internal import InstrumentJSON

/// Contexts (xAPI 1.0.3, Data 2.4.6; IEEE 9274.1.1, 4.2.2.5).
extension Checker {
    private static let contextKinds: Set<String> = ["parent", "grouping", "category", "other"]
    private static let ofContext: Set<String> = [
        "registration", "instructor", "team", "contextActivities", "revision", "platform", "language", "statement",
        "extensions",
    ]

    mutating func context(_ value: JSONValue, ofActivity: Bool, at path: JSONPath) {
        let known = version == .v2 ? Self.ofContext.union(["contextAgents", "contextGroups"]) : Self.ofContext
        guard let members = members(of: value, at: path, known: known, rule: .wrongType) else { return }
        if let id = members["registration"] { uuid(id, at: path / "registration", rule: .registration) }
        if let agent = members["instructor"] { actor(agent, at: path / "instructor", rule: .instructor) }
        if let team = members["team"] { actor(team, at: path / "team", expected: .group, rule: .team) }
        if let activities = members["contextActivities"] {
            contextActivities(activities, at: path / "contextActivities")
        }
        ofActivities(members, ofActivity: ofActivity, at: path)
        if let language = members["language"] { self.language(language, at: path / "language") }
        if let reference = members["statement"] {
            statementRef(reference, at: path / "statement", rule: .contextStatement)
        }
        if let values = members["extensions"] { extensions(values, at: path / "extensions", rule: .contextExtensions) }
        companions(members, at: path)
    }

    /// `revision` and `platform` only apply to activities (XAPI-00084, XAPI-00085).
    private mutating func ofActivities(_ members: [String: JSONValue], ofActivity: Bool, at path: JSONPath) {
        if let revision = members["revision"] {
            string(revision, at: path / "revision", rule: .revision)
            if !ofActivity {
                fail(
                    .revisionOfActivity,
                    at: path / "revision",
                    "must not appear in a statement whose object is not an activity",
                    found: revision
                )
            }
        }
        if let platform = members["platform"] {
            string(platform, at: path / "platform", rule: .platform)
            if !ofActivity {
                fail(
                    .platformOfActivity,
                    at: path / "platform",
                    "must not appear in a statement whose object is not an activity",
                    found: platform
                )
            }
        }
    }

    private mutating func language(_ value: JSONValue, at path: JSONPath) {
        guard let text = string(value, at: path, rule: .language), !LanguageTagFormat.isValid(text) else { return }
        fail(.language, at: path, "must be a language tag of RFC 5646, such as en-GB", found: value)
    }

    /// One activity or several, of four kinds (Data 2.4.6.2).
    private mutating func contextActivities(_ value: JSONValue, at path: JSONPath) {
        guard case .object(let all) = value else {
            return fail(
                .contextActivities,
                at: path,
                "must be an object with the keys parent, grouping, category or other",
                found: value
            )
        }
        for name in all.keys.filter({ !Self.contextKinds.contains($0) }).sorted() {
            fail(
                .contextActivitiesKey,
                at: path / name,
                "must be one of parent, grouping, category, other",
                foundWords: "the key " + Excerpt.quoted(name)
            )
        }
        let known = all.filter { Self.contextKinds.contains($0.key) }
        if all.isEmpty { return warnOfEmpty(at: path, rule: .contextActivitiesEmpty) }
        guard !known.isEmpty,
            let members = members(of: .object(known), at: path, known: Self.contextKinds, rule: .contextActivities)
        else {
            return
        }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { activities(value, at: path / name) }
    }

    private mutating func activities(_ value: JSONValue, at path: JSONPath) {
        guard case .array(let list) = value else { return activity(value, at: path, rule: .contextActivity) }
        for (index, value) in list.enumerated() { activity(value, at: path[index], rule: .contextActivity) }
    }
}

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

/// Results and scores (xAPI 1.0.3, Data 2.4.5).
extension Checker {
    private static let ofResult: Set<String> = [
        "score", "success", "completion", "response", "duration", "extensions",
    ]
    private static let ofScore: Set<String> = ["scaled", "raw", "min", "max"]

    mutating func result(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofResult, rule: .wrongType) else { return }
        if let score = members["score"] { self.score(score, at: path / "score") }
        if let success = members["success"] { bool(success, at: path / "success", rule: .success) }
        if let completion = members["completion"] { bool(completion, at: path / "completion", rule: .completion) }
        if let response = members["response"] { string(response, at: path / "response", rule: .response) }
        if let duration = members["duration"], let text = string(duration, at: path / "duration", rule: .duration),
            !DurationFormat.isValid(text)
        {
            fail(
                .durationFormat,
                at: path / "duration",
                "must be a duration in the format of ISO 8601, such as PT1H30M or P4W",
                found: duration
            )
        }
        if let values = members["extensions"] { extensions(values, at: path / "extensions", rule: .resultExtensions) }
    }

    private mutating func score(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofScore, rule: .score) else {
            return
        }
        let scaled = number(of: members, "scaled", at: path, rule: .scoreScaled)
        let raw = number(of: members, "raw", at: path, rule: .scoreRaw)
        let min = number(of: members, "min", at: path, rule: .scoreMin)
        let max = number(of: members, "max", at: path, rule: .scoreMax)
        if let scaled, !(-1...1).contains(scaled) {
            fail(.scoreScaled, at: path / "scaled", "must be between -1 and 1", found: members["scaled"])
        }
        if let min, let max, !(min < max) {
            let limit = members["max"].map(Excerpt.value) ?? ""
            fail(.scoreMin, at: path / "min", "must be less than `max` \(limit)", found: members["min"])
        }
        if let raw, let min, raw < min {
            let limit = members["min"].map(Excerpt.value) ?? ""
            fail(.scoreRaw, at: path / "raw", "must not be less than `min` \(limit)", found: members["raw"])
        }
        if let raw, let max, raw > max, raw >= min ?? raw {
            let limit = members["max"].map(Excerpt.value) ?? ""
            fail(.scoreRaw, at: path / "raw", "must not be greater than `max` \(limit)", found: members["raw"])
        }
    }

    private mutating func number(
        of members: [String: JSONValue],
        _ name: String,
        at path: JSONPath,
        rule: ValidationRule
    ) -> Double? {
        members[name].flatMap { number($0, at: path / name, rule: rule) }
    }
}

/// Attachments (xAPI 1.0.3, Data 2.4.11).
extension Checker {
    private static let required: [(key: String, rule: ValidationRule)] = [
        ("usageType", .attachmentUsageType), ("display", .attachmentDisplay), ("contentType", .attachmentContentType),
        ("length", .attachmentLength), ("sha2", .attachmentSHA2),
    ]
    private static let ofAttachment = Set(required.map(\.key) + ["description", "fileUrl"])

    mutating func attachments(_ value: JSONValue, at path: JSONPath) {
        guard let list = elements(of: value, at: path, rule: .attachments) else { return }
        for (index, value) in list.enumerated() { attachment(value, at: path[index]) }
    }

    private mutating func attachment(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofAttachment, rule: .attachments) else { return }
        for (key, rule) in Self.required where members[key] == nil {
            fail(rule, at: path / key, "is missing; an attachment must have it")
        }
        if let type = members["usageType"] { iri(type, at: path / "usageType", rule: .attachmentUsageType) }
        if let display = members["display"] { languageMap(display, at: path / "display", rule: .attachmentDisplay) }
        if let text = members["description"] {
            languageMap(text, at: path / "description", rule: .attachmentDescription)
        }
        if let url = members["fileUrl"] { iri(url, at: path / "fileUrl", rule: .attachmentFileURL) }
        content(members, at: path)
    }

    private mutating func content(_ members: [String: JSONValue], at path: JSONPath) {
        if let type = members["contentType"],
            let text = string(type, at: path / "contentType", rule: .attachmentContentType),
            !MediaTypeFormat.isValid(text)
        {
            fail(
                .attachmentContentType,
                at: path / "contentType",
                "must be a media type, such as text/plain",
                found: type
            )
        }
        if let length = members["length"], !Self.isCount(length) {
            fail(.attachmentLength, at: path / "length", "must be a whole number of bytes, 0 or more", found: length)
        }
        // SHA-224, 256, 384 and 512.
        if let sum = members["sha2"], let text = string(sum, at: path / "sha2", rule: .attachmentSHA2),
            !Hexadecimal.isText(text, lengths: [56, 64, 96, 128])
        {
            fail(
                .attachmentSHA2,
                at: path / "sha2",
                "must be a SHA-2 checksum of 56, 64, 96 or 128 hexadecimal digits",
                found: sum
            )
        }
    }

    private static func isCount(_ value: JSONValue) -> Bool {
        switch value {
        case .int(let number): number >= 0
        case .double(let number): number >= 0 && number == number.rounded()
        default: false
        }
    }
}
