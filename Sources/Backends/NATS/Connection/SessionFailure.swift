internal import Instrument
internal import InstrumentHTTP
internal import InstrumentSockets
internal import InstrumentText

/// Why a connection cannot be used.
struct SessionFailure: Error, Hashable {
    enum Kind: Hashable {
        /// Another attempt, or another server, may succeed.
        case temporary
        /// The server does not accept the login, the certificate or the subject, which an operator has to change.
        case unauthorized
    }

    let kind: Kind
    let reason: String

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    init(_ error: SocketError) { self.init(.temporary, error.description) }

    init(_ error: ProtocolError, of server: HostPort) { self.init(.temporary, "\(server): \(error.description)") }

    /// The failure that `-ERR` stands for.
    init(serverError words: String, of server: HostPort, hiding secrets: [String]) {
        let lower = words.lowercased()
        let isUnauthorized = ["authorization", "authentication", "permissions violation", "account"].contains {
            lower.contains($0)
        }
        let text = ServerWords.words(words, hiding: secrets) ?? "an error without words"
        self.init(isUnauthorized ? .unauthorized : .temporary, "\(server): \(text)")
    }

    var outcome: DeliveryOutcome {
        switch kind {
        case .temporary: .retry(after: nil, reason: reason)
        case .unauthorized: .unauthorized(reason: reason)
        }
    }
}
