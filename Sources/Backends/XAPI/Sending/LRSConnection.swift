internal import Instrument
internal import InstrumentCompression
package import InstrumentHTTP

/// Creates requests to an LRS and sends them.
struct LRSConnection: Sendable {
    let configuration: XAPIConfiguration
    let transport: any HTTPTransport

    /// A request to a resource (`statements`, `activities/state`, `about`), with the common headers.
    func request(
        _ method: HTTPMethod,
        _ resource: String,
        query: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        type: String? = nil
    ) throws(HTTPError) -> HTTPRequest {
        let query = query.map { $0.name + "=" + PercentCoding.encoded($0.value) }.joined(separator: "&")
        let url = try configuration.endpoint.appending(path: resource + (query.isEmpty ? "" : "?" + query))
        return try request(method, url, body: body, type: type)
    }

    /// A request to an address that the LRS gave, as in `more`.
    func request(
        _ method: HTTPMethod,
        _ url: HTTPURL,
        body: [UInt8] = [],
        type: String? = nil
    ) throws(HTTPError) -> HTTPRequest {
        var headers = HTTPHeaders()
        try headers.add("X-Experience-API-Version", configuration.version.rawValue)
        try headers.add("Accept", "application/json")
        if let type { try headers.add("Content-Type", type) }
        if let credentials = configuration.credentials { try headers.add("Authorization", credentials.authorization) }
        return HTTPRequest(
            method,
            url,
            headers: headers,
            body: body,
            timeout: configuration.requestTimeout,
            maxResponseBytes: 32 << 20
        )
    }

    /// A request that sends statements, compressed only if the configuration says so.
    func request(posting statements: [UInt8]) throws(HTTPError) -> HTTPRequest {
        let request = try request(.post, "statements", body: statements, type: "application/json")
        return configuration.packsBodies ? request.gzipped() : request
    }

    /// Requests one statement; `kind` is `statementId` or `voidedStatementId`.
    func statement(_ id: String, as kind: String = "statementId") async throws(HTTPError) -> HTTPResponse {
        try await transport.send(try request(.get, "statements", query: [(kind, id)]))
    }
}

extension HTTPURL {
    /// The address of a resource below this one, joined by one slash.
    package func appending(path: String) throws(HTTPError) -> HTTPURL {
        let base = "/" + self.path.drop { $0 == "/" }
        let resource = path.drop { $0 == "/" }
        return try resolving(base.hasSuffix("/") ? base + resource : base + "/" + resource)
    }
}
