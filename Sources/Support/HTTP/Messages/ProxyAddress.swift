/// Addresses of proxies, which may contain a password.
package enum ProxyAddress {
    /// Returns host and port, for messages: without scheme, user, password and path.
    package static func place(of address: String) -> String {
        let location = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        // A password may contain a slash or an at sign.
        let place = location.lastIndex(of: "@").map { location[location.index(after: $0)...] } ?? location
        return String(place.prefix { $0 != "/" })
    }
}
