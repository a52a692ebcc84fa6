internal import Instrument
internal import InstrumentText

/// An absolute `http` or `https` address that has been checked.
///
/// Its description, which goes into logs and errors, carries no secrets: user, password, query and fragment are left
/// out. ``secretText`` is the whole of it.
public struct HTTPURL: Hashable, Sendable {
    /// Whether it is `https`.
    public let isSecure: Bool
    /// The host in lower case: a name, an IPv4 address, or an IPv6 address in brackets.
    public let host: String
    /// The port; 80 or 443 where none is written.
    public let port: Int
    /// The path with its first slash, percent-encoded.
    public internal(set) var path: String
    /// User and password as written.
    package internal(set) var userInfo: String?
    /// The query, without the question mark.
    var query: String?
    /// The fragment, without the number sign; never sent.
    var fragment: String?

    /// Scheme, host and port: what credentials are good for.
    public var origin: String {
        let isUsual = port == (isSecure ? 443 : 80)
        return (isSecure ? "https://" : "http://") + host + (isUsual ? "" : ":\(port)")
    }

    /// All of the address, with what it may hold of secrets.
    public var secretText: String {
        let (scheme, rest) = (isSecure ? "https://" : "http://", origin.drop { $0 != "/" }.dropFirst(2))
        return scheme + (userInfo.map { $0 + "@" } ?? "") + rest + path
            + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
    }

    /// The form on the wire: without user information and fragment.
    package var requestText: String { origin + path + (query.map { "?" + $0 } ?? "") }

    init(
        isSecure: Bool,
        userInfo: String?,
        host: String,
        port: Int,
        path: String,
        query: String?,
        fragment: String?
    ) {
        self.isSecure = isSecure
        self.userInfo = userInfo
        self.host = host
        self.port = port
        self.path = path
        self.query = query
        self.fragment = fragment
    }
}

extension HTTPURL: CustomStringConvertible, CustomReflectable {
    /// The address without user, password, query and fragment.
    public var description: String { origin + path }
    /// Shows nothing more than the description, so that `dump` gives no secret away.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPURL {
    /// Whether the host is an address, so that no name is looked up.
    package var isAddress: Bool {
        host.hasPrefix("[") || host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}

extension HTTPURL {
    /// Returns the address with further query parameters, which must be encoded; nil if the result is no valid address.
    package func addingQuery(_ parameters: [String]) -> HTTPURL? {
        if parameters.isEmpty { return self }
        var url = self
        url.query = ((query.map { $0.isEmpty ? [] : [$0] } ?? []) + parameters).joined(separator: "&")
        return try? HTTPURL(url.secretText)
    }

    /// The value of a query parameter as it is written, not decoded; nil if the query has no such parameter. May be a
    /// secret.
    public func queryValue(named name: String) -> String? {
        for pair in (query ?? "").split(separator: "&") {
            let (key, value) = pair.split(at: "=")
            if key == name { return value.map(String.init) ?? "" }
        }
        return nil
    }
}
