public import InstrumentJSON
internal import InstrumentXAPI

extension Seer {
    /// A Tin Can statement in the form that Seer accepts.
    public struct TinCan: Hashable, Sendable {
        /// Its identifier, as `Seer.uniqueID(from:)` makes them. Wire name `id`.
        package var id: String?
        /// The person or group that acted, with at least one identifier. Wire name `actor`.
        package var actor: Actor
        /// The kind of action. Wire name `verb`; its `id` is required.
        package var verb: Verb
        /// The thing that the action applies to. Wire name `object`; its `id` and the `type` of its definition
        /// are required.
        package var object: Object
        /// The outcome. Wire name `result`.
        package var result: [String: JSONValue]
        /// The circumstances. Wire name `context`.
        package var context: Context
        /// The time, in the format of `Seer.timestamp(_:)`. Wire name `timestamp`.
        package var timestamp: String?
        /// Additional keys.
        package var properties: [String: JSONValue]

        /// Creates a statement.
        public init(
            id: String? = nil,
            actor: Actor,
            verb: Verb,
            object: Object,
            result: [String: JSONValue] = [:],
            context: Context,
            timestamp: String? = nil,
            properties: [String: JSONValue] = [:]
        ) {
            self.id = id
            self.actor = actor
            self.verb = verb
            self.object = object
            self.result = result
            self.context = context
            self.timestamp = timestamp
            self.properties = properties
        }

        /// The statement as JSON; a field wins over a property of its name.
        public var json: JSONValue {
            .members(
                [
                    "id": id.map(JSONValue.string), "actor": actor.json, "verb": verb.json, "object": object.json,
                    "result": JSONValue.object(result).nonEmpty, "context": context.json,
                    "timestamp": timestamp.map(JSONValue.string),
                ],
                and: properties
            )
        }
    }
}

extension Seer.TinCan {
    /// The person or group that acted, with one identifier or several.
    public struct Actor: Hashable, Sendable {
        /// A mailbox; Seer does not require `mailto:`. Wire name `mbox`.
        package var mbox: String?
        /// The SHA-1 checksum of a mailbox. Wire name `mbox_sha1sum`.
        package var mboxSHA1Sum: String?
        /// An OpenID. Wire name `openid`.
        package var openID: String?
        /// An account, `homePage` and `name`. Wire name `account`; left out if empty.
        package var account: [String: JSONValue]
        /// Additional keys: `name`, `objectType` …
        package var properties: [String: JSONValue]

        /// Creates an actor.
        public init(
            mbox: String? = nil,
            mboxSHA1Sum: String? = nil,
            openID: String? = nil,
            account: [String: JSONValue] = [:],
            properties: [String: JSONValue] = [:]
        ) {
            self.mbox = mbox
            self.mboxSHA1Sum = mboxSHA1Sum
            self.openID = openID
            self.account = account
            self.properties = properties
        }

        /// The actor as JSON; a field wins over a property of its name.
        package var json: JSONValue {
            .members(
                [
                    "mbox": mbox.map(JSONValue.string), "mbox_sha1sum": mboxSHA1Sum.map(JSONValue.string),
                    "openid": openID.map(JSONValue.string), "account": JSONValue.object(account).nonEmpty,
                ],
                and: properties
            )
        }
    }

    /// The kind of action.
    public struct Verb: Hashable, Sendable {
        /// Its identifier. Wire name `id`.
        package var id: String
        /// Its name by language. Wire name `display`; left out if empty.
        package var display: [String: String]
        /// Additional keys.
        package var properties: [String: JSONValue]

        /// Creates a verb.
        public init(id: String, display: [String: String] = [:], properties: [String: JSONValue] = [:]) {
            self.id = id
            self.display = display
            self.properties = properties
        }

        /// The verb as JSON; a field wins over a property of its name.
        package var json: JSONValue {
            let display = JSONValue.object(display.mapValues(JSONValue.string)).nonEmpty
            return .members(["id": .string(id), "display": display], and: properties)
        }
    }

    /// The thing that the action applies to.
    public struct Object: Hashable, Sendable {
        /// Its identifier. Wire name `id`.
        package var id: String
        /// The type in its definition. Wire name `definition.type`.
        package var type: String
        /// Additional keys of its definition: `name`, `description` …
        package var definition: [String: JSONValue]
        /// Additional keys: `objectType` …
        package var properties: [String: JSONValue]

        /// Creates an object.
        public init(
            id: String,
            type: String,
            definition: [String: JSONValue] = [:],
            properties: [String: JSONValue] = [:]
        ) {
            self.id = id
            self.type = type
            self.definition = definition
            self.properties = properties
        }

        /// The object as JSON; a field wins over a property of its name.
        package var json: JSONValue {
            let definition = JSONValue.members(["type": .string(type)], and: definition)
            return .members(["id": .string(id), "definition": definition], and: properties)
        }
    }

    /// The circumstances of the action.
    public struct Context: Hashable, Sendable {
        /// The app's identifier at the service. Wire name `extensions.appId`.
        package var appID: String
        /// Further extensions.
        package var extensions: [String: JSONValue]
        /// Additional keys: `platform`, `language`, `contextActivities` …
        package var properties: [String: JSONValue]

        /// Creates a context.
        public init(
            appID: String,
            extensions: [String: JSONValue] = [:],
            properties: [String: JSONValue] = [:]
        ) {
            self.appID = appID
            self.extensions = extensions
            self.properties = properties
        }

        /// The context as JSON; a field wins over a property of its name.
        package var json: JSONValue {
            let extensions = JSONValue.members(["appId": .string(appID)], and: extensions)
            return .members(["extensions": extensions], and: properties)
        }
    }
}
