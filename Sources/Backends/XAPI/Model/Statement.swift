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
}
