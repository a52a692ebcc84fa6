public import InstrumentBackends

/// TLS and the login of a Kafka cluster. The description shows no secret.
public struct KafkaSecurity: Hashable, Sendable {
    /// A mechanism of SASL, by which a client proves who it is.
    public enum Mechanism: String, Hashable, Sendable, CaseIterable {
        /// The password itself, which requires TLS.
        case plain = "PLAIN"
        /// SCRAM with SHA-256 (RFC 7677): the password stays on this machine.
        case scramSHA256 = "SCRAM-SHA-256"
        /// SCRAM with SHA-512: the password stays on this machine.
        case scramSHA512 = "SCRAM-SHA-512"

        /// Reads the spelling in an endpoint's parameters: that of Kafka, in lower case.
        init?(parameter: String) {
            guard let mechanism = Self.allCases.first(where: { $0.rawValue.lowercased() == parameter }) else {
                return nil
            }
            self = mechanism
        }
    }

    /// A user with a password.
    public struct Login: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// How the user proves the password.
        package let mechanism: Mechanism
        /// The user.
        package let user: String
        let password: String

        /// Creates a login.
        public init(_ mechanism: Mechanism, user: String, password: String) {
            self.mechanism = mechanism
            self.user = user
            self.password = password
        }

        /// The mechanism, without the user and the password.
        public var description: String { mechanism.rawValue }
        /// The same as the description, so that no dump shows the password.
        public var customMirror: Mirror { Mirror(self, children: ["mechanism": mechanism]) }
    }

    /// TLS; nil connects without encryption.
    public var tls: TLSFiles?
    /// The login; nil for a cluster that asks for none.
    public var login: Login?

    /// Creates the settings; by default without TLS and without a login.
    public init(tls: TLSFiles? = nil, login: Login? = nil) {
        self.tls = tls
        self.login = login
    }
}
