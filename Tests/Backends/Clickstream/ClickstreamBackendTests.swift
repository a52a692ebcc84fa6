import Instrument
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentClickstream

@Suite("The clickstream backend", .ownThread)
struct ClickstreamBackendTests {
    private let transport = RecordingTransport()

    private func backend(_ configuration: ClickstreamConfiguration = .init()) throws -> ClickstreamBackend {
        try ClickstreamBackend(
            delegate: TestDelegate("http://h:1/p"),
            transport: transport,
            configuration: configuration
        )
    }

    @Test(
        "A request has the delegate's address and user agent, and nothing of the configuration's that would change ours"
    )
    func request() async throws {
        let headers = try HTTPHeaders(["X-Token": "t", "content-type": "text/plain", "User-Agent": "other"])
        _ = try await backend(ClickstreamConfiguration(timeout: .seconds(3), headers: headers)).deliver(
            Make.batch(0..<1)
        )
        let request = try #require(transport.requests.first)
        #expect(request.method == .post)
        #expect(request.url == (try HTTPURL("http://h:1/p")))
        #expect(request.timeout == .seconds(3))
        #expect(request.redirects == .never)
        #expect(request.headers.values(of: "Content-Type") == ["application/json"])
        #expect(request.headers.values(of: "User-Agent") == ["Film/3.1 (test)"])
        #expect(request.headers["X-Token"] == "t")
    }

    @Test("The same batch has the same key and the same bytes each time, and no other batch has them")
    func keys() async throws {
        let ranges = [0..<1, 0..<2, 1..<2, 0..<10, 1..<11]
        for range in ranges + ranges { _ = try await backend().deliver(Make.batch(range)) }
        let requests = transport.requests
        let keys = requests.compactMap { $0.headers["Idempotency-Key"] }
        #expect(Array(keys.prefix(5)) == Array(keys.suffix(5)))
        #expect(Set(keys).count == 5)
        for (first, second) in zip(requests.prefix(5), requests.suffix(5)) { #expect(first.body == second.body) }
    }

    @Test("The key is the FNV-1a hash of the identifiers with a line break behind each, as 32 digits")
    func hash() {
        let identifiers = [SampleID(high: 1, low: 2), SampleID(high: 3, low: 4)]
        let text = identifiers.map { "\($0)\n" }.joined()
        #expect(UInt128(IdempotencyKey.key(of: identifiers), radix: 16) == FNV1a.hash128(text.utf8))
        #expect(IdempotencyKey.key(of: []) == "6C62272E07BB014262B821756295C58D")
    }

    @Test("A saved event triggers delivery in batches of ten when neither delegate nor configuration differs")
    func policy() throws {
        #expect(try backend().policy == DeliveryPolicy(maxCount: 10, maxBytes: 256 << 10, maxAge: .zero))
        let delegate = try TestDelegate("http://h/", size: 3)
        let backend = try ClickstreamBackend(
            delegate: delegate,
            transport: transport,
            configuration: ClickstreamConfiguration(name: "other", maxDelay: .seconds(9), maxBytes: 5)
        )
        #expect(backend.policy == DeliveryPolicy(maxCount: 3, maxBytes: 5, maxAge: .seconds(9)))
        #expect(backend.name == "other")
        let none = try ClickstreamBackend(delegate: TestDelegate("http://h/", size: -1), transport: transport)
        #expect(none.policy.maxCount == 1)
    }

    @Test(
        "A response status decides the outcome of a batch",
        arguments: [
            (200, DeliveryOutcome.acknowledged), (204, .acknowledged), (299, .acknowledged),
            (422, .refused(reason: "HTTP 422")), (400, .refused(reason: "HTTP 400")),
            (401, .unauthorized(reason: "HTTP 401")), (409, .refused(reason: "HTTP 409")),
            (410, .gone(reason: "HTTP 410")), (413, .tooLarge(reason: "HTTP 413")),
            (429, .retry(after: .seconds(7), reason: "HTTP 429")),
            (503, .retry(after: .seconds(7), reason: "HTTP 503")),
        ]
    )
    func answers(status: Int, outcome: DeliveryOutcome) async throws {
        let transport = RecordingTransport(status: status, headers: try HTTPHeaders(["Retry-After": "7"]))
        let backend = try ClickstreamBackend(delegate: TestDelegate("http://h/"), transport: transport)
        #expect(await backend.deliver(Make.batch(0..<2)) == outcome)
    }

    @Test("Status 409 acknowledges a batch when the configuration allows it")
    func conflict() async throws {
        let backend = try ClickstreamBackend(
            delegate: TestDelegate("http://h/"),
            transport: RecordingTransport(status: 409),
            configuration: ClickstreamConfiguration(rules: DeliveryRules(conflictMeansDelivered: true))
        )
        #expect(await backend.deliver(Make.batch(0..<2)) == .acknowledged)
    }

    @Test(
        "An invalid user agent is refused at once, and the error does not repeat it",
        arguments: ["a\r\nB: c", "\u{0}"]
    )
    func badUserAgent(agent: String) throws {
        let delegate = try TestDelegate("http://h/", userAgent: agent)
        let error = #expect(throws: HTTPError.self) { try ClickstreamBackend(delegate: delegate, transport: transport) }
        #expect(error?.code == .invalidHeader)
        #expect(error?.description.contains(agent) == false)
    }

    @Test("The description of an environment hides secrets of its address")
    func environment() throws {
        let url = try HTTPURL("https://user:pass@h/p?token=secret")
        #expect("\(ClickstreamEnvironment("staging", endpoint: url))" == "staging (https://h/p)")
    }
}
