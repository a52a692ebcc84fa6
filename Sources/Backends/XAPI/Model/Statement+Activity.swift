extension Statement {
    /// An activity: a film, a course, a question.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.4.1.
    public struct Activity: Hashable, Sendable {
        /// The identifier, which no other activity has.
        public var id: IRI
        /// The definition.
        public var definition: Definition?

        /// Creates an activity.
        public init(_ id: IRI, definition: Definition? = nil) {
            self.id = id
            self.definition = definition
        }
    }

    /// The definition of an activity.
    public struct Definition: Hashable, Sendable {
        /// The name.
        package var name: LanguageMap
        /// The description.
        package var description: LanguageMap
        /// The type.
        package var type: IRI?
        /// The address of further information for people.
        package var moreInfo: IRI?
        /// The interaction, for a question.
        package var interaction: Interaction?
        /// Extensions.
        package var extensions: Extensions

        /// Creates a definition.
        public init(
            name: LanguageMap = [:],
            description: LanguageMap = [:],
            type: IRI? = nil,
            moreInfo: IRI? = nil,
            interaction: Interaction? = nil,
            extensions: Extensions = [:]
        ) {
            self.name = name
            self.description = description
            self.type = type
            self.moreInfo = moreInfo
            self.interaction = interaction
            self.extensions = extensions
        }
    }

    /// The kind of a question, its components and its correct responses.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.4.1.s6.
    public struct Interaction: Hashable, Sendable {
        /// The kinds of question, each with its lists of components; an empty list is left out.
        public enum Kind: Hashable, Sendable {
            /// True or false.
            case trueFalse
            /// A selection of choices.
            case choice([Component])
            /// A short text.
            case fillIn
            /// A long text.
            case longFillIn
            /// Pairs of sources and targets.
            case matching(source: [Component], target: [Component])
            /// Several steps.
            case performance([Component])
            /// The choices in an order.
            case sequencing([Component])
            /// A point on a scale.
            case likert([Component])
            /// A number.
            case numeric
            /// Anything else.
            case other
        }

        /// A component of a question: a choice, a step or a point on a scale.
        public struct Component: Hashable, Sendable {
            /// The identifier, unique in its list.
            package var id: String
            /// The description, for people.
            package var description: LanguageMap

            /// Creates a component.
            public init(_ id: String, description: LanguageMap = [:]) {
                self.id = id
                self.description = description
            }
        }

        /// The kind of question.
        package var kind: Kind
        /// Patterns of correct responses. An empty array means that no response is correct, nil that every
        /// response is or that the answer is unknown.
        package var correctResponses: [String]?

        /// Creates an interaction.
        public init(_ kind: Kind, correctResponses: [String]? = nil) {
            self.kind = kind
            self.correctResponses = correctResponses
        }
    }
}
