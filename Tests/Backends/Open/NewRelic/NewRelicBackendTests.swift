import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentNewRelic

@Suite("New Relic backend")
struct NewRelicBackendTests {
    private func backend(
        _ server: NewRelicServer,
        key: String = NewRelicServer.key,
        _ configuration: NewRelicConfiguration = NewRelicConfiguration(timeout: .seconds(300))
    ) throws -> NewRelicBackend {
        let endpoint = try NewRelicEndpoint(accountID: "42", server: HTTPURL(server.url))
        return try NewRelicBackend(endpoint, key: key, configuration: configuration, transport: SystemTransport())
    }

    private func scripted(_ transport: ScriptedTransport) throws -> NewRelicBackend {
        try NewRelicBackend(
            NewRelicEndpoint(accountID: "42"),
            key: "key-1",
            transport: transport,
            clock: VirtualClock()
        )
    }

    @Test("An event is a flat object, a metric a data point")
    func goldenBodies() async throws {
        let transport = ScriptedTransport(status: 202)
        let samples = [
            Samples.event(.start, ["title": "A \"b\"", "isMuted": true, "fps": 25.0, "list": [1]]),
            Samples.metric(.startTime, 850, ["streamId": "s", "rendition": "640x360"]), Samples.metric(.numPlays, 1),
        ]
        #expect(try await scripted(transport).deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let ids = (0..<3).map { Samples.id($0) }
        #expect(
            transport.bodies == [
                #"[{"eventType":"OAVT_EVENTS","timestamp":1767225600000,"title":"A \"b\"","isMuted":"true","fps":25.0,"#
                    + #""list":"[1]","sampleId":"\#(ids[0])","action":"Start","tracker":0}]"#,
                #"[{"metrics":[{"name":"oavt.StartTime","type":"gauge","value":850,"timestamp":1767225600000,"#
                    + #""attributes":{"streamId":"s","rendition":"640x360","sampleId":"\#(ids[1])","unit":"ms"}},"#
                    + #"{"name":"oavt.NumPlays","type":"count","value":1,"interval.ms":1,"timestamp":1767225600000,"#
                    + #""attributes":{"sampleId":"\#(ids[2])","unit":"count"}}]}]"#,
            ]
        )
        #expect(transport.requests.allSatisfy { $0.headers["Api-Key"] == "key-1" && !"\($0)".contains("key-1") })
        #expect(
            transport.requests.map(\.url.secretText) == [
                "https://insights-collector.newrelic.com/v1/accounts/42/events",
                "https://metric-api.newrelic.com/metric/v1",
            ]
        )
    }

    @Test("Stream, location and each label of a monitor are flat attributes of events and metrics")
    func monitor() async throws {
        let transport = ScriptedTransport(status: 202)
        let attributes = Samples.stream("news", ["cdn": "alpha", "title": "t"])
        let samples = [Samples.event(.start, attributes), Samples.metric(.numPlays, 1, attributes)]
        #expect(try await scripted(transport).deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let flat = #""monitorStream":"news","monitorLocation":"oslo","cdn":"alpha","label_title":"t""#
        #expect(transport.bodies.count == 2 && transport.bodies.allSatisfy { $0.contains(flat) })
    }

    @Test("Endpoints are those of the account's region, and an account is a number")
    func endpoints() throws {
        let eu = try NewRelicEndpoint(accountID: "7", region: .eu)
        #expect(eu.events.secretText == "https://insights-collector.eu01.nr-data.net/v1/accounts/7/events")
        #expect(eu.metrics.secretText == "https://metric-api.eu.newrelic.com/metric/v1")
        #expect(throws: HTTPError.self) { try NewRelicEndpoint(accountID: "7/../8") }
        #expect(throws: HTTPError.self) { try NewRelicEndpoint(accountID: "") }
    }

    @Test("Only the request that failed is sent again")
    func partialFailure() async throws {
        let isDown = Lock(true)
        let transport = ScriptedTransport { request in
            let fails = request.url.path == "/metric/v1" && isDown.withLock { $0 }
            return (fails ? 503 : 200, [:], "")
        }
        let backend = try scripted(transport)
        let samples = (0..<10).map { $0 % 2 == 0 ? Samples.event(.ping) : Samples.metric(.numPlays, 1) }
        let records = Samples.records(samples)
        guard case .retry = await backend.deliver(Batch(records: records)) else { throw Unexpected("") }
        isDown.withLock { $0 = false }
        // The queue may deliver a part first.
        #expect(await backend.deliver(Batch(records: Array(records[..<4]))) == .acknowledged)
        #expect(await backend.deliver(Batch(records: Array(records[4...]))) == .acknowledged)
        #expect(
            transport.requests.map(\.url.path) == [
                "/v1/accounts/42/events", "/metric/v1", "/metric/v1", "/metric/v1",
            ]
        )
        // The backend keeps no settled samples.
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        #expect(transport.requests.count == 6)
    }

    @Test("Samples of every kind pass the service's limits; each change is counted")
    func limits() async throws {
        let server = try NewRelicServer()
        let backend = try backend(server)
        for start in stride(from: 0, to: AwkwardSamples.all.count, by: 100) {
            let samples = AwkwardSamples.all[start..<min(start + 100, AwkwardSamples.all.count)]
            let records = samples.enumerated().map { Samples.record($1, UInt64(start + $0)) }
            #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        }
        #expect(server.current.violations == [])
        #expect(server.current.events.count + server.current.metrics.count == AwkwardSamples.all.count)
        let alterations = backend.alterations
        for kind: Alteration in [
            .shortenedTexts, .shortenedNames, .omittedAttributes, .replacedCharacters, .roundedNumbers, .clampedTimes,
        ] { #expect((alterations[kind] ?? 0) > 0, "\(kind)") }
    }

    @Test("Texts arrive unchanged up to 4,096 bytes")
    func texts() async throws {
        let server = try NewRelicServer()
        let backend = try backend(server)
        let texts = AwkwardSamples.values.compactMap { if case .string(let text) = $0.value { text } else { nil } }
        let samples =
            texts.map { Samples.event(.ping, ["text": .string($0)]) } + [
                Samples.event(.ping, ["text": .string(String(repeating: "é", count: 1_000_000))])
            ]
        for (number, sample) in samples.enumerated() {
            #expect(await backend.deliver(Batch(records: [Samples.record(sample, UInt64(number))])) == .acknowledged)
        }
        let arrived = server.current.events.compactMap { $0["text"]?.string }
        #expect(arrived.count == samples.count)
        for (arrived, text) in zip(arrived, texts) {
            let isWhole = Array(arrived.utf8) == Array(text.utf8)
            #expect(
                isWhole || (text.utf8.count > 4096 && text.utf8.starts(with: arrived.utf8) && arrived.utf8.count > 4092)
            )
        }
        #expect(backend.alterations[.shortenedTexts] == samples.filter { $0.attributes.payloadSize > 4096 }.count)
        #expect(server.current.violations == [])
    }

    @Test("Reserved names are renamed, and names that fall together are left out")
    func names() async throws {
        let server = try NewRelicServer()
        let backend = try backend(server)
        let long = String(repeating: "n", count: 300)
        let attributes: Attributes = [
            "timestamp": 5, "eventType": "x", "a\nb": 1, "a_b": 2, AttributeName(long + "1"): 3,
            AttributeName(long + "2"): 4, "": 5,
        ]
        let record = Samples.record(Samples.event(.ping, attributes))
        #expect(await backend.deliver(Batch(records: [record])) == .acknowledged)
        let event = try #require(server.current.events.first)
        #expect(event["timestamp_"] == 5 && event["eventType_"] == "x" && event["a_b"] == 2)
        #expect(event[String(repeating: "n", count: 255)] == 3)
        #expect(backend.alterations == [.renamedAttributes: 2, .shortenedNames: 1, .omittedAttributes: 3])
    }

    @Test("A request beyond a megabyte is split by the queue, and a sample that is alone too large is a dead letter")
    func tooLarge() async throws {
        let server = try NewRelicServer()
        let configuration = NewRelicConfiguration(
            timeout: .seconds(300),
            policy: DeliveryPolicy(maxCount: 500, maxBytes: 100 << 20, maxAge: .zero)
        )
        let queue = BatchQueue(backends: [try backend(server, configuration)])
        let text = AttributeValue.string(String(repeating: "x", count: 4000))
        queue.append((0..<400).map { _ in Samples.event(.ping, ["a": text, "b": text]) })
        var large: Attributes = [:]
        // An escape of six bytes for each.
        for number in 0..<200 { large[AttributeName("a\(number)")] = .string(String(repeating: "\u{1}", count: 4000)) }
        queue.append([Samples.event(.ping, large), Samples.event(.end)])
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        let ledger = try #require(queue.ledger["newrelic"])
        #expect((ledger.acknowledged, ledger.dead) == (401, 1))
        #expect(queue.deadLetters(of: "newrelic").first?.reason.contains("of which New Relic accepts 1000000") == true)
        #expect(server.current.violations == [])
    }

    private func backend(_ server: NewRelicServer, _ configuration: NewRelicConfiguration) throws -> NewRelicBackend {
        try backend(server, key: NewRelicServer.key, configuration)
    }

    @Test("A summary and a custom mapping are sent as they are")
    func customMapping() async throws {
        let server = try NewRelicServer()
        let configuration = NewRelicConfiguration(timeout: .seconds(300)) { record in
            let value = NewRelicMetric.Value.summary(count: 3, sum: 6.5, min: 1, max: 4, over: .seconds(60))
            return .metric(
                NewRelicMetric(name: "own", value: value, attributes: [:], time: record.sample.time.wallTime)
            )
        }
        let record = Samples.record(Samples.event(.ping))
        #expect(try await backend(server, configuration).deliver(Batch(records: [record])) == .acknowledged)
        let metric = try #require(server.current.metrics.first)
        #expect(metric["value"] == ["count": 3, "sum": 6.5, "min": 1, "max": 4])
        #expect(metric["interval.ms"] == 60_000)
    }

    @Test("A wrong key leads to a slow retry without the key in its reason")
    func wrongKey() async throws {
        let server = try NewRelicServer()
        let backend = try backend(server, key: "wrong-key-987")
        let outcome = await backend.deliver(Batch(records: [Samples.record(Samples.event(.ping))]))
        guard case .unauthorized(let reason) = outcome else { throw Unexpected(outcome) }
        #expect(!reason.contains("wrong-key-987"))
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let transport = ScriptedTransport(status: 202)
        try await BackendContract.check(samples: { generator in
            // Events and metrics go to two addresses, in the order of each.
            var sample = RandomSamples.sample(&generator)
            while case .metric = sample { sample = RandomSamples.sample(&generator) }
            return sample
        }) {
            try scripted(transport)
        } arrived: {
            transport.bodies.flatMap { body in
                body.split(separator: "\"sampleId\":\"").dropFirst().compactMap { SampleID(String($0.prefix(36))) }
            }
        }
    }
}
