import Instrument
import InstrumentJSON
import InstrumentTestKit
import InstrumentText
import InstrumentTransport
import Testing

@testable import InstrumentClickstream

@Suite("The body of a clickstream request")
struct ClickstreamFormatTests {
    /// The body that the backend sends for samples.
    private func body(_ samples: [Sample], _ configuration: ClickstreamConfiguration = .init()) async throws -> [UInt8]
    {
        let transport = RecordingTransport()
        let backend = try ClickstreamBackend(
            delegate: TestDelegate("http://h/"),
            transport: transport,
            configuration: configuration
        )
        let records = samples.enumerated().map { Make.record($0.element, UInt64($0.offset)) }
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        return try #require(transport.requests.first?.body)
    }

    @Test("An event with values of every kind")
    func everyKind() async throws {
        let attributes: Attributes = [
            "words": 3, "rate": 1.0, "isNew": true, "text": "a\"b\n", "list": [1, "two"],
            "object": ["b": 2, "a": false],
        ]
        let body = String(decoding: try await body([Make.event("Search", attributes)]), as: UTF8.self)
        #expect(
            body
                == #"[{"id":"00000000-0000-4001-B000-000000000000","name":"Search","timestamp":"2026-11-21T08:05:00.042Z","#
                + #""variables":{"isNew":true,"list":[1,"two"],"object":{"a":false,"b":2},"rate":1.0,"text":"a\"b\n","#
                + #""words":3},"metadata":{}}]"#
        )
    }

    @Test("Stream, location and labels of a monitor are variables")
    func monitor() async throws {
        let attributes: Attributes = [
            "monitorStream": "news", "monitorLocation": "oslo", "monitorLabels": ["cdn": "alpha"],
        ]
        let body = String(decoding: try await body([Make.event("Start", attributes)]), as: UTF8.self)
        #expect(
            body.contains(
                #""variables":{"monitorLabels":{"cdn":"alpha"},"monitorLocation":"oslo","monitorStream":"news"}"#
            )
        )
    }

    @Test("An event is encoded when it is empty, has an empty name, or has non-ASCII letters")
    func extremes() async throws {
        let samples = [Make.event("Open"), Make.event(""), Make.event("日本 😀", ["é\u{0}": "\u{2028}\u{1F}"])]
        let body = String(decoding: try await body(samples), as: UTF8.self)
        let time = #""timestamp":"2026-11-21T08:05:00.042Z""#
        #expect(
            body.hasPrefix(#"[{"id":"00000000-0000-4001-B000-000000000000","name":"Open",\#(time),"variables":{},"#)
        )
        #expect(body.contains(#""name":"",\#(time),"variables":{},"metadata":{}}"#))
        #expect(body.hasSuffix(#""name":"日本 😀",\#(time),"variables":{"é\u0000":"\#u{2028}\u001f"},"metadata":{}}]"#))
    }

    @Test("Metrics carry their value, kind and unit")
    func metrics() async throws {
        let metric = Metric(.startTime, 250, tracker: TrackerID(0), time: Make.time, attributes: ["streamId": "s"])
        let ratio = Metric(
            MetricName("Share", .counter, unit: .ratio),
            0.5,
            tracker: TrackerID(0),
            time: Make.time,
            attributes: [:]
        )
        let body = try JSONValue(parsing: await body([.metric(metric), .metric(ratio)]))
        guard case .array(let actions) = body else { throw Complaint(what: "no array") }
        #expect(actions.map { $0["name"] } == ["StartTime", "Share"])
        #expect(
            actions.first?["variables"]
                == ["streamId": "s", "metricValue": 250, "metricKind": "gauge", "metricUnit": "ms"]
        )
        #expect(
            actions.last?["variables"] == ["metricValue": 0.5, "metricKind": "counter", "metricUnit": "ratio"]
        )
    }

    @Test("A very large event arrives whole")
    func large() async throws {
        let text = String(repeating: "😀\"", count: 300_000)
        let body = try JSONValue(parsing: await body([Make.event("Large", ["text": .string(text)])]))
        guard case .array(let actions) = body else { throw Complaint(what: "no array") }
        #expect(actions.first?["variables"]?["text"]?.string == text)
    }

    @Test("The body is JSON with the same values, for any content of the samples", arguments: UInt64(1)...200)
    func anything(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<8).map { _ in RandomSamples.sample(&generator) }
        guard case .array(let actions) = try JSONValue(parsing: await body(samples)) else {
            throw Complaint(what: "no array")
        }
        #expect(actions.count == samples.count)
        for (action, sample) in zip(actions, samples) {
            for attribute in sample.attributes {
                #expect(action["variables"]?[attribute.name.spelling] == JSONValue(attribute.value))
            }
            switch sample {
            case .event(let event):
                #expect(action["name"]?.string == event.action.name)
                #expect(action["variables"] == JSONValue(event.attributes))
            case .metric(let metric): #expect(action["name"]?.string == metric.name.spelling)
            }
        }
    }

    @Test("A custom mapping decides what is sent; omitted samples count as delivered")
    func ownMapping() async throws {
        let configuration = ClickstreamConfiguration { record in
            guard case .event(let event) = record.sample, event.action != .ping else { return nil }
            return ClickstreamAction(id: "x", name: "app." + event.action.name, timestamp: event.time.wallTime)
        }
        let body = try await body([Make.event("Ping"), Make.event("Tap")], configuration)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"[{"id":"x","name":"app.Tap","timestamp":"2026-11-21T08:05:00.042Z","variables":{},"metadata":{}}]"#
        )
        let transport = RecordingTransport(status: 500)
        let delegate = try TestDelegate("http://h/")
        let backend = try ClickstreamBackend(
            delegate: delegate,
            transport: transport,
            configuration: ClickstreamConfiguration(mapping: ClickstreamMapping.events)
        )
        let metric = Metric(.numPlays, 1, tracker: TrackerID(0), time: Make.time, attributes: [:])
        #expect(await backend.deliver(Batch(records: [Make.record(.metric(metric))])) == .acknowledged)
        #expect(transport.requests.isEmpty)
    }

    @Test("The backend sends samples for its service and none for another, without the service's name")
    func service() async throws {
        let transport = RecordingTransport()
        let backend = try ClickstreamBackend(delegate: TestDelegate("http://h/"), transport: transport)
        let queue = BatchQueue(backends: [backend], clock: VirtualClock())
        queue.append([Make.event("Theirs")], for: "other")
        queue.append([Make.event("Ours")], for: "clickstream")
        queue.append([Make.event("Earlier", ["instrument.addressee": "clickstream"])])
        #expect(await queue.flush(timeout: .seconds(1800)))
        let body = String(decoding: transport.requests.flatMap(\.body), as: UTF8.self)
        #expect(!body.contains("Theirs") && !body.contains("addressee"))
        #expect(body.contains(#""name":"Ours""#) && body.contains(#""name":"Earlier""#))
    }

    @Test(
        "A time is written as ISO 8601",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_825_600_001, "2000-02-29T12:00:00.001Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (1_798_761_599_999, "2026-12-31T23:59:59.999Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (.max, "9999-12-31T23:59:59.999Z"), (.min, "0000-01-01T00:00:00.000Z"),
            (-62_162_121_600_000, "0000-02-29T00:00:00.000Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func times(milliseconds: Int64, text: String) {
        #expect(WallTime(milliseconds: milliseconds).rfc3339 == text)
    }
}
