internal import InstrumentCompression
internal import InstrumentHTTP
internal import InstrumentJSON

/// The request that carries events.
enum SiftRequest {
    /// `{"data": [event, …]}`; the same events are the same bytes.
    static func body(of events: [JSONValue]) -> [UInt8] {
        var writer = JSONWriter(capacity: events.count * 1024)
        writer.object { writer in
            writer.key("data")
            writer.array { writer in for event in events { writer.json(event) } }
        }
        return writer.bytes
    }

    /// A `PUT` with a body that is always gzip, small or not; nil if there is no memory for it.
    static func make(
        _ events: [JSONValue],
        _ credentials: SiftCredentials,
        _ configuration: SiftConfiguration
    ) throws(HTTPError) -> HTTPRequest? {
        guard let packed = Gzip.compress(body(of: events)) else { return nil }
        var headers = HTTPHeaders()
        try headers.add("Authorization", credentials.authorization, isSecret: true)
        try headers.add("Content-Type", "application/json")
        try headers.add("Content-Encoding", "gzip")
        try headers.add("Accept", "application/json")
        let url = try configuration.endpoint.url(encodedAccount: credentials.encodedAccount)
        return HTTPRequest(.put, url, headers: headers, body: packed, timeout: configuration.timeout)
    }
}
