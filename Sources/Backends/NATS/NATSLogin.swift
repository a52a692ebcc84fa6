internal import Instrument
internal import InstrumentText

/// How a client proves who it is. The description shows no secret.
public struct NATSLogin: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    enum Kind: Hashable, Sendable {
        case token(String)
        case password(user: String, password: String)
        case key(NKey)
        case credentials(jwt: String, NKey)
    }

    let kind: Kind

    /// A token that all clients share.
    public static func token(_ token: String) -> Self { Self(kind: .token(token)) }

    /// A user with a password.
    public static func password(user: String, _ password: String) -> Self {
        Self(kind: .password(user: user, password: password))
    }

    /// The seed of a user's key (`SU…`): the client signs the server's nonce, and the seed stays on this machine.
    ///
    /// - Throws: ``NATSError`` with the code `invalidCredentials` for a text that is no seed of a user.
    public static func nkey(seed: String) throws(NATSError) -> Self { Self(kind: .key(try NKey(seed: seed))) }

    /// The text of a credentials file (`.creds`): a user's JWT and the seed of the user's key.
    ///
    /// - Throws: ``NATSError`` with the code `invalidCredentials` for a text without both.
    public static func credentials(_ text: String) throws(NATSError) -> Self {
        let jwt = section("NATS USER JWT", of: text)
        guard let jwt, let seed = section("USER NKEY SEED", of: text) else {
            throw NATSError(
                .invalidCredentials,
                "a credentials file must have a NATS USER JWT and a USER NKEY SEED between lines of hyphens"
            )
        }
        return Self(kind: .credentials(jwt: jwt, try NKey(seed: seed)))
    }

    /// Reads any of the forms: the text of a credentials file, a seed, `USER:PASSWORD`, or a token.
    ///
    /// - Throws: ``NATSError`` with the code `invalidCredentials` for a text that looks like a file or a seed but is
    ///   invalid, and for an empty text.
    public init(parsing text: String) throws(NATSError) {
        let text = String(text.trimmingWhitespace)
        if text.contains("-----BEGIN NATS") {
            self = try .credentials(text)
        } else if text.hasPrefix("SU"), text.utf8.count == NKey.seedLength {
            self = try .nkey(seed: text)
        } else if text.isEmpty || text.utf8.contains(where: { $0 < 0x20 }) {
            throw NATSError(
                .invalidCredentials,
                "the credentials must be USER:PASSWORD, a token, a seed (SU…) or a credentials file"
            )
        } else if case (let user, let password?) = text.split(at: ":") {
            self = .password(user: String(user), String(password))
        } else {
            self = .token(text)
        }
    }

    private init(kind: Kind) { self.kind = kind }

    private static func section(_ title: String, of text: String) -> String? {
        var lines = text.utf8.split { $0 == 0x0A || $0 == 0x0D }.map { Substring($0) }[...]
        while let line = lines.popFirst() {
            guard line.hasPrefix("---"), line.contains("BEGIN " + title), let content = lines.first else { continue }
            let trimmed = content.trimmingWhitespace
            return trimmed.isEmpty || trimmed.hasPrefix("---") ? nil : String(trimmed)
        }
        return nil
    }

    /// Texts that no message may show.
    var secrets: [String] {
        switch kind {
        case .token(let token): [token]
        case .password(_, let password): [password]
        case .key: []
        case .credentials(let jwt, _): [jwt]
        }
    }

    /// The kind, without secrets.
    public var description: String {
        switch kind {
        case .token: "token"
        case .password: "user and password"
        case .key: "key"
        case .credentials: "credentials file"
        }
    }

    /// The same as the description, so that no dump shows a secret.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}
