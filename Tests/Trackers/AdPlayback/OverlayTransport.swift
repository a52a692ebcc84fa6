import Instrument
import InstrumentHTTP
import InstrumentTransport

/// Answers some addresses itself, in place of the server that would: for playlists, lists and documents of one test.
/// All other requests go to the network.
final class OverlayTransport: HTTPTransport {
    /// What an address answers.
    enum Answer: Sendable {
        case text(String)
        /// An answer that takes a moment, during which other requests can begin.
        case later(String)
        case bytes([UInt8])
        case status(Int)
        /// No answer: the request fails as if its time were over. Virtual time waits for it, so that a moment is
        /// enough.
        case silence
    }

    private let network: any HTTPTransport
    private let answer: @Sendable (_ path: String, _ query: String) -> Answer?
    private let seen = Lock([String]())
    private let underWay = Lock((now: 0, most: 0))

    init(_ network: any HTTPTransport, answer: @escaping @Sendable (_ path: String, _ query: String) -> Answer?) {
        (self.network, self.answer) = (network, answer)
    }

    /// The paths of all requests with their queries, in order.
    var paths: [String] { seen.withLock { $0 } }

    /// The largest number of requests that were answered later and were under way at a time.
    var mostUnderWay: Int { underWay.withLock { $0.most } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let text = request.url.secretText
        let local = text.dropFirst("http://".count).drop { $0 != "/" }
        seen.withLock { $0.append(String(local)) }
        let parts = local.split(separator: "?", maxSplits: 1)
        switch answer(String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "") {
        case .text(let text): return try response(Array(text.utf8), request)
        case .later(let text):
            underWay.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            defer { underWay.withLock { $0.now -= 1 } }
            try? await Task.sleep(for: .milliseconds(5))
            return try response(Array(text.utf8), request)
        case .bytes(let bytes): return try response(bytes, request)
        case .status(let status): return HTTPResponse(status: status, url: request.url)
        case .silence:
            try? await Task.sleep(for: min(request.timeout, .milliseconds(300)))
            throw HTTPError(.timedOut, "the server is silent", url: request.url)
        case nil: return try await network.send(request)
        }
    }

    private func response(_ body: [UInt8], _ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        guard body.count <= request.maxResponseBytes else {
            throw HTTPError(.responseTooLarge, "the response is too large", url: request.url)
        }
        return HTTPResponse(status: 200, body: body, url: request.url)
    }
}
