package import InstrumentHTTP

/// An address in an ad response, with macros such as `[CACHEBUSTING]` in it.
///
/// Its query may carry identifiers of a person and secrets, so that the description ends before the query.
public struct AdURL: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The address with its macros, query included.
    public var secretText: String

    /// Creates an address from the text of an ad response.
    public init(_ text: String) { secretText = text }

    /// Whether the address can be that of a server: `http` or `https`, without a scheme (`//host/…`), or with a macro
    /// in the place of the scheme. Any other is never opened.
    package var isOfServer: Bool {
        let scheme = secretText.prefix { $0 != ":" }.lowercased()
        return ["http", "https"].contains(scheme) || ["[", "%%", "//"].contains { secretText.hasPrefix($0) }
    }

    /// The address with `https` in the place of a missing scheme, for addresses of the form `//host/…`.
    /// - Throws: ``HTTPError`` for anything but an `http` or `https` address.
    package func resolved() throws(HTTPError) -> HTTPURL {
        try HTTPURL(secretText.hasPrefix("//") ? "https:" + secretText : secretText)
    }

    /// The address up to the query.
    public var description: String {
        let plain = secretText.prefix { $0 != "?" && $0 != "#" && $0 != ";" }
        guard let at = plain.lastIndex(of: "@"), let scheme = plain.end(of: "://", before: at) else {
            return String(plain)
        }
        return String(plain[..<scheme] + plain[plain.index(after: at)...])
    }
    /// Shows nothing more than the description, so that `dump` reveals no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Substring {
    /// The end of the first `mark` before a place.
    fileprivate func end(of mark: String, before place: Index) -> Index? {
        guard let colon = firstIndex(of: ":"), colon < place, self[colon...].hasPrefix(mark) else { return nil }
        return index(colon, offsetBy: mark.count)
    }
}
