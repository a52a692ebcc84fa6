internal import InstrumentJSON

/// Agents and groups in any place (xAPI 1.0.3, Data 2.4.2 and 2.4.9).
extension Checker {
    enum ActorKind: String { case agent = "Agent", group = "Group" }

    private static let identifierNames = "mbox, mbox_sha1sum, openid, account"
    private static let identifiers: Set<String> = ["mbox", "mbox_sha1sum", "openid", "account"]
    private static let ofAgent = identifiers.union(["objectType", "name"])
    private static let ofAccount: Set<String> = ["homePage", "name"]
    private static let ofGroup = ofAgent.union(["member"])

    /// True if the object has a key that only actors have.
    static func looksLikeActor(_ members: [String: JSONValue]) -> Bool {
        members.keys.contains { identifiers.contains($0) || $0 == "member" }
    }

    /// An agent or a group; if `expected` is given, only that kind, as the given rule demands.
    mutating func actor(
        _ value: JSONValue,
        at path: JSONPath,
        expected: ActorKind? = nil,
        rule: ValidationRule = .wrongType
    ) {
        guard case .object(let all) = value else {
            return fail(rule, at: path, "must be an agent or a group", found: value)
        }
        guard let kind = actorKind(all["objectType"], at: path / "objectType") else { return }
        if let expected, kind != expected {
            return fail(rule, at: path / "objectType", "must be `\(expected.rawValue)`", found: .string(kind.rawValue))
        }
        switch kind {
        case .agent: agent(value, at: path)
        case .group: group(value, at: path)
        }
    }

    /// The kind of an actor; an agent by default.
    private mutating func actorKind(_ value: JSONValue?, at path: JSONPath) -> ActorKind? {
        guard let value else { return .agent }
        if case .string = value {
            return oneOf(["Agent", "Group"], value, at: path, rule: .actorObjectType).flatMap(ActorKind.init)
        }
        fail(value == .null ? .nullOrEmpty : .objectTypeType, at: path, "must be a string", found: value)
        return nil
    }

    private mutating func agent(_ value: JSONValue, at path: JSONPath) {
        let forbidden: [String: ValidationRule] = ["member": .memberOutsideGroup]
        guard
            let members = members(of: value, at: path, known: Self.ofAgent, forbidden: forbidden, rule: .wrongType)
        else { return }
        if identifierCount(of: value) != 1 {
            fail(
                .agentIdentifier,
                at: path,
                "must have exactly one of \(Self.identifierNames)",
                foundWords: identifiersFound(in: value)
            )
        }
        nameAndIdentifiers(members, at: path)
    }

    private mutating func group(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofGroup, rule: .wrongType) else { return }
        let count = identifierCount(of: value)
        if count > 1 {
            fail(
                .groupIdentifier,
                at: path,
                "must have at most one of \(Self.identifierNames)",
                foundWords: identifiersFound(in: value)
            )
        }
        nameAndIdentifiers(members, at: path)
        if let member = members["member"] {
            groupMembers(member, isAnonymous: count == 0, at: path / "member")
        } else if count == 0 {
            failAnonymousWithoutMembers(at: path, found: "no `member` and no identifier")
        }
    }

    private mutating func failAnonymousWithoutMembers(at path: JSONPath, found: String) {
        let requirement = "must have members in `member`, or one of \(Self.identifierNames)"
        fail(.groupIdentifier, at: path, requirement, foundWords: found)
    }

    /// Counts the identifiers that are present, null or not: each faulty one is reported only once.
    private func identifierCount(of value: JSONValue) -> Int {
        guard case .object(let members) = value else { return 0 }
        return members.keys.count { Self.identifiers.contains($0) }
    }

    private func identifiersFound(in value: JSONValue) -> String {
        let names = Self.identifiers.filter { value[$0] != nil }.sorted()
        return names.isEmpty ? "none" : names.joined(separator: ", ")
    }

    private mutating func groupMembers(_ value: JSONValue, isAnonymous: Bool, at path: JSONPath) {
        guard let members = elements(of: value, at: path, rule: .groupMembers) else { return }
        if members.isEmpty, isAnonymous {
            failAnonymousWithoutMembers(at: path, found: "an empty array and no identifier")
        }
        for (index, member) in members.enumerated() {
            actor(member, at: path[index], expected: .agent, rule: .groupMembers)
        }
    }

    private mutating func nameAndIdentifiers(_ members: [String: JSONValue], at path: JSONPath) {
        if let name = members["name"] { string(name, at: path / "name", rule: .actorName) }
        if let mbox = members["mbox"], let text = string(mbox, at: path / "mbox", rule: .mbox),
            !MailboxFormat.isValid(text)
        {
            fail(.mbox, at: path / "mbox", "must be `mailto:` followed by an e-mail address", found: mbox)
        }
        if let sum = members["mbox_sha1sum"], let text = string(sum, at: path / "mbox_sha1sum", rule: .mboxSHA1Sum),
            !Hexadecimal.isText(text, lengths: [40])
        {
            fail(
                .mboxSHA1Sum,
                at: path / "mbox_sha1sum",
                "must be a SHA-1 checksum of 40 hexadecimal digits",
                found: sum
            )
        }
        if let openID = members["openid"] { iri(openID, at: path / "openid", rule: .openID) }
        if let account = members["account"] { self.account(account, at: path / "account") }
    }

    /// Both `homePage` and `name` (Data 2.4.2.4).
    private mutating func account(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofAccount, rule: .account) else { return }
        if let homePage = members["homePage"] {
            iri(homePage, at: path / "homePage", rule: .accountHomePage)
        } else {
            fail(.accountHomePage, at: path / "homePage", "is missing; an account must have it")
        }
        guard let name = members["name"] else {
            return fail(.accountName, at: path / "name", "is missing; an account must have it")
        }
        if string(name, at: path / "name", rule: .accountName)?.isEmpty == true {
            fail(.accountName, at: path / "name", "must not be empty", found: name)
        }
    }

    /// An agent, or application and user together: an anonymous group of two, one of which has an account (Data 2.4.9).
    mutating func authority(_ value: JSONValue, at path: JSONPath) {
        let before = errorCount
        actor(value, at: path, rule: .authority)
        guard errorCount == before, value["objectType"]?.string == "Group" else { return }
        if identifierCount(of: value) > 0 {
            fail(
                .authorityGroup,
                at: path,
                "must not have an identifier, because a group that is the authority is anonymous",
                foundWords: identifiersFound(in: value)
            )
        }
        guard case .array(let members)? = value["member"], members.count == 2 else {
            return fail(
                .authorityGroup,
                at: path / "member",
                "must have exactly two elements, the application and the user, in a group that is the authority",
                foundWords: value["member"].map(Excerpt.value) ?? "no `member`"
            )
        }
        if !members.contains(where: { $0["account"] != nil }) {
            fail(
                .authorityConsumer,
                at: path / "member",
                "must contain the application, identified by an `account`",
                foundWords: "no member with an `account`"
            )
        }
    }
}
