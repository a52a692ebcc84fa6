public import Instrument

extension Statement {
    /// What a statement was part of.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.6; IEEE 9274.1.1-2023, 4.2.2.5.
    public struct Context: Hashable, Sendable {
        /// The UUID of the attempt, session or course that it belongs to.
        public var registration: SampleID?
        /// Who taught.
        public var instructor: Actor?
        /// Who was in it together.
        public var team: Group?
        /// Activities around it.
        public var activities: ContextActivities
        /// The activity's revision; only if the object is an activity.
        public var revision: String?
        /// The platform used; only if the object is an activity.
        public var platform: String?
        /// The language, as an RFC 5646 tag.
        public var language: String?
        /// Another statement that belongs to it.
        public var statement: SampleID?
        /// What else there is to say.
        public var extensions: Extensions
        /// Agents around it and what they were to it. Only in 2.0.
        public var agents: [Companion<Agent>]
        /// Groups around it and what they were to it. Only in 2.0.
        public var groups: [Companion<Group>]

        /// Creates a context.
        public init(
            registration: SampleID? = nil,
            instructor: Actor? = nil,
            team: Group? = nil,
            activities: ContextActivities = ContextActivities(),
            revision: String? = nil,
            platform: String? = nil,
            language: String? = nil,
            statement: SampleID? = nil,
            extensions: Extensions = [:],
            agents: [Companion<Agent>] = [],
            groups: [Companion<Group>] = []
        ) {
            self.registration = registration
            self.instructor = instructor
            self.team = team
            self.activities = activities
            self.revision = revision
            self.platform = platform
            self.language = language
            self.statement = statement
            self.extensions = extensions
            self.agents = agents
            self.groups = groups
        }
    }

    /// Activities around a statement, by what they are to it.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.6.2.
    public struct ContextActivities: Hashable, Sendable {
        /// What the object is directly part of.
        public var parent: [Activity]
        /// What the object is indirectly part of.
        public var grouping: [Activity]
        /// Profiles and other categories of the statement.
        public var category: [Activity]
        /// All others.
        public var other: [Activity]

        /// Creates a set of activities.
        public init(
            parent: [Activity] = [],
            grouping: [Activity] = [],
            category: [Activity] = [],
            other: [Activity] = []
        ) {
            self.parent = parent
            self.grouping = grouping
            self.category = category
            self.other = other
        }
    }

    /// An agent or group around a statement of 2.0, and what it was to it.
    public struct Companion<Someone: Hashable & Sendable>: Hashable, Sendable {
        /// Who.
        public var actor: Someone
        /// Types of activities that say what they were to the statement; nothing if there are none.
        public var relevantTypes: [IRI]

        /// Creates a companion.
        public init(_ actor: Someone, relevantTypes: [IRI] = []) {
            self.actor = actor
            self.relevantTypes = relevantTypes
        }
    }

    /// Data that belong to a statement: a certificate, a signature, a picture.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.11.
    public struct Attachment: Hashable, Sendable {
        /// What it is for.
        public var usageType: IRI
        /// Its title, in one language at least.
        public var display: LanguageMap
        /// What it is.
        public var description: LanguageMap
        /// Its media type.
        public var contentType: String
        /// Its length in bytes.
        public var length: Int
        /// Its SHA-2 sum in hexadecimal digits.
        public var sha2: String
        /// Where it can be fetched.
        public var fileURL: IRI?

        /// Creates an attachment.
        public init(
            usageType: IRI,
            display: LanguageMap,
            description: LanguageMap = [:],
            contentType: String,
            length: Int,
            sha2: String,
            fileURL: IRI? = nil
        ) {
            self.usageType = usageType
            self.display = display
            self.description = description
            self.contentType = contentType
            self.length = length
            self.sha2 = sha2
            self.fileURL = fileURL
        }
    }
}
