public import Instrument

/// An xAPI statement: an actor, a verb and an object.
///
/// ```swift
/// var statement = Statement(
///     actor: .agent(Statement.Agent(.account(homePage: "https://example.org", name: "4711"))),
///     verb: Statement.Verb("http://adlnet.gov/expapi/verbs/experienced", display: ["en": "experienced"]),
///     object: .activity(Statement.Activity("https://example.org/films/1"))
/// )
/// statement.timestamp = WallTime(milliseconds: 1_700_000_000_000)
/// let bytes = statement.json.bytes
/// ```
///
/// A value that is not validated; ``failures(version:)`` validates it. Empty parts are left out of the JSON,
/// because the specification forbids empty objects.
///
/// Source: xAPI 1.0.3, Data 2.4; IEEE 9274.1.1-2023, 4.2.2.
public struct Statement: Hashable, Sendable {
    /// The UUID. Set it when the statement is created; it stays the same at every attempt.
    public var id: SampleID?
    /// The actor.
    public var actor: Actor
    /// The verb.
    public var verb: Verb
    /// The object.
    public var object: Object
    /// The result.
    public var result: Result?
    /// The context.
    public var context: Context?
    /// The time of the action, in milliseconds; never in the future.
    public var timestamp: WallTime?
    /// The time at which a server stored the statement; only servers set it.
    package var stored: WallTime?
    /// The authority that asserts the statement; set by servers and trusted clients only.
    package var authority: Actor?
    /// The version of xAPI. A provider leaves it out, or sets `1.0.0`, or `2.0.0` for 2.0.
    package var version: String?
    /// The attachments.
    public var attachments: [Attachment]

    /// Creates a statement from its required and optional parts.
    public init(
        id: SampleID? = nil,
        actor: Actor,
        verb: Verb,
        object: Object,
        result: Result? = nil,
        context: Context? = nil,
        timestamp: WallTime? = nil,
        attachments: [Attachment] = []
    ) {
        self.id = id
        self.actor = actor
        self.verb = verb
        self.object = object
        self.result = result
        self.context = context
        self.timestamp = timestamp
        self.attachments = attachments
    }

    /// Returns the failures under the rules of a version; empty for a valid statement.
    public func failures(version: XAPIVersion = .v1) -> [ValidationFailure] {
        StatementValidator(version: version).failures(in: json)
    }
}

extension Statement {
    /// Returns a statement that voids another one. A voiding statement cannot be voided.
    ///
    /// Source: xAPI 1.0.3, Data 2.3.2.
    package static func voiding(_ id: SampleID, by actor: Actor) -> Statement {
        Statement(actor: actor, verb: .voided, object: .statementRef(id))
    }

    /// The object of a statement.
    public enum Object: Hashable, Sendable {
        /// An activity: a film, a course, a question.
        case activity(Activity)
        /// A person or a group.
        case actor(Actor)
        /// Another statement, by its identifier.
        case statementRef(SampleID)
        /// A statement that is not stored on its own, but described by this one.
        case subStatement(SubStatement)
    }

    /// A statement inside a statement, without an identifier and without a further sub-statement.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.4.3.
    public struct SubStatement: Hashable, Sendable {
        /// The actor.
        package var actor: Actor
        /// The verb.
        package var verb: Verb
        /// The object.
        package var object: Object
        /// The result.
        package var result: Result?
        /// The context.
        package var context: Context?
        /// The time of the action; may lie in the future.
        package var timestamp: WallTime?
        /// The attachments.
        package var attachments: [Attachment]

        /// The object of a sub-statement.
        public enum Object: Hashable, Sendable {
            /// An activity.
            case activity(Activity)
            /// A person or a group.
            case actor(Actor)
            /// A statement, by its identifier.
            case statementRef(SampleID)
        }

        /// Creates a sub-statement.
        public init(
            actor: Actor,
            verb: Verb,
            object: Object,
            result: Result? = nil,
            context: Context? = nil,
            timestamp: WallTime? = nil,
            attachments: [Attachment] = []
        ) {
            self.actor = actor
            self.verb = verb
            self.object = object
            self.result = result
            self.context = context
            self.timestamp = timestamp
            self.attachments = attachments
        }
    }

    /// The verb.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.3.
    public struct Verb: Hashable, Sendable {
        /// The identifier of the action.
        public var id: IRI
        /// The name of the action, for people.
        public var display: LanguageMap

        /// Creates a verb.
        public init(_ id: IRI, display: LanguageMap = [:]) {
            self.id = id
            self.display = display
        }

        /// The verb that voids a statement.
        package static let voided = Verb("http://adlnet.gov/expapi/verbs/voided", display: ["en": "voided"])
    }

    /// The actor of a statement: an agent or a group.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.2.
    public enum Actor: Hashable, Sendable {
        /// One person or system.
        case agent(Agent)
        /// A group of agents.
        case group(Group)
    }

    /// One person or system.
    public struct Agent: Hashable, Sendable {
        /// The identifier.
        public var identifier: Identifier
        /// The full name.
        public var name: String?

        /// Creates an agent.
        public init(_ identifier: Identifier, name: String? = nil) {
            self.identifier = identifier
            self.name = name
        }
    }

    /// A group of agents, with an identifier or anonymous.
    public struct Group: Hashable, Sendable {
        /// The identifier of the group; nil for an anonymous group, which must have members.
        package var identifier: Identifier?
        /// The name of the group.
        package var name: String?
        /// Some or all members.
        package var members: [Agent]

        /// Creates a group with an identifier.
        public init(_ identifier: Identifier, name: String? = nil, members: [Agent] = []) {
            self.identifier = identifier
            self.name = name
            self.members = members
        }

        /// Creates an anonymous group of members.
        public init(members: [Agent], name: String? = nil) {
            self.name = name
            self.members = members
        }
    }

    /// The identifier of an agent or a group: exactly one of these.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.2.3 (inverse functional identifiers).
    public enum Identifier: Hashable, Sendable {
        /// A `mailto:` IRI.
        case mailbox(IRI)
        /// The SHA-1 checksum of a `mailto:` IRI in 40 hexadecimal digits.
        case mailboxSHA1(String)
        /// An OpenID.
        case openID(IRI)
        /// An account on the system with that home page. An opaque name keeps the person anonymous.
        case account(homePage: IRI, name: String)
    }

    /// The result of a statement.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.5.
    public struct Result: Hashable, Sendable {
        /// The score.
        public var score: Score?
        /// Whether the attempt was successful.
        public var success: Bool?
        /// Whether the activity was completed.
        public var completion: Bool?
        /// The response.
        public var response: String?
        /// The duration.
        public var duration: ISODuration?
        /// Extensions.
        public var extensions: Extensions

        /// Creates a result.
        public init(
            score: Score? = nil,
            success: Bool? = nil,
            completion: Bool? = nil,
            response: String? = nil,
            duration: ISODuration? = nil,
            extensions: Extensions = [:]
        ) {
            self.score = score
            self.success = success
            self.completion = completion
            self.response = response
            self.duration = duration
            self.extensions = extensions
        }
    }

    /// A score, in finite numbers. Progress and completion are not scores.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.5.1.
    public struct Score: Hashable, Sendable {
        /// The scaled score, from -1 to 1.
        package var scaled: Double?
        /// The raw score, between `min` and `max`.
        package var raw: Double?
        /// The lowest possible score; less than `max`.
        package var min: Double?
        /// The highest possible score.
        package var max: Double?

        /// Creates a score.
        public init(scaled: Double? = nil, raw: Double? = nil, min: Double? = nil, max: Double? = nil) {
            self.scaled = scaled
            self.raw = raw
            self.min = min
            self.max = max
        }
    }
}
