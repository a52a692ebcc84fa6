extension Statement {
    /// Something that one can do something with: a film, a course, a question.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.4.1.
    public struct Activity: Hashable, Sendable {
        /// Its identifier, never used for another.
        public var id: IRI
        /// What it is.
        public var definition: Definition?

        /// Creates an activity.
        public init(_ id: IRI, definition: Definition? = nil) {
            self.id = id
            self.definition = definition
        }
    }

    /// What an activity is.
    public struct Definition: Hashable, Sendable {
        /// Its name.
        public var name: LanguageMap
        /// Its description.
        public var description: LanguageMap
        /// Its type.
        public var type: IRI?
        /// Where people can read more.
        public var moreInfo: IRI?
        /// How it asks, if it is a question.
        public var interaction: Interaction?
        /// What else there is to say.
        public var extensions: Extensions

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

    /// How a question asks, with what can be chosen and what is right.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.4.1.s6.
    public struct Interaction: Hashable, Sendable {
        /// The kinds of question, each with its lists of components; an empty list is left out.
        public enum Kind: Hashable, Sendable {
            /// True or false.
            case trueFalse
            /// Some of the choices.
            case choice([Component])
            /// A short text.
            case fillIn
            /// A long text.
            case longFillIn
            /// Each of a source with some of a target.
            case matching(source: [Component], target: [Component])
            /// Several steps.
            case performance([Component])
            /// The choices in their order.
            case sequencing([Component])
            /// A place on a scale.
            case likert([Component])
            /// A number.
            case numeric
            /// Anything else.
            case other
        }

        /// Something that can be chosen, ordered or done.
        public struct Component: Hashable, Sendable {
            /// Its identifier, once in a list.
            public var id: String
            /// What it is, for people.
            public var description: LanguageMap

            /// Creates a component.
            public init(_ id: String, description: LanguageMap = [:]) {
                self.id = id
                self.description = description
            }
        }

        /// The kind of question.
        public var kind: Kind
        /// Patterns of what is right. None: nothing is right. Nil: any response is, or nobody says.
        public var correctResponses: [String]?

        /// Creates a question.
        public init(_ kind: Kind, correctResponses: [String]? = nil) {
            self.kind = kind
            self.correctResponses = correctResponses
        }
    }
}
