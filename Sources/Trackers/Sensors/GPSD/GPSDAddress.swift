/// The address of a gpsd.
public struct GPSDAddress: Hashable, Sendable, CustomStringConvertible {
    /// The host's name or address.
    package var host: String
    /// The port; gpsd's own is 2947 (IANA, `gpsd`).
    package var port: Int

    /// Creates an address.
    public init(host: String, port: Int = 2947) { (self.host, self.port) = (host, port) }

    /// Reads `HOST`, `HOST:PORT` or `[IPv6]:PORT`; nil for anything else.
    public init?(_ text: String) {
        var (host, port) = (text[...], Substring("2947"))
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.hasPrefix(":") else { return nil }
                port = rest.dropFirst()
            }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        }
        guard !host.isEmpty, text.hasPrefix("[") || !host.contains(":"), let number = Int(port),
            (1...65_535).contains(number)
        else { return nil }
        self.init(host: String(host), port: number)
    }

    /// `HOST:PORT`.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
