import Instrument
import InstrumentHTTP
import InstrumentTestKit
import Testing

@testable import InstrumentInflux

@Suite("InfluxDB backend")
struct InfluxBackendTests {
    private static let reports = Lock([Diagnostic]())

    private func backend(_ transport: ScriptedTransport, _ endpoint: InfluxEndpoint? = nil) throws -> InfluxBackend {
        let other = try InfluxEndpoint(url: HTTPURL("http://influx.example:8086"), database: "media")
        return try InfluxBackend(endpoint ?? other, transport: transport, clock: VirtualClock())
    }

    private func batch(_ count: Int) -> Batch {
        Batch(records: Samples.records((0..<count).map { Samples.event(.ping, ["number": .int($0)]) }))
    }

    @Test(
        "An endpoint is read from an address with parameters",
        arguments: [
            ("http://h:1?db=a", "http://h:1/write?db=a&precision=ns"),
            ("http://h:1/write?db=a%20b&rp=week", "http://h:1/write?db=a%20b&rp=week&precision=ns"),
            ("https://h/proxy/?db=a", "https://h/proxy/write?db=a&precision=ns"),
            ("https://h?org=my%26org&bucket=b", "https://h/api/v2/write?org=my%26org&bucket=b&precision=ns"),
            ("https://h/api/v2/write?bucket=b", "https://h/api/v2/write?bucket=b&precision=ns"),
        ]
    )
    func endpoints(address: String, expected: String) throws {
        #expect(try InfluxEndpoint(parameters: HTTPURL(address)).url.secretText == expected)
    }

    @Test(
        "An address without database and bucket is refused",
        arguments: ["http://h", "http://h?db=", "http://h?org=a"]
    )
    func incompleteEndpoints(address: String) throws {
        let url = try HTTPURL(address)
        #expect(throws: HTTPError.self) { try InfluxEndpoint(parameters: url) }
    }

    @Test("Credentials are sent as version 1 and version 2 expect them, and never shown")
    func credentials() async throws {
        let url = try HTTPURL("http://h")
        let basic = InfluxEndpoint.Credentials.basic(user: "u", password: "secret-p")
        let endpoints = [
            (try InfluxEndpoint(url: url, database: "d", credentials: basic), "Basic dTpzZWNyZXQtcA=="),
            (try InfluxEndpoint(url: url, bucket: "b", organization: "o", credentials: .token("t-1")), "Token t-1"),
            (try InfluxEndpoint(url: HTTPURL("http://u:secret%2Dp@h"), database: "d"), "Basic dTpzZWNyZXQtcA=="),
        ]
        for (endpoint, expected) in endpoints {
            let transport = ScriptedTransport(status: 401, #"{"error":"authorization failed for secret-p t-1"}"#)
            let outcome = try await backend(transport, endpoint).deliver(batch(1))
            #expect(transport.requests.first?.headers["Authorization"] == expected)
            guard case .unauthorized(let reason) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(!reason.contains(expected.contains("Basic") ? "secret-p" : "t-1"), "\(reason)")
            #expect(!"\(endpoint)".contains("secret"))
        }
    }

    @Test("A batch is one packed request of lines that end with a line feed")
    func request() async throws {
        let transport = ScriptedTransport(status: 204)
        #expect(try await backend(transport).deliver(batch(30)) == .acknowledged)
        let request = try #require(transport.requests.first)
        #expect(request.headers["Content-Encoding"] == "gzip")
        #expect(request.url.secretText == "http://influx.example:8086/write?db=media&precision=ns")
        let lines = String(decoding: request.body, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.count == 31 && lines.last == "")
        #expect(Set(lines.compactMap { $0.split(separator: " ").last }).count == 30, "equal times replace each other")
    }

    @Test(
        "An answer becomes the outcome of its status",
        arguments: [
            (204, "", DeliveryOutcome.acknowledged),
            (200, "", .acknowledged),
            (413, "", .tooLarge(reason: "HTTP 413")),
            (500, "timeout", .retry(after: nil, reason: "HTTP 500")),
            (400, #"{"error":"field type conflict"}"#, .refused(reason: "HTTP 400: field type conflict")),
            (
                400, #"{"error":"partial write: points beyond retention policy dropped=1"}"#,
                .refused(reason: "HTTP 400: partial write: points beyond retention policy dropped=1")
            ),
        ]
    )
    func answers(status: Int, body: String, expected: DeliveryOutcome) async throws {
        #expect(try await backend(ScriptedTransport(status: status, body)).deliver(batch(2)) == expected)
    }

    @Test("A Retry-After is applied", arguments: [429, 503])
    func retryAfter(status: Int) async throws {
        let transport = ScriptedTransport(status: status, "", headers: ["Retry-After": "7"])
        let expected = DeliveryOutcome.retry(after: .seconds(7), reason: "HTTP \(status)")
        #expect(try await backend(transport).deliver(batch(1)) == expected)
    }

    @Test("Lines that the server could not parse are dead letters, the others are written")
    func unparsedLines() async throws {
        let transport = ScriptedTransport { request in
            let lines = String(decoding: request.body, as: UTF8.self).split(separator: "\n")
            let reasons = [lines[1], lines[3]].map { "unable to parse '\($0)': missing field value" }
            let text = JSONText.quoted("partial write: " + reasons.joined(separator: "\n") + " dropped=0")
            return (400, [:], "{\"error\":\(text)}")
        }
        let outcome = try await backend(transport).deliver(batch(5))
        guard case .acknowledgedExcept(let reasons) = outcome else { throw Unexpected(outcome) }
        #expect(Set(reasons.keys) == [Samples.id(1), Samples.id(3)])
        #expect(reasons.values.allSatisfy { $0.hasPrefix("HTTP 400: unable to parse: missing field value") })
    }

    @Test("Points of the type that the server names are dead letters if they are as many as it dropped")
    func typeConflicts() async throws {
        func outcome(dropped: Int) async throws -> DeliveryOutcome {
            let text =
                #"partial write: field type conflict: input field \"v w\" on measurement \"OAVT_EVENTS\" is type "#
                + #"float, already exists as type integer dropped=\#(dropped)"#
            let transport = ScriptedTransport(status: 400, "{\"error\":\"\(text)\"}")
            let values: [AttributeValue] = [1, 2.5, "x y, v w=3.0", 3.5, true]
            let samples = values.map { Samples.event(.ping, ["text": #"a" v\ w=1.0"#, "v w": $0]) }
            return try await backend(transport).deliver(Batch(records: Samples.records(samples)))
        }
        guard case .acknowledgedExcept(let reasons) = try await outcome(dropped: 2) else { throw Unexpected("") }
        #expect(Set(reasons.keys) == [Samples.id(1), Samples.id(3)])
        guard case .refused = try await outcome(dropped: 3) else {
            throw Unexpected("the answer names one of two fields")
        }
    }

    @Test("The lines that InfluxDB 3 numbers are dead letters")
    func numberedLines() async throws {
        let body =
            #"{"error":"partial write of line protocol occurred","data":[{"original_line":"x","line_number":2,"error_message":"bad"}]}"#
        let outcome = try await backend(ScriptedTransport(status: 400, body)).deliver(batch(3))
        #expect(outcome == .acknowledgedExcept([Samples.id(1): "HTTP 400: bad"]))
    }

    @Test("An answer that numbers no line of the batch names no sample", arguments: [0, -1, 4, Int.min, Int.max])
    func impossibleLines(number: Int) async throws {
        let body =
            #"{"error":"partial write of line protocol occurred","data":[{"line_number":\#(number),"error_message":"bad"}]}"#
        let outcome = try await backend(ScriptedTransport(status: 400, body)).deliver(batch(3))
        if case .acknowledgedExcept = outcome { Issue.record("\(outcome)") }
        #expect(outcome != .acknowledged)
    }

    @Test("Alterations are reported once the server has accepted the batch, not for failed attempts")
    func alterations() async throws {
        let reports = Lock([Diagnostic]())
        let statuses = Lock([503, 204])
        let transport = ScriptedTransport { _ in (statuses.withLock { $0.removeFirst() }, [:], "") }
        let endpoint = try InfluxEndpoint(url: HTTPURL("http://h"), database: "d")
        let backend = try InfluxBackend(endpoint, transport: transport) { report in
            reports.withLock { $0.append(report) }
        }
        let batch = Batch(records: [Samples.record(Samples.event(.ping, ["time": 1]))])
        _ = await backend.deliver(batch)
        #expect(reports.withLock { $0 } == [])
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(reports.withLock { $0 } == [.altered("influx", .renamedAttributes, count: 1)])
        #expect(backend.alterations == [.renamedAttributes: 1])
        #expect(transport.bodies.first == transport.bodies.last)
    }

    @Test("A batch that the mapping leaves out counts as delivered, without a request")
    func nothingToSend() async throws {
        let transport = ScriptedTransport(status: 500)
        let endpoint = try InfluxEndpoint(url: HTTPURL("http://h"), database: "d")
        let configuration = InfluxConfiguration { _ in nil }
        let backend = try InfluxBackend(endpoint, configuration: configuration, transport: transport)
        #expect(await backend.deliver(batch(3)) == .acknowledged)
        #expect(transport.requests.isEmpty)
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let transport = ScriptedTransport(status: 204)
        let endpoint = try InfluxEndpoint(url: HTTPURL("http://h"), database: "d")
        try await BackendContract.check {
            try InfluxBackend(endpoint, transport: transport)
        } arrived: {
            transport.bodies.flatMap { body in
                body.split(separator: "sampleId=\"").dropFirst().compactMap { SampleID(String($0.prefix(36))) }
            }
        }
    }
}

struct Unexpected: Error {
    let what: String
    init(_ what: Any) { self.what = "\(what)" }
}
