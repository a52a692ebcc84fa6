extension Statement {
    /// Who did something: one or several.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.2.
    public enum Actor: Hashable, Sendable {
        /// One person or system.
        case agent(Agent)
        /// Several.
        case group(Group)
    }

    /// One person or system.
    public struct Agent: Hashable, Sendable {
        /// What tells it from all others.
        public var identifier: Identifier
        /// Its full name.
        public var name: String?

        /// Creates an agent.
        public init(_ identifier: Identifier, name: String? = nil) {
            self.identifier = identifier
            self.name = name
        }
    }

    /// Several agents: with an identifier of their own, or just those.
    public struct Group: Hashable, Sendable {
        /// What tells the group from all others; nil for one without a name for itself, which then has members.
        public var identifier: Identifier?
        /// The group's name.
        public var name: String?
        /// Some or all of its members.
        public var members: [Agent]

        /// Creates a group that has an identifier.
        public init(_ identifier: Identifier, name: String? = nil, members: [Agent] = []) {
            self.identifier = identifier
            self.name = name
            self.members = members
        }

        /// Creates a group of these members.
        public init(members: [Agent], name: String? = nil) {
            self.name = name
            self.members = members
        }
    }

    /// What tells an agent or a group from all others: exactly one of these.
    ///
    /// Source: xAPI 1.0.3, Data 2.4.2.3 (inverse functional identifiers).
    public enum Identifier: Hashable, Sendable {
        /// A `mailto:` IRI.
        case mailbox(IRI)
        /// The SHA-1 sum of a `mailto:` IRI in 40 hexadecimal digits.
        case mailboxSHA1(String)
        /// An OpenID.
        case openID(IRI)
        /// An account on a system, whose home page is given. An opaque name keeps a person unknown.
        case account(homePage: IRI, name: String)
    }
}
