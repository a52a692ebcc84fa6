internal import InstrumentHTTP
internal import InstrumentText

/// The credentials for an LRS. They are kept in memory only: no description, log, error or file shows them.
///
/// Source: xAPI 1.0.3, Communication 4.0.
public struct XAPICredentials: Hashable, Sendable {
    /// The value of the `Authorization` header.
    let authorization: String

    /// Creates credentials from a key and a secret (HTTP Basic), as most LRSs issue them. A user name has no colon.
    public static func basic(user: String, password: String) -> XAPICredentials {
        XAPICredentials(authorization: "Basic " + Base64.encode(Array("\(user):\(password)".utf8)))
    }

    /// Creates credentials from a token of OAuth 2 or of the LRS.
    public static func bearer(_ token: String) -> XAPICredentials { XAPICredentials(authorization: "Bearer " + token) }
}

extension XAPICredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder without the secret.
    public var description: String { "credentials" }
    /// A placeholder without the secret.
    public var debugDescription: String { description }
    /// An empty mirror, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
