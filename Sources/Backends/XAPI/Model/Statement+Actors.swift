extension Statement {
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
}
