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
