internal import Instrument
internal import InstrumentText

extension HTTPURL {
    /// Creates an address from its text.
    ///
    /// Characters that an address must not have in path, query and fragment are percent-encoded, as browsers do;
    /// control characters are refused. A host with letters outside ASCII has to be given in its `xn--` form.
    /// - Throws: ``HTTPError`` with the code `invalidURL`; its message does not repeat the text.
    public init(_ text: String) throws(HTTPError) {
        let (scheme, rest) = try Self.scheme(of: Self.encoded(text))
        let (address, fragment) = rest.split(at: "#")
        let (location, query) = address.split(at: "?")
        let authority = location.prefix { $0 != "/" }
        let path = location[authority.endIndex...]
        // Browsers take a backslash for a slash: to them the host would be another one.
        guard !authority.contains("%5C") else { throw Self.invalid("has a backslash before its path") }
        let (userInfo, place) = Self.userInfo(of: authority)
        let (host, port) = try Self.hostAndPort(of: place)
        self.init(
            isSecure: scheme == "https",
            userInfo: userInfo,
            host: host,
            port: port ?? (scheme == "https" ? 443 : 80),
            path: path.isEmpty ? "/" : String(path),
            query: query.map(String.init),
            fragment: fragment.map(String.init)
        )
    }

    static func invalid(_ what: String) -> HTTPError {
        HTTPError(.invalidURL, "the address \(what); write it as http://host/path or https://host/path")
    }

    private static func scheme(of text: String) throws(HTTPError) -> (scheme: String, rest: Substring) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        guard scheme == "http" || scheme == "https" else { throw invalid("is neither http nor https") }
        guard rest.hasPrefix("://") else { throw invalid("has no host") }
        return (scheme, rest.dropFirst(3))
    }

    private static func userInfo(of authority: Substring) -> (userInfo: String?, place: Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, authority) }
        return (String(authority[..<at]), authority[authority.index(after: at)...])
    }

    private static func hostAndPort(of place: Substring) throws(HTTPError) -> (host: String, port: Int?) {
        let end = place.hasPrefix("[") ? place.firstIndex(of: "]").map(place.index(after:)) : place.firstIndex(of: ":")
        let host = place[..<(end ?? place.endIndex)]
        guard isHost(host) else { throw invalid("has no valid host") }
        let rest = place.dropFirst(host.count)
        if rest.isEmpty || rest == ":" { return (host.lowercased(), nil) }
        let digits = rest.dropFirst()
        guard rest.hasPrefix(":"), digits.utf8.allSatisfy(\.isDigit), let port = Int(digits), 1...65535 ~= port
        else { throw invalid("has no valid port") }
        return (host.lowercased(), port)
    }

    private static func isHost(_ host: some StringProtocol) -> Bool {
        let isLiteral = host.hasPrefix("[")
        let inner = isLiteral ? host.utf8.dropFirst().dropLast() : host.utf8[...]
        let extra = Array((isLiteral ? ":." : "-._~").utf8)
        return (!isLiteral || host.hasSuffix("]")) && !inner.isEmpty && inner.count <= 255
            && inner.allSatisfy { (isLiteral ? $0.isHexDigit : $0.isLetter || $0.isDigit) || extra.contains($0) }
    }

    /// Percent-encodes what an address must not have; what is encoded already stays. What comes out is ASCII, so that
    /// its characters are its bytes and no mark that combines with a `?` can hide it.
    static func encoded(_ text: String) throws(HTTPError) -> String {
        // Most addresses of the hundred thousands that a playlist may have.
        if text.utf8.withContiguousStorageIfAvailable({ $0.allSatisfy(isPlain) }) == true { return text }
        guard text.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else { throw invalid("has control characters") }
        return PercentCoding.encoded(text, keeping: ":/?#[]@!$&'()*+,;=%")
    }

    /// Whether a byte stays as it is in every part of an address.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: 0x21...0x7E ~= byte
        }
    }
}
