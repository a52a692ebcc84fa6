internal import Instrument
package import InstrumentHTTP
package import InstrumentWatch

/// A client of the server that is known.
package struct ServerClient: Hashable, Sendable {
    /// The name for the audit log; empty for a client of the shared token, and of this machine without a token.
    package var name: String
    package var role: AccessRole

    package init(name: String, role: AccessRole) { (self.name, self.role) = (name, role) }
}

/// Decides who a client is. The rules may be replaced while the server runs.
package final class AccessControl: Sendable {
    /// A token by its digest, so that a comparison takes the same time whatever was sent.
    private struct Token {
        let client: ServerClient
        let digest: [UInt8]
    }

    private struct Rules {
        var tokens: [Token] = []
        var proxy: AccessSettings.Proxy?
        var link: HTTPURL?
    }

    private let rules = Lock(Rules())

    package init() {}

    /// Replaces the rules.
    /// - Parameters:
    ///   - tokens: the tokens with the name and the role of their owners.
    ///   - proxy: the reverse proxy whose header names people.
    ///   - link: the address of the page as people reach it.
    package func replace(
        tokens: [(client: ServerClient, token: [UInt8])],
        proxy: AccessSettings.Proxy? = nil,
        link: HTTPURL? = nil
    ) {
        let tokens = tokens.map { Token(client: $0.client, digest: Array(SHA256.digest(of: $0.token))) }
        rules.withLock { $0 = Rules(tokens: tokens, proxy: proxy, link: link) }
    }

    /// Whether clients must show who they are. Without tokens and a proxy, only this machine is served.
    var isRequired: Bool { rules.withLock { !$0.tokens.isEmpty || $0.proxy != nil } }

    /// Whether a proxy names people. Its header must not be sent by a page in a browser on this machine that reached
    /// the server under the name of another host.
    var hasProxy: Bool { rules.withLock { $0.proxy != nil } }

    /// The host, perhaps with a port, of the page as people reach it.
    var publicAuthority: String? { rules.withLock { $0.link?.origin.split(separator: "//").last.map(String.init) } }

    /// The client of a request; nil for one that is unknown.
    func client(of request: ServerRequest) -> ServerClient? {
        let rules = rules.withLock { $0 }
        if rules.tokens.isEmpty, rules.proxy == nil { return ServerClient(name: "", role: .act) }
        if let client = Self.client(of: request, rules.tokens) { return client }
        guard let proxy = rules.proxy, proxy.addresses.contains(where: { $0.contains(request.peer) }) else {
            return nil
        }
        let names = request.headers.filter { $0.name.lowercased() == proxy.header.lowercased() }.map(\.value)
        // A second header may be that of the client, which the proxy did not replace.
        guard names.count == 1, let name = names.first, ServerRequest.isPersonName(name) else { return nil }
        return ServerClient(name: name, role: proxy.role)
    }

    /// In a time that does not depend on how much of which token is right.
    private static func client(of request: ServerRequest, _ tokens: [Token]) -> ServerClient? {
        guard let value = request.header("Authorization"), value.lowercased().hasPrefix("bearer ") else { return nil }
        let given = Array(SHA256.digest(of: value.dropFirst(7).utf8))
        var found: ServerClient?
        for token in tokens {
            let difference = zip(given, token.digest).reduce(0) { $0 | ($1.0 ^ $1.1) }
            if difference == 0, found == nil { found = token.client }
        }
        return found
    }
}

extension ServerRequest {
    /// Whether a text may be the name of a person: not empty, at most 100 bytes, without control characters.
    package static func isPersonName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 100 && isPlain(text)
    }

    /// Whether a text has no control characters, which a terminal or a log would obey.
    package static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy {
            let category = $0.properties.generalCategory
            return category != .control && category != .format && category != .lineSeparator
                && category != .paragraphSeparator
        }
    }
}
