public import InstrumentJSON
internal import InstrumentXAPI

extension Seer {
    /// One activity in the format of JSON Activity Streams 1.0.
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
        /// The person or thing that acted. Wire name `actor`; its `id` is required.
        package var actor: Thing
        /// The kind of action; required. Wire name `verb`.
        package var verb: String
        /// The thing that the action applies to. Wire name `object`; its `id` and `objectType` are required.
        package var object: Thing
        /// The target of the action. Wire name `target`.
        package var target: Thing?
        /// The app that reports the activity. Wire name `generator`.
        package var generator: Generator
        /// Texts about the circumstances. Wire name `context`; left out if empty.
        package var context: [String: String]
        /// The time, in the format of `Seer.timestamp(_:)`. Wire name `published`; required by the strict rules.
        package var published: String?
        /// Additional keys.
        package var properties: [String: JSONValue]

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
        package var id: String
        /// The kind of thing. Wire name `objectType`.
        package var objectType: String?
        /// Additional keys: `displayName`, `url` …
        package var properties: [String: JSONValue]

        /// Creates a thing.
        public init(id: String, objectType: String? = nil, properties: [String: JSONValue] = [:]) {
            self.id = id
            self.objectType = objectType
            self.properties = properties
        }

        /// The thing as JSON; a field wins over a property of its name.
        package var json: JSONValue {
            .members(["id": .string(id), "objectType": objectType.map(JSONValue.string)], and: properties)
        }
    }

    /// The app that made a payload.
    public struct Generator: Hashable, Sendable {
        /// The app's identifier at the service. Wire name `appId`.
        package var appID: String
        /// Additional keys, about app and device.
        package var properties: [String: JSONValue]

        /// Creates a generator.
        public init(appID: String, properties: [String: JSONValue] = [:]) {
            self.appID = appID
            self.properties = properties
        }

        /// The generator as JSON; a field wins over a property of its name.
        package var json: JSONValue { .members(["appId": .string(appID)], and: properties) }
    }
}

extension JSONValue {
    /// An object of the fields that are not nil, and of the properties with other names.
    static func members(_ fields: [String: JSONValue?], and properties: [String: JSONValue]) -> JSONValue {
        .object(fields.compactMapValues(\.self).merging(properties) { field, _ in field })
    }
}
