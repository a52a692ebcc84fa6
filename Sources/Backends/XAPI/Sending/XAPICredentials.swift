internal import InstrumentHTTP

/// What an LRS knows its clients by. Kept in memory alone: no description, log, error or file of ours shows it.
///
/// Source: xAPI 1.0.3, Communication 4.0.
public struct XAPICredentials: Hashable, Sendable {
    /// The value of the `Authorization` header.
    let authorization: String

    /// Key and secret, as most LRSs give them out. HTTP Basic; a user's name has no colon.
    public static func basic(user: String, password: String) -> XAPICredentials {
        XAPICredentials(authorization: "Basic " + Base64.encode(Array("\(user):\(password)".utf8)))
    }

    /// A token of OAuth 2 or of the LRS's own.
    public static func bearer(_ token: String) -> XAPICredentials { XAPICredentials(authorization: "Bearer " + token) }
}

extension XAPICredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// That there are some.
    public var description: String { "credentials" }
    /// That there are some.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
