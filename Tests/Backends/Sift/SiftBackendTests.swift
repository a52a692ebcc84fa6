import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentSift

@Suite("The Sift backend", .ownThread)
struct SiftBackendTests {
    private func backend(
        _ transport: any HTTPTransport,
        _ configuration: SiftConfiguration = SiftConfiguration()
    ) throws -> SiftBackend {
        SiftBackend(
            configuration,
            credentials: try Make.credentials(),
            transport: transport,
            settings: SiftSettingsMemory(SiftSettings(installationID: "I").bytes)
        )
    }

    private func batch(_ samples: [Sample]) -> Batch {
        Batch(records: samples.enumerated().map { Make.record($0.element, UInt64($0.offset)) })
    }

    /// The body that is sent for samples, unpacked; nil if nothing is sent.
    private func body(_ samples: [Sample], _ configuration: SiftConfiguration = SiftConfiguration()) async throws
        -> String?
    {
        let transport = RecordingTransport()
        #expect(try await backend(transport, configuration).deliver(batch(samples)) == .acknowledged)
        return try transport.requests.first.map { String(decoding: try SiftFormat.unpacked($0.body), as: UTF8.self) }
    }

    @Test("The request has the expected method, address and headers, and a gzip body of any size")
    func request() async throws {
        let transport = RecordingTransport()
        let configuration = SiftConfiguration(timeout: .seconds(3))
        _ = try await backend(transport, configuration).deliver(batch([Make.logged(Make.event(1))]))
        let request = try #require(transport.requests.first)
        #expect(request.method == .put)
        #expect(request.url.secretText == "https://api3.siftscience.com/v3/accounts/acc%2F1/mobile_events")
        #expect(request.timeout == .seconds(3))
        #expect(request.redirects == .never)
        let fields = request.headers.fields.map { [$0.name, $0.value] }
        #expect(
            fields == [
                ["Authorization", "Basic YmVhY29uLWtleQ=="], ["Content-Type", "application/json"],
                ["Content-Encoding", "gzip"], ["Accept", "application/json"],
            ]
        )
        #expect(
            String(decoding: try SiftFormat.unpacked(request.body), as: UTF8.self)
                == #"{"data":[{"fields":{"n":"1"},"mobile_event_type":"Tap","time":1795248300042}]}"#
        )
    }

    @Test("Without a logger, the first event is sent at once and the next one a minute after the last upload")
    func firstAtOnce() async throws {
        let clock = VirtualClock()
        let arrivals = AsyncStream.makeStream(of: SiftService.Request.self)
        let service = try SiftService { arrivals.continuation.yield($0) }
        var iterator = arrivals.stream.makeAsyncIterator()
        let backend = SiftBackend(
            SiftConfiguration(endpoint: try SiftEndpoint(origin: service.origin)),
            credentials: try Make.credentials(),
            transport: try SystemTransport(),
            clock: clock
        )
        let queue = BatchQueue(backends: [backend], clock: clock)
        queue.append([Make.logged(Make.event(0))])
        #expect(await iterator.next()?.events.count == 1)
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(20))
        queue.append([Make.logged(Make.event(1))])
        await queue.waitUntilIdle()
        // To the millisecond, rounded up.
        #expect(backend.patience().map { (.seconds(40)...(.milliseconds(40_001))).contains($0) } == true)
        #expect(service.requests.count == 1)
        clock.advance(by: .milliseconds(40_001))
        _ = await iterator.next()
        await queue.waitUntilIdle()
        clock.advance(by: .seconds(61))
        queue.append([Make.logged(Make.event(2))])
        _ = await iterator.next()
        await queue.waitUntilIdle()
        #expect(service.numbers == ["0", "1", "2"])
        _ = await queue.shutdown(timeout: .zero)
    }

    @Test("Logged events are sent in the profile of the moment of sending")
    func profiles() async throws {
        let sample = Make.logged(FullEvent.make())
        #expect(try await body([sample]) == (try Make.golden("full-current.json")))
        #expect(try await body([sample], SiftConfiguration(profile: .legacy)) == (try Make.golden("full-legacy.json")))
    }

    @Test("An event of a player: action, target, user, and its attributes as text")
    func players() async throws {
        let attributes: Attributes = [
            "trackerTarget": "probe", "userId": "person-17", "n": 1, "rate": 1.5, "isMuted": true, "list": ["a", 1],
            "object": ["k": 1.0],
        ]
        #expect(
            try await body([Make.sample("Start", attributes)])
                == #"{"data":[{"fields":{"isMuted":"true","list":"[\"a\",1]","n":"1","object":"{\"k\":1.0}","rate":"1.5","#
                + #""sampleId":"00000000-0000-4001-B000-000000000000","trackerTarget":"probe"},"installation_id":"I","#
                + #""mobile_event_type":"Start","path":"probe","time":1795248300042,"user_id":"person-17"}]}"#
        )
    }

    @Test("Stream, location and each label of a monitor are fields")
    func monitor() async throws {
        let attributes: Attributes = [
            "monitorStream": "news", "monitorLocation": "oslo", "monitorLabels": ["cdn": "alpha", "title": "t"],
        ]
        #expect(
            try await body([Make.sample("Start", attributes)])
                == #"{"data":[{"fields":{"cdn":"alpha","label_title":"t","monitorLocation":"oslo","#
                + #""monitorStream":"news","sampleId":"00000000-0000-4001-B000-000000000000"},"installation_id":"I","#
                + #""mobile_event_type":"Start","time":1795248300042}]}"#
        )
    }

    @Test("Metrics are omitted by default")
    func metrics() async throws {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: Make.wallTime)
        let metric = Metric(.startTime, 250, tracker: TrackerID(0), time: time, attributes: [:])
        #expect(try await body([.metric(metric)]) == nil)
        #expect(
            try await body([.metric(metric)], SiftConfiguration(mapping: SiftMapping.eventsAndMetrics))
                == #"{"data":[{"fields":{"sampleId":"00000000-0000-4001-B000-000000000000"},"installation_id":"I","#
                + #""metrics":{"kind":"gauge","unit":"ms","value":"250"},"mobile_event_type":"StartTime","#
                + #""time":1795248300042}]}"#
        )
    }

    @Test("The body follows the format for random samples", arguments: UInt64(1)...100)
    func anything(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<8).map { _ in RandomSamples.sample(&generator) }
        let configuration = SiftConfiguration(mapping: SiftMapping.eventsAndMetrics)
        let json = try JSONValue(parsing: #require(try await body(samples, configuration)))
        guard case .array(let events)? = json["data"] else { throw Complaint(what: "no data") }
        #expect(events.count == samples.count)
        for event in events { _ = try SiftEvent(json: event) }
    }

    @Test("Each backend sends its queue's events, and the first also events without an existing queue")
    func queues() async throws {
        let uplink = SiftUplink(
            SiftConfiguration(),
            try Make.credentials(),
            store: SiftSettingsMemory(),
            clock: VirtualClock(),
            randomness: RandomSource(),
            report: { _ in }
        )
        let gone = SiftQueue("gone", acceptSameEventAfter: .zero, uploadWhenMoreThan: 0, uploadWhenOlderThan: .zero)
        let samples = [
            Make.logged(Make.event(1)), Make.logged(Make.event(2), in: .deviceProperties),
            Make.logged(Make.event(3), in: gone), Make.sample("Start", ["n": 4]),
        ]
        var sent: [[String?]] = []
        for queue in [SiftQueue.standard, .deviceProperties] {
            let transport = RecordingTransport()
            _ = await SiftBackend(queue, uplink, transport).deliver(batch(samples))
            let body = try SiftFormat.unpacked(#require(transport.requests.first).body)
            guard case .array(let events)? = try JSONValue(parsing: body)["data"] else { continue }
            sent.append(events.map { $0["fields"]?["n"]?.string })
        }
        #expect(sent == [["1", "3", "4"], ["2"]])
    }

    @Test("A delivery that is cancelled while uploads are paused or credentials are missing ends, and is retried")
    func cancelledWait() async throws {
        for credentials in [try Make.credentials(), nil] {
            let uplink = SiftUplink(
                SiftConfiguration(),
                credentials,
                store: SiftSettingsMemory(),
                clock: VirtualClock(),
                randomness: RandomSource(),
                report: { _ in }
            )
            uplink.pause()
            let transport = RecordingTransport()
            let backend = SiftBackend(.standard, uplink, transport)
            let batch = batch([Make.logged(Make.event(1))])
            let delivery = Task { await backend.deliver(batch) }
            delivery.cancel()
            guard case .retry = await delivery.value else { throw Complaint(what: "no retry") }
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("The backend sends no sample for another service")
    func service() async throws {
        let transport = RecordingTransport()
        let queue = BatchQueue(backends: [try backend(transport)], clock: VirtualClock())
        queue.append([Make.sample("Theirs", ["n": 5])], for: "clickstream")
        queue.append([Make.sample("Ours", ["n": 6])], for: "sift")
        queue.append([Make.logged(Make.event(7))])
        #expect(await queue.flush(timeout: .seconds(1800)))
        let bodies = try transport.requests.map { try SiftFormat.unpacked($0.body) }
        let events = try bodies.flatMap { body -> [JSONValue] in
            guard case .array(let events)? = try JSONValue(parsing: body)["data"] else { return [] }
            return events
        }
        #expect(events.map { $0["fields"]?["n"]?.string } == ["6", "7"])
        #expect(!bodies.contains { String(decoding: $0, as: UTF8.self).contains("addressee") })
    }

    @Test("A stored event that cannot be read becomes a dead letter; the others are sent")
    func wrongEvent() async throws {
        var sample = Make.logged(Make.event(1))
        if case .event(var event) = sample {
            event.attributes["sift.event"] = ["time": 1, "fields": ["secret": 5]]
            sample = .event(event)
        }
        let transport = RecordingTransport()
        let batch = batch([Make.logged(Make.event(0)), sample, Make.logged(Make.event(2))])
        let outcome = try await backend(transport).deliver(batch)
        #expect(outcome == .acknowledgedExcept([batch.records[1].id: "every value of `fields` must be a string"]))
        let body = try SiftFormat.unpacked(#require(transport.requests.first).body)
        #expect(!String(decoding: body, as: UTF8.self).contains("secret"))
        let alone = Batch(records: [batch.records[1]])
        #expect(try await backend(RecordingTransport(status: 500)).deliver(alone) == outcome)
        #expect(
            try await backend(RecordingTransport(status: 500)).deliver(batch) == .retry(after: nil, reason: "HTTP 500")
        )
    }

    @Test(
        "A response status decides the outcome of a batch",
        arguments: [
            (200, "", DeliveryOutcome.acknowledged), (200, "nonsense", .acknowledged), (204, "", .acknowledged),
            (400, "", .refused(reason: "HTTP 400")),
            (400, #"{"status":53,"error_message":"bad time"}"#, .refused(reason: "HTTP 400, status 53: bad time")),
            (400, #"{"status":60}"#, .retry(after: .seconds(7), reason: "HTTP 400, status 60")),
            (429, #"{"status":60}"#, .retry(after: .seconds(7), reason: "HTTP 429, status 60")),
            (400, #"{"status":"60"}"#, .refused(reason: #"HTTP 400: {"status":"60"}"#)),
            (400, "[60]", .refused(reason: "HTTP 400: [60]")),
            (400, "bad gzip", .refused(reason: "HTTP 400: bad gzip")),
            (429, "", .retry(after: .seconds(7), reason: "HTTP 429")),
            (422, #"{"status":60}"#, .refused(reason: "HTTP 422, status 60")),
            (401, "", .unauthorized(reason: "HTTP 401")), (413, "", .tooLarge(reason: "HTTP 413")),
            (410, "", .gone(reason: "HTTP 410")), (500, "", .retry(after: .seconds(7), reason: "HTTP 500")),
            (
                400, #"{"error_message":"acc/1 acc%2F1 beacon-key\u0301 Basic YmVhY29uLWtleQ=="}"#,
                .refused(reason: "HTTP 400: … … …\u{301} …")
            ),
        ]
    )
    func answers(status: Int, body: String, outcome: DeliveryOutcome) async throws {
        let transport = RecordingTransport(status: status, headers: try HTTPHeaders(["Retry-After": "7"]), body: body)
        #expect(try await backend(transport).deliver(batch([Make.logged(Make.event(1))])) == outcome)
    }

    @Test("A server's message is shortened, and not in the middle of a secret")
    func longWords() async throws {
        let start = String(repeating: "x", count: ServerWords.maxLength - 10)
        let words = start + "beacon-key" + String(repeating: "y", count: 5000)
        let transport = RecordingTransport(status: 400, body: #"{"error_message":"\#(words)"}"#)
        let outcome = try await backend(transport).deliver(batch([Make.logged(Make.event(1))]))
        #expect(outcome == .refused(reason: "HTTP 400: " + start + "…yyyy…"))
    }

    @Test("An error without a response is retried, and names neither account nor key")
    func errors() async throws {
        for code in [HTTPError.Code.timedOut, .connection, .tls, .nameNotFound] {
            let outcome = try await backend(FailingTransport(code: code)).deliver(batch([Make.logged(Make.event(1))]))
            #expect(outcome == .retry(after: nil, reason: "\(code): could not reach …"))
        }
    }
}
