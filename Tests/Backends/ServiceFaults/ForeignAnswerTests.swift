import Foundation
import Instrument
import InstrumentHTTP
import InstrumentTestKit
import Testing

/// Answers of other servers than the service: proxies, sign-in pages of networks, servers at a wrong address.
@Suite("Service backends and answers that are not the service's")
struct ForeignAnswerTests {
    /// Answers every request with one response, and counts the requests.
    private final class OneAnswer: HTTPTransport {
        let status: Int
        let body: String
        private let counted = Lock(0)

        var count: Int { counted.withLock { $0 } }

        init(status: Int, body: String = "") { (self.status, self.body) = (status, body) }

        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            counted.withLock { $0 += 1 }
            // Seer's token, so that the samples themselves are sent.
            if request.url.path.hasSuffix("/oauth/access_token") {
                let token = #"{"access_token":"t","expires_in":3600}"#
                return HTTPResponse(status: 200, body: Array(token.utf8), url: request.url)
            }
            return HTTPResponse(
                status: status,
                headers: try HTTPHeaders(["Location": "http://192.0.2.1/sign-in"]),
                body: Array(body.utf8),
                url: request.url
            )
        }
    }

    /// All statuses except those with which a service accepts, or judges what a request contains.
    private static let statuses = Array(300...599).filter { ![400, 409, 410, 413, 422].contains($0) }
    private static let page = "<!DOCTYPE html>\n<html><title>Sign in to the network</title></html>"

    private func batch(_ count: Int) -> Batch {
        Batch(
            records: (0..<UInt64(count)).map { number in
                var event = Event(Action("Liked"), tracker: TrackerID(0), time: SystemClock().timestamp)
                event[.source] = "https://example.org/film/\(number)"
                return SampleRecord(id: SampleID(log: 1, sequence: number), sequence: number, sample: .event(event))
            }
        )
    }

    private func outcome(_ service: Service, _ transport: OneAnswer) async throws -> DeliveryOutcome {
        let directory = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let backend = try service.makeBackend("http://service.example", directory, transport: transport)
        return await backend.deliver(batch(8))
    }

    @Test("Samples wait, and none is refused, whatever another server answers", arguments: Service.allCases)
    func waits(service: Service) async throws {
        for status in Self.statuses {
            let transport = OneAnswer(status: status, body: Self.page)
            let outcome = try await outcome(service, transport)
            switch outcome {
            case .retry(_, let reason), .unauthorized(let reason):
                #expect(reason.contains("HTTP \(status)"), "\(service): \(outcome)")
            case .acknowledged, .acknowledgedExcept, .refused, .tooLarge, .gone:
                Issue.record("\(service), status \(status): \(outcome)")
            }
            // A token and the samples, twice where a new token may help: no search for a refused sample.
            #expect(transport.count <= 4, "\(service), status \(status): \(transport.count) requests")
        }
    }

    @Test("A web page with status 200 delivers nothing", arguments: Service.allCases)
    func pages(service: Service) async throws {
        let outcome = try await outcome(service, OneAnswer(status: 200, body: Self.page))
        guard case .retry(_, let reason) = outcome else {
            Issue.record("\(service): \(outcome)")
            return
        }
        #expect(reason.contains("HTTP 200 with a web page"))
    }

    @Test("A service's own refusal still refuses", arguments: Service.allCases)
    func refuses(service: Service) async throws {
        let outcome = try await outcome(service, OneAnswer(status: 422, body: "no"))
        guard case .refused(let reason) = outcome else {
            Issue.record("\(service): \(outcome)")
            return
        }
        #expect(reason.contains("HTTP 422"))
    }
}
