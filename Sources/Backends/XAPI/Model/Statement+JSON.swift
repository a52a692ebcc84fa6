internal import Instrument
public import InstrumentJSON

/// The failures that the validator found in JSON that is not a valid statement.
public struct StatementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failures; never empty.
    public let failures: [ValidationFailure]

    /// The failures, one in each line.
    public var description: String { failures.map(\.description).joined(separator: "\n") }
}

extension Statement {
    /// Reads a statement that is valid under the rules of a version.
    ///
    /// Times are kept in milliseconds without their zone and identifiers in upper case; their meaning stays the same.
    /// - Throws: ``StatementError`` with all failures.
    public init(json: JSONValue, version: XAPIVersion = .v1) throws(StatementError) {
        let failures = StatementValidator(version: version).failures(in: json)
        guard failures.isEmpty, let statement = Statement(checked: json) else {
            let unreadable = ValidationFailure(
                rule: .wellFormed,
                path: "$",
                message: "The statement must fit the typed model (found a value that it cannot hold)."
            )
            throw StatementError(failures: failures.isEmpty ? [unreadable] : failures)
        }
        self = statement
    }

    /// The statement as JSON; the same statement gives the same bytes.
    public var json: JSONValue {
        .members([
            "id": id.map(JSONValue.id), "actor": actor.json, "verb": verb.json, "object": object.json,
            "result": result?.json.nonEmpty, "context": context?.json.nonEmpty,
            "timestamp": timestamp.map(JSONValue.time),
            "stored": stored.map(JSONValue.time), "authority": authority?.json,
            "version": version.map(JSONValue.string),
            "attachments": attachments.nonEmptyJSON,
        ])
    }
}

extension Statement: JSONPart {
    init?(checked json: JSONValue) {
        guard let actor: Actor = json.part("actor"), let verb: Verb = json.part("verb"),
            let object: Object = json.part("object")
        else { return nil }
        self.init(
            id: json["id"]?.id,
            actor: actor,
            verb: verb,
            object: object,
            result: json.part("result"),
            context: json.part("context"),
            timestamp: json["timestamp"]?.time,
            attachments: json.parts("attachments")
        )
        stored = json["stored"]?.time
        authority = json.part("authority")
        version = json["version"]?.string
    }
}

extension Statement.Object: JSONPart {
    var json: JSONValue {
        switch self {
        case .activity(let activity): activity.json
        case .actor(let actor): actor.json
        case .statementRef(let id): .statementRef(id)
        case .subStatement(let statement): statement.json
        }
    }

    init?(checked json: JSONValue) {
        if json["objectType"]?.string == "SubStatement" {
            guard let statement = Statement.SubStatement(checked: json) else { return nil }
            self = .subStatement(statement)
        } else {
            switch Statement.SubStatement.Object(checked: json) {
            case .activity(let activity): self = .activity(activity)
            case .actor(let actor): self = .actor(actor)
            case .statementRef(let id): self = .statementRef(id)
            case nil: return nil
            }
        }
    }
}

extension Statement.SubStatement.Object: JSONPart {
    var json: JSONValue {
        switch self {
        case .activity(let activity): activity.json
        case .actor(let actor): actor.json
        case .statementRef(let id): .statementRef(id)
        }
    }

    init?(checked json: JSONValue) {
        switch json["objectType"]?.string {
        case "Agent", "Group":
            guard let actor = Statement.Actor(checked: json) else { return nil }
            self = .actor(actor)
        case "StatementRef":
            guard let id = json["id"]?.id else { return nil }
            self = .statementRef(id)
        default:
            guard let activity = Statement.Activity(checked: json) else { return nil }
            self = .activity(activity)
        }
    }
}

extension Statement.SubStatement: JSONPart {
    var json: JSONValue {
        .members([
            "objectType": "SubStatement", "actor": actor.json, "verb": verb.json, "object": object.json,
            "result": result?.json.nonEmpty, "context": context?.json.nonEmpty,
            "timestamp": timestamp.map(JSONValue.time),
            "attachments": attachments.nonEmptyJSON,
        ])
    }

    init?(checked json: JSONValue) {
        guard let actor: Statement.Actor = json.part("actor"), let verb: Statement.Verb = json.part("verb"),
            let object: Object = json.part("object")
        else { return nil }
        self.init(
            actor: actor,
            verb: verb,
            object: object,
            result: json.part("result"),
            context: json.part("context"),
            timestamp: json["timestamp"]?.time,
            attachments: json.parts("attachments")
        )
    }
}

extension Statement.Verb: JSONPart {
    var json: JSONValue { .members(["id": id.json, "display": display.json.nonEmpty]) }

    init?(checked json: JSONValue) {
        guard let id: IRI = json.part("id") else { return nil }
        self.init(id, display: json.part("display") ?? [:])
    }
}
