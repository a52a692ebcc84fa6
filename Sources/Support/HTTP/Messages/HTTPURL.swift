internal import Instrument
internal import InstrumentText

/// An absolute `http` or `https` address that has been checked.
///
/// Its description, which goes into logs and errors, carries no secrets: user, password, query and fragment are left
/// out. ``secretText`` is the whole of it.
public struct HTTPURL: Hashable, Sendable {
    /// What the addresses of one server have in common. A presentation has thousands of them.
    private struct Site: Hashable {
        var isSecure: Bool
        var host: String
        var port: Int
        var userInfo: String?
    }

    /// What most addresses of media do not have.
    private struct Ending: Hashable {
        var query: String?
        var fragment: String?
    }

    private var site: Shared<Site>
    /// The path with its first slash, percent-encoded.
    public internal(set) var path: String
    /// Nil without a query and a fragment.
    private var ending: Shared<Ending>?

    /// Whether it is `https`.
    public var isSecure: Bool { site.value.isSecure }
    /// The host in lower case: a name, an IPv4 address, or an IPv6 address in brackets.
    public var host: String { site.value.host }
    /// The port; 80 or 443 where none is written.
    public var port: Int { site.value.port }

    /// User and password as written.
    package internal(set) var userInfo: String? {
        get { site.value.userInfo }
        set {
            guard newValue != userInfo else { return }
            var changed = site.value
            changed.userInfo = newValue
            site = Shared(changed)
        }
    }
    /// The query, without the question mark.
    var query: String? {
        get { ending?.value.query }
        set { end(query: newValue, fragment: fragment) }
    }
    /// The fragment, without the number sign; never sent.
    var fragment: String? { ending?.value.fragment }

    mutating func end(query: String?, fragment: String?) {
        ending = query == nil && fragment == nil ? nil : Shared(Ending(query: query, fragment: fragment))
    }

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
        site = Shared(Site(isSecure: isSecure, host: host, port: port, userInfo: userInfo))
        self.path = path
        end(query: query, fragment: fragment)
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
    package func queryValue(named name: String) -> String? {
        for pair in (query ?? "").split(separator: "&") {
            let (key, value) = pair.split(at: "=")
            if key == name { return value.map(String.init) ?? "" }
        }
        return nil
    }
}
