internal import InstrumentJSON
internal import InstrumentText

/// What a server says about itself.
struct ServerInfo: Hashable {
    /// The most servers of a cluster that are remembered.
    private static let maxServerCount = 64

    /// The most bytes of a message, headers included.
    var maxPayload = 1 << 20
    /// Whether the server requires TLS, and whether it offers TLS.
    var requiresTLS = false
    var offersTLS = false
    /// Whether messages may have headers.
    var hasHeaders = false
    /// The text that a client signs; nil if the server does not ask for that.
    var nonce: String?
    /// Other servers of the cluster.
    var servers: [HostPort] = []
    /// Whether the server is about to end and asks its clients to leave.
    var isLeaving = false

    /// - Parameter bytes: the JSON of `INFO`; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), case .object = json else { return nil }
        let isTrue = { (name: String) in json[name] == .bool(true) }
        if let limit = json["max_payload"]?.int, limit > 0 { maxPayload = limit }
        requiresTLS = isTrue("tls_required") || isTrue("tls_verify")
        offersTLS = requiresTLS || isTrue("tls_available")
        hasHeaders = isTrue("headers")
        nonce = json["nonce"]?.string
        isLeaving = isTrue("ldm")
        if case .array(let urls)? = json["connect_urls"] {
            servers = urls.prefix(Self.maxServerCount).compactMap { url in
                url.string.flatMap { HostPort($0, defaultPort: NATSEndpoint.defaultPort) }
            }
        }
    }
}
