public import Instrument

extension Statement {
    /// The context of a statement.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.6; IEEE 9274.1.1-2023, 4.2.2.5.
    public struct Context: Hashable, Sendable {
        /// The UUID of the attempt, session or course.
        public var registration: SampleID?
        /// The instructor.
        package var instructor: Actor?
        /// The team.
        package var team: Group?
        /// Related activities.
        public var activities: ContextActivities
        /// The activity's revision; only if the object is an activity.
        package var revision: String?
        /// The platform used; only if the object is an activity.
        public var platform: String?
        /// The language, as an RFC 5646 tag.
        public var language: String?
        /// A related statement.
        package var statement: SampleID?
        /// Extensions.
        public var extensions: Extensions
        /// Related agents and their relation. Only in 2.0.
        package var agents: [Companion<Agent>]
        /// Related groups and their relation. Only in 2.0.
        package var groups: [Companion<Group>]

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

    /// The related activities of a statement, by their relation.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.6.2.
    public struct ContextActivities: Hashable, Sendable {
        /// Activities that the object is directly part of.
        public var parent: [Activity]
        /// Activities that the object is indirectly part of.
        public var grouping: [Activity]
        /// Profiles and other categories of the statement.
        public var category: [Activity]
        /// Other activities.
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

    /// An agent or group in the context of a statement of 2.0, and its relation.
    public struct Companion<Someone: Hashable & Sendable>: Hashable, Sendable {
        /// The agent or group.
        package var actor: Someone
        /// The types of the relation, as IRIs of activity types; left out if empty.
        package var relevantTypes: [IRI]

        /// Creates a companion.
        public init(_ actor: Someone, relevantTypes: [IRI] = []) {
            self.actor = actor
            self.relevantTypes = relevantTypes
        }
    }

    /// An attachment of a statement: a certificate, a signature, a picture.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.11.
    public struct Attachment: Hashable, Sendable {
        /// The purpose.
        package var usageType: IRI
        /// The title, in at least one language.
        package var display: LanguageMap
        /// The description.
        package var description: LanguageMap
        /// The media type.
        package var contentType: String
        /// The length in bytes.
        package var length: Int
        /// The SHA-2 checksum in hexadecimal digits.
        package var sha2: String
        /// The address of the content.
        package var fileURL: IRI?

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
