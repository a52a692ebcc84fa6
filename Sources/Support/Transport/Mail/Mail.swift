package import InstrumentText

/// A message for one recipient, and the server that takes it.
package struct Mail: Sendable {
    /// How the connection to the server is encrypted.
    package enum Encryption: Hashable, Sendable {
        /// From the first byte (`smtps`, RFC 8314).
        case implicit
        /// After `STARTTLS` (RFC 3207). A server that does not offer it gets nothing.
        case startTLS
        /// Not at all.
        case none
    }

    package var server: HostPort
    package var encryption: Encryption
    /// User and password; nil logs in nowhere. Never sent without encryption.
    package var login: (user: String, password: String)?
    /// The address to which the server reports failures.
    package var sender: String
    package var recipient: String
    /// Headers and body, with CRLF at the end of each line.
    package var message: [UInt8]
    /// A file of certificates in PEM that are trusted in addition to the system's.
    package var additionalCAFile: String?
    package var timeout: Duration = .seconds(20)

    package init(
        server: HostPort,
        encryption: Encryption,
        login: (user: String, password: String)? = nil,
        sender: String,
        recipient: String,
        message: [UInt8],
        additionalCAFile: String? = nil
    ) {
        (self.server, self.encryption, self.login) = (server, encryption, login)
        (self.sender, self.recipient, self.message) = (sender, recipient, message)
        self.additionalCAFile = additionalCAFile
    }
}

/// Why a server did not take a mail. The reason contains no secrets.
package enum MailError: Error, Hashable, Sendable {
    /// There was no connection, or the server asks to try again (4yz, RFC 5321 section 4.2.1).
    case temporary(String)
    /// The server refuses this mail permanently (5yz).
    case refused(String)
    /// The server refuses the mail because of its size (552).
    case tooLarge(String)
    /// The server does not accept user and password, or asks for them (530, 534, 535, 538; RFC 4954).
    case unauthorized(String)
}

/// Sends mails.
package protocol MailTransport: Sendable {
    /// Sends a mail; returns the last words of the server.
    func send(_ mail: Mail) async throws(MailError) -> String
}
