public import InstrumentJSON

extension Seer {
    /// Somebody did something with something, as JSON Activity Streams 1.0 tells it.
    ///
    /// ```swift
    /// let stream = Seer.ActivityStream(
    ///     actor: Seer.Thing(id: "tag:example.org,2024:viewer"),
    ///     verb: "watch",
    ///     object: Seer.Thing(id: "tag:example.org,2024:film", objectType: "video"),
    ///     generator: Seer.Generator(appID: "example-player")
    /// )
    /// ```
    public struct ActivityStream: Hashable, Sendable {
        /// Who did it. Wire name `actor`; its `id` is required.
        public var actor: Thing
        /// What was done; required. Wire name `verb`.
        public var verb: String
        /// To what it was done. Wire name `object`; its `id` and `objectType` are required.
        public var object: Thing
        /// What it was done towards. Wire name `target`.
        public var target: Thing?
        /// The app that tells it. Wire name `generator`.
        public var generator: Generator
        /// Texts about the circumstances. Wire name `context`; left out if there are none.
        public var context: [String: String]
        /// When, as ``Seer/timestamp(_:)`` has it. Wire name `published`; required by the strict rules.
        public var published: String?
        /// What else there is to say.
        public var properties: [String: JSONValue]

        /// Creates an activity.
        public init(
            actor: Thing,
            verb: String,
            object: Thing,
            target: Thing? = nil,
            generator: Generator,
            context: [String: String] = [:],
            published: String? = nil,
            properties: [String: JSONValue] = [:]
        ) {
            self.actor = actor
            self.verb = verb
            self.object = object
            self.target = target
            self.generator = generator
            self.context = context
            self.published = published
            self.properties = properties
        }

        /// The activity as JSON; a field wins over a property of its name.
        public var json: JSONValue {
            .members(
                [
                    "actor": actor.json, "verb": .string(verb), "object": object.json, "target": target?.json,
                    "generator": generator.json, "published": published.map(JSONValue.string),
                    "context": JSONValue.object(context.mapValues(JSONValue.string)).nonEmpty,
                ],
                and: properties
            )
        }
    }

    /// A person or thing in an activity stream.
    public struct Thing: Hashable, Sendable {
        /// Its identifier. Wire name `id`.
        public var id: String
        /// What kind of thing it is. Wire name `objectType`.
        public var objectType: String?
        /// What else there is to say: `displayName`, `url` …
        public var properties: [String: JSONValue]

        /// Creates a thing.
        public init(id: String, objectType: String? = nil, properties: [String: JSONValue] = [:]) {
            self.id = id
            self.objectType = objectType
            self.properties = properties
        }

        /// The thing as JSON; a field wins over a property of its name.
        public var json: JSONValue {
            .members(["id": .string(id), "objectType": objectType.map(JSONValue.string)], and: properties)
        }
    }

    /// The app that made a payload.
    public struct Generator: Hashable, Sendable {
        /// The app's identifier with the service. Wire name `appId`.
        public var appID: String
        /// What else there is to say of app and device.
        public var properties: [String: JSONValue]

        /// Creates a generator.
        public init(appID: String, properties: [String: JSONValue] = [:]) {
            self.appID = appID
            self.properties = properties
        }

        /// The generator as JSON; a field wins over a property of its name.
        public var json: JSONValue { .members(["appId": .string(appID)], and: properties) }
    }
}

extension JSONValue {
    /// Fields that are there, and properties of other names.
    static func members(_ fields: [String: JSONValue?], and properties: [String: JSONValue]) -> JSONValue {
        .object(fields.compactMapValues(\.self).merging(properties) { field, _ in field })
    }
}
