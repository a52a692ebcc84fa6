package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor

/// The format of a service that takes messages by HTTP.
package protocol MessageFormat: Sendable {
    /// Whether the service keeps incidents, which a message about their end closes.
    var keepsIncidents: Bool { get }
    /// Texts that no log and no error may show.
    var secrets: [String] { get }
    /// What this service means by some statuses.
    var rules: DeliveryRules { get }
    /// The request that passes a queued message on as it is; nil for a service with a format.
    func request(body: [UInt8], id: String) throws(HTTPError) -> HTTPRequest?
    /// The request for a message.
    func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest
    /// The outcome that an answer means, for a service that says more than the status does.
    func outcome(of response: HTTPResponse, _ outcome: DeliveryOutcome) -> DeliveryOutcome
}

extension MessageFormat {
    package var keepsIncidents: Bool { false }
    package var rules: DeliveryRules { DeliveryRules() }
    package func request(body: [UInt8], id: String) throws(HTTPError) -> HTTPRequest? { nil }
    package func outcome(of response: HTTPResponse, _ outcome: DeliveryOutcome) -> DeliveryOutcome { outcome }
}

extension HTTPRequest {
    /// A message as JSON. Redirects are not followed, so that no answer leads a message, or its secrets, elsewhere.
    static func message(
        _ json: JSONValue,
        to url: HTTPURL,
        authorization: String? = nil
    ) throws(HTTPError) -> HTTPRequest {
        try message(json.bytes, to: url, authorization: authorization)
    }

    static func message(
        _ body: [UInt8],
        to url: HTTPURL,
        authorization: String? = nil
    ) throws(HTTPError) -> HTTPRequest {
        var headers = try HTTPHeaders(["Content-Type": "application/json"])
        if let authorization { try headers.set("Authorization", authorization, isSecret: true) }
        return HTTPRequest(
            .post,
            url,
            headers: headers,
            body: body,
            timeout: .seconds(15),
            maxResponseBytes: 64 << 10,
            redirects: .never
        )
    }
}
