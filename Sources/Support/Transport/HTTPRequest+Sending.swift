internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

extension HTTPRequest {
    /// The request as a transport sends it: checked, with the transport's `User-Agent` if the request has none, and
    /// with the credentials of its address as a header.
    func prepared(_ configuration: TransportConfiguration) throws(HTTPError) -> HTTPRequest {
        guard body.count <= configuration.maxRequestBytes else {
            let message =
                "the body must have at most \(configuration.maxRequestBytes) bytes (found \(body.count)); send less"
            throw HTTPError(.requestTooLarge, message, url: url)
        }
        guard method != .head || body.isEmpty else {
            throw HTTPError(.invalidHeader, "a HEAD request must not have a body; remove it", url: url)
        }
        if let framing = headers.fields.first(where: { Self.framing.contains($0.name.lowercased()) }) {
            throw HTTPError(.invalidHeader, "the transport sets \(framing.name); remove the header", url: url)
        }
        var request = self
        if headers["User-Agent"] == nil { try request.headers.set("User-Agent", configuration.userAgent) }
        if let codings = acceptedCodings { request.headers.append("Accept-Encoding", codings) }
        guard let userInfo = url.userInfo, headers["Authorization"] == nil else { return request }
        request.headers.append("Authorization", "Basic " + Base64.encode(PercentCoding.decoded(userInfo)))
        return request
    }

    /// The value of `Accept-Encoding` that the request lacks; nil for none. A byte range is always one of the plain
    /// body (Fetch standard, section 4.6).
    private var acceptedCodings: String? {
        guard case .decoded(let asked) = decoding, headers["Accept-Encoding"] == nil else { return nil }
        if headers["Range"] != nil { return "identity" }
        let codings = asked.filter(SystemTransport.supportedCodings.contains)
        return codings.isEmpty ? nil : codings.map(\.rawValue).joined(separator: ", ")
    }

    /// The names, in lower case, of headers that the transport sets. A second `Content-Length` beside the transport's
    /// would let two servers disagree about where a request ends.
    package static let framing: Set = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]
}
