import Instrument
import InstrumentHTTP

/// Answers every request as its handler says, and remembers requests with unpacked bodies.
final class ScriptedTransport: HTTPTransport {
    typealias Answer = (status: Int, headers: KeyValuePairs<String, String>, body: String)

    private let handler: @Sendable (HTTPRequest) -> Answer?
    private let seen = Lock([HTTPRequest]())

    var requests: [HTTPRequest] { seen.withLock { $0 } }
    var bodies: [String] { requests.map { String(decoding: $0.body, as: UTF8.self) } }

    /// - Parameter handler: gets the request with an unpacked body; nil breaks the connection.
    init(_ handler: @escaping @Sendable (HTTPRequest) -> Answer?) { self.handler = handler }

    convenience init(status: Int, _ body: String = "", headers: KeyValuePairs<String, String> = [:]) {
        let (names, values) = (headers.map(\.key), headers.map(\.value))
        self.init { _ in
            (status, names.isEmpty ? [:] : [names[0]: values[0]], body)
        }
    }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var plain = request
        plain.body = unpacked(request.body)
        seen.withLock { $0.append(plain) }
        if Task.isCancelled { throw HTTPError(.cancelled, "cancelled", url: request.url) }
        guard let answer = handler(plain) else { throw HTTPError(.connection, "broken", url: request.url) }
        return HTTPResponse(
            status: answer.status,
            headers: try HTTPHeaders(answer.headers),
            body: Array(answer.body.utf8),
            url: request.url
        )
    }
}
