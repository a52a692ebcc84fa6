public import Instrument

/// Somebody did something: an xAPI statement.
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
/// A value that says what it holds; whether it keeps all rules says ``failures(version:)``. Parts that are empty are
/// left out of the JSON, because the rules refuse empty objects.
///
/// Source: xAPI 1.0.3, Data 2.4; IEEE 9274.1.1-2023, 4.2.2.
public struct Statement: Hashable, Sendable {
    /// Its UUID. To be set where the statement is made, and the same at every attempt to send it.
    public var id: SampleID?
    /// Who did it.
    public var actor: Actor
    /// What was done.
    public var verb: Verb
    /// To what it was done.
    public var object: Object
    /// What came of it.
    public var result: Result?
    /// What it was part of.
    public var context: Context?
    /// When it happened; never in the future. Milliseconds.
    public var timestamp: WallTime?
    /// When a server stored it; only servers set it.
    public var stored: WallTime?
    /// Who vouches for it; only servers set it, but for trusted ones.
    public var authority: Actor?
    /// The version that it follows. A provider leaves it out, or sets `1.0.0`, for 2.0 `2.0.0`.
    public var version: String?
    /// Data that belong to it.
    public var attachments: [Attachment]

    /// Creates a statement of what has to be there.
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

    /// What is wrong with it, by that version's rules.
    public func failures(version: XAPIVersion = .v1) -> [ValidationFailure] {
        StatementValidator(version: version).failures(in: json)
    }
}

extension Statement {
    /// The statement that makes another one void. One that voids cannot be voided itself.
    ///
    /// Source: xAPI 1.0.3, Data 2.3.2.
    public static func voiding(_ id: SampleID, by actor: Actor) -> Statement {
        Statement(actor: actor, verb: .voided, object: .statementRef(id))
    }

    /// What a statement is about.
    public enum Object: Hashable, Sendable {
        /// An activity: a film, a course, a question.
        case activity(Activity)
        /// A person or a group.
        case actor(Actor)
        /// Another statement, by its identifier.
        case statementRef(SampleID)
        /// A statement that nobody made, but that this one speaks of.
        case subStatement(SubStatement)
    }

    /// A statement inside a statement: without identity, and without another one inside.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.4.3.
    public struct SubStatement: Hashable, Sendable {
        /// Who would do it.
        public var actor: Actor
        /// What would be done.
        public var verb: Verb
        /// To what it would be done.
        public var object: Object
        /// What would come of it.
        public var result: Result?
        /// What it would be part of.
        public var context: Context?
        /// When; may lie in the future.
        public var timestamp: WallTime?
        /// Data that belong to it.
        public var attachments: [Attachment]

        /// What a sub-statement may be about.
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

    /// What was done.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.3.
    public struct Verb: Hashable, Sendable {
        /// What it means, for machines.
        public var id: IRI
        /// What it means, for people.
        public var display: LanguageMap

        /// Creates a verb.
        public init(_ id: IRI, display: LanguageMap = [:]) {
            self.id = id
            self.display = display
        }

        /// The verb that makes a statement void.
        public static let voided = Verb("http://adlnet.gov/expapi/verbs/voided", display: ["en": "voided"])
    }
}
