package import InstrumentBackendKinds

/// What a client of the monitor's server may do.
public enum AccessRole: String, Hashable, Sendable, CaseIterable {
    /// See everything.
    case read
    /// Acknowledge, silence and close incidents, too.
    case act
}

/// The certificate of the monitor's server and its key, as PEM files.
public struct ServerCertificate: Hashable, Sendable {
    /// The path of the certificate, which those between it and its authority follow.
    public var certificate: String
    /// The path of the key.
    public var key: String

    /// Creates a pair of paths.
    public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

/// Who may use the monitor's server, beside the clients with the token of the command line.
public struct AccessSettings: Hashable, Sendable {
    /// A token with the name of its owner.
    public struct Token: Hashable, Sendable {
        /// The name, which the audit log shows.
        public var name: String
        /// What its owner may do.
        public var role: AccessRole
        /// The secret.
        package var secret: SecretReference
    }

    /// A reverse proxy that authenticates people, and names them in a header.
    public struct Proxy: Hashable, Sendable {
        /// The name of the header.
        public var header: String
        /// The addresses of the proxy.
        public var addresses: [AddressRange]
        /// What the people may do.
        public var role: AccessRole

        /// Creates a proxy.
        public init(header: String, addresses: [AddressRange], role: AccessRole) {
            (self.header, self.addresses, self.role) = (header, addresses, role)
        }
    }

    /// The tokens in their order.
    public var tokens: [Token] = []
    /// The proxy; nil without one.
    public var proxy: Proxy?
    /// The files of TLS; nil without TLS.
    public var tls: ServerCertificate?

    /// Creates settings without tokens.
    public init() {}
}
