package import Instrument
package import InstrumentHTTP
internal import InstrumentJSON
package import InstrumentMonitor

/// The project's webhook: the message as JSON.
///
/// `X-Instrument-Delivery` has the identifier of the message, which stays the same when a message is sent again, and
/// `X-Instrument-Signature` has `sha256=` and the HMAC-SHA256 of the body with the receiver's secret.
package struct WebhookFormat: MessageFormat {
    private let url: HTTPURL
    private let key: [UInt8]?

    /// - Parameter key: signs the messages; nil sends them without a signature.
    package init(_ url: HTTPURL, key: [UInt8]?) { (self.url, self.key) = (url, key) }

    package var secrets: [String] { key.map { [String(decoding: $0, as: UTF8.self)] } ?? [] }
    /// A receiver may answer with a page: an alert that is sent again and again is worse.
    package var rules: DeliveryRules { .anyServer }

    package func request(body: [UInt8], id: String) throws(HTTPError) -> HTTPRequest? {
        var request = try HTTPRequest.message(body, to: url)
        try request.headers.set("X-Instrument-Delivery", id)
        if let key { try request.headers.set("X-Instrument-Signature", MessageSignature.header(body, key: key)) }
        return request
    }

    package func request(for message: AlertMessage, at now: WallTime) throws(HTTPError) -> HTTPRequest {
        try HTTPRequest.message(message.json, to: url)
    }
}
