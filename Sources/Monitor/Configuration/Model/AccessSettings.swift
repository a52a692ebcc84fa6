package import InstrumentBackendKinds

/// What a client of the monitor's server may do.
package enum AccessRole: String, Hashable, Sendable, CaseIterable {
    /// See everything.
    case read
    /// Acknowledge, silence and close incidents, too.
    case act
}

/// The certificate of the monitor's server and its key, as PEM files.
package struct ServerCertificate: Hashable, Sendable {
    /// The path of the certificate, which those between it and its authority follow.
    package var certificate: String
    /// The path of the key.
    package var key: String

    /// Creates a pair of paths.
    package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

/// Who may use the monitor's server, beside the clients with the token of the command line.
package struct AccessSettings: Hashable, Sendable {
    /// A token with the name of its owner.
    package struct Token: Hashable, Sendable {
        /// The name, which the audit log shows.
        package var name: String
        /// What its owner may do.
        package var role: AccessRole
        /// The secret.
        package var secret: SecretReference
    }

    /// A reverse proxy that authenticates people, and names them in a header.
    package struct Proxy: Hashable, Sendable {
        /// The name of the header.
        package var header: String
        /// The addresses of the proxy.
        package var addresses: [AddressRange]
        /// What the people may do.
        package var role: AccessRole

        /// Creates a proxy.
        package init(header: String, addresses: [AddressRange], role: AccessRole) {
            (self.header, self.addresses, self.role) = (header, addresses, role)
        }
    }

    /// The tokens in their order.
    package var tokens: [Token] = []
    /// The proxy; nil without one.
    package var proxy: Proxy?
    /// The files of TLS; nil without TLS.
    package var tls: ServerCertificate?

    /// Creates settings without tokens.
    package init() {}
}
