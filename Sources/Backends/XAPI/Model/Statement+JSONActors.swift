internal import InstrumentJSON

extension Statement.Actor: JSONPart {
    var json: JSONValue {
        switch self {
        case .agent(let agent): agent.json
        case .group(let group): group.json
        }
    }

    init?(checked json: JSONValue) {
        if json["objectType"]?.string == "Group" {
            guard let group = Statement.Group(checked: json) else { return nil }
            self = .group(group)
        } else {
            guard let agent = Statement.Agent(checked: json) else { return nil }
            self = .agent(agent)
        }
    }
}

extension Statement.Agent: JSONPart {
    var json: JSONValue {
        .members(["objectType": "Agent", "name": name.map(JSONValue.string), identifier.name: identifier.json])
    }

    init?(checked json: JSONValue) {
        guard let identifier = Statement.Identifier(of: json) else { return nil }
        self.init(identifier, name: json["name"]?.string)
    }
}

extension Statement.Group: JSONPart {
    var json: JSONValue {
        var members: [String: JSONValue?] = [
            "objectType": "Group", "name": name.map(JSONValue.string), "member": self.members.nonEmptyJSON,
        ]
        if let identifier { members[identifier.name] = identifier.json }
        return .members(members)
    }

    init?(checked json: JSONValue) {
        self.init(members: json.parts("member"), name: json["name"]?.string)
        identifier = Statement.Identifier(of: json)
    }
}

extension Statement.Identifier {
    fileprivate var name: String {
        switch self {
        case .mailbox: "mbox"
        case .mailboxSHA1: "mbox_sha1sum"
        case .openID: "openid"
        case .account: "account"
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .mailbox(let iri), .openID(let iri): iri.json
        case .mailboxSHA1(let sum): .string(sum)
        case .account(let homePage, let name): ["homePage": homePage.json, "name": .string(name)]
        }
    }

    /// Reads the identifier of an agent or a group.
    fileprivate init?(of json: JSONValue) {
        if let iri: IRI = json.part("mbox") {
            self = .mailbox(iri)
        } else if let sum = json["mbox_sha1sum"]?.string {
            self = .mailboxSHA1(sum)
        } else if let iri: IRI = json.part("openid") {
            self = .openID(iri)
        } else if let account = json["account"], let page: IRI = account.part("homePage"),
            let name = account["name"]?.string
        {
            self = .account(homePage: page, name: name)
        } else {
            return nil
        }
    }
}
