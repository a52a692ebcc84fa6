import Foundation
import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentOTLP

@Suite("OTLP backend")
struct OTLPBackendTests {
    static func backend(
        _ transport: ScriptedTransport,
        _ encoding: OTLPConfiguration.Encoding = .protobuf
    ) throws -> OTLPBackend {
        let resource: [OTLPLog.Attribute] = [.init("service.name", "tests"), .init("service.version", "1")]
        let configuration = OTLPConfiguration(encoding: encoding, resource: resource)
        let url = try HTTPURL("http://collector.example:4318/")
        return try OTLPBackend(url, configuration: configuration, transport: transport, clock: VirtualClock())
    }

    static let samples = [
        Samples.event(
            .start,
            ["playbackId": "p", "source": "https://u:secret@a.example/x.m3u8?token=1#f", "fps": 25.5, "isMuted": true]
        ),
        Samples.event(.error, ["errorDescription": "gone", "isFatal": true, "list": [1, ["a": -1]]]),
        Samples.metric(.startTime, 850, ["trackerTarget": "mpv", "streamId": "s"]),
        Samples.metric(.startTime, 1200, at: Samples.time + 500, ["trackerTarget": "mpv"]),
        Samples.metric(.numPlays, 1), Samples.metric(.numPlays, 2),
        Samples.metric(MetricName("Rate", .gauge, unit: .bitsPerSecond), 5.5),
    ]

    @Test("Events are log records and metrics are histograms, sums and gauges, as JSON")
    func json() async throws {
        let transport = ScriptedTransport(status: 200, "{}")
        let outcome = try await Self.backend(transport, .json).deliver(Batch(records: Samples.records(Self.samples)))
        #expect(outcome == .acknowledged)
        #expect(
            transport.requests.map(\.url.secretText) == [
                "http://collector.example:4318/v1/logs", "http://collector.example:4318/v1/metrics",
            ]
        )
        #expect(transport.requests.allSatisfy { $0.headers["Content-Type"] == "application/json" })
        let logs = try JSONValue(parsing: transport.bodies[0])
        let expected: JSONValue = [
            "resourceLogs": [
                [
                    "resource": [
                        "attributes": [
                            ["key": "service.name", "value": ["stringValue": "tests"]],
                            ["key": "service.version", "value": ["stringValue": "1"]],
                        ]
                    ],
                    "scopeLogs": [["scope": ["name": "instrument"], "logRecords": .array(Self.records)]],
                ]
            ]
        ]
        #expect(logs == expected)
        let metrics = try JSONValue(parsing: transport.bodies[1])
        #expect(metrics == Self.metrics)
    }

    private static var records: [JSONValue] {
        func attribute(_ name: String, _ value: JSONValue) -> JSONValue { ["key": .string(name), "value": value] }
        func record(_ name: String, _ number: Int, _ text: String, _ attributes: [JSONValue]) -> JSONValue {
            [
                "timeUnixNano": "1767225600000000000", "observedTimeUnixNano": "1767225600000000000",
                "severityNumber": .int(number), "severityText": .string(text), "eventName": .string(name),
                "attributes": .array(attributes),
            ]
        }
        return [
            record(
                "openavt.start",
                9,
                "INFO",
                [
                    attribute("log.record.uid", ["stringValue": .string(Samples.id(0).description)]),
                    attribute("openavt.tracker", ["intValue": "0"]), attribute("session.id", ["stringValue": "p"]),
                    attribute("url.full", ["stringValue": "https://a.example/x.m3u8"]),
                    attribute("openavt.fps", ["doubleValue": 25.5]),
                    attribute("openavt.isMuted", ["boolValue": true]),
                ]
            ),
            record(
                "openavt.error",
                21,
                "FATAL",
                [
                    attribute("log.record.uid", ["stringValue": .string(Samples.id(1).description)]),
                    attribute("openavt.tracker", ["intValue": "0"]),
                    attribute("openavt.errorDescription", ["stringValue": "gone"]),
                    attribute("openavt.isFatal", ["boolValue": true]),
                    attribute(
                        "openavt.list",
                        [
                            "arrayValue": [
                                "values": [
                                    ["intValue": "1"],
                                    ["kvlistValue": ["values": [["key": "a", "value": ["intValue": "-1"]]]]],
                                ]
                            ]
                        ]
                    ),
                    attribute("error.type", ["stringValue": "_OTHER"]),
                ]
            ),
        ]
    }

    private static var metrics: JSONValue {
        var histogram = ExponentialHistogram()
        for value in [0.85, 1.2] { histogram.insert(value) }
        let target: JSONValue = [["key": "openavt.trackerTarget", "value": ["stringValue": "mpv"]]]
        let points: JSONValue = [
            [
                "attributes": target, "startTimeUnixNano": "1767225599999000000", "timeUnixNano": "1767225600500000000",
                "count": "2", "sum": 2.05, "scale": .int(histogram.scale), "zeroCount": "0", "min": 0.85, "max": 1.2,
                "positive": [
                    "offset": .int(histogram.offset),
                    "bucketCounts": .array(histogram.buckets.map { .string(String($0)) }),
                ],
            ]
        ]
        func number(_ value: Double) -> JSONValue {
            [
                [
                    "attributes": [], "startTimeUnixNano": "1767225599999000000", "timeUnixNano": "1767225600000000000",
                    "asDouble": .double(value),
                ]
            ]
        }
        let all: JSONValue = [
            [
                "name": "openavt.start_time", "unit": "s",
                "exponentialHistogram": ["dataPoints": points, "aggregationTemporality": 1],
            ],
            [
                "name": "openavt.num_plays", "unit": "1",
                "sum": ["dataPoints": number(3), "aggregationTemporality": 1, "isMonotonic": true],
            ],
            ["name": "openavt.rate", "unit": "bit/s", "gauge": ["dataPoints": number(5.5)]],
        ]
        return [
            "resourceMetrics": [
                [
                    "resource": [
                        "attributes": [
                            ["key": "service.name", "value": ["stringValue": "tests"]],
                            ["key": "service.version", "value": ["stringValue": "1"]],
                        ]
                    ],
                    "scopeMetrics": [["scope": ["name": "instrument"], "metrics": all]],
                ]
            ]
        ]
    }

    @Test(
        "Times in renditions are separate points that carry the rendition, in both encodings",
        arguments: OTLPConfiguration.Encoding.allCases
    )
    func labels(encoding: OTLPConfiguration.Encoding) async throws {
        let transport = ScriptedTransport(status: 200, encoding == .json ? "{}" : "")
        let name = MetricName("TimeInQuality", .counter, unit: .milliseconds)
        let samples = [("640x360", 1000), ("1280x720", 2000), ("640x360", 500)].map { rendition, value in
            Samples.metric(name, .int(value), ["rendition": .string(rendition), "streamId": "s", "userId": "u-1"])
        }
        let backend = try Self.backend(transport, encoding)
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        let body = try #require(transport.bodies.first)
        #expect(!body.contains("u-1"))
        for text in ["640x360", "1280x720"] { #expect(body.components(separatedBy: text).count == 2) }
        guard encoding == .json else { return }
        let metrics = try JSONValue(parsing: body)
        let found = Self.points(metrics).map { ($0["attributes"], $0["asDouble"]) }
        let expected: [(JSONValue, JSONValue)] = [("640x360", 1.5), ("1280x720", 2)].map { rendition, seconds in
            (
                [["key": "openavt.rendition", "value": ["stringValue": .string(rendition)]]],
                .double(seconds)
            )
        }
        #expect(found.map(\.0) == expected.map(\.0) && found.map(\.1) == expected.map(\.1))
    }

    @Test("Each stream of a monitor has data points and log records with its name, labels and location")
    func monitor() async throws {
        let transport = ScriptedTransport(status: 200, "{}")
        let samples = ["a", "b"].flatMap { name in
            let attributes = Samples.stream(name, ["cdn": "alpha", "title": "t"])
            return [Samples.event(.start, attributes), Samples.metric(.numPlays, 1, attributes)]
        }
        let backend = try Self.backend(transport, .json)
        #expect(await backend.deliver(Batch(records: Samples.records(samples))) == .acknowledged)
        func expected(_ name: String) -> JSONValue {
            let pairs = [
                ("openavt.monitorStream", name), ("openavt.monitorLocation", "oslo"), ("openavt.label.cdn", "alpha"),
                ("openavt.label.title", "t"),
            ]
            return .array(pairs.map { ["key": .string($0), "value": ["stringValue": .string($1)]] })
        }
        let points = Self.points(try JSONValue(parsing: transport.bodies[1]))
        #expect(points.map { $0["attributes"] } == [expected("a"), expected("b")])
        let log = transport.bodies[0]
        #expect(log.components(separatedBy: "openavt.label.cdn").count == 3 && !log.contains("monitorLabels"))
    }

    private static func points(_ metrics: JSONValue) -> [JSONValue] {
        guard case .array(let resources)? = metrics["resourceMetrics"],
            case .array(let scopes)? = resources.first?["scopeMetrics"],
            case .array(let all)? = scopes.first?["metrics"],
            case .array(let points)? = all.first?["sum"]?["dataPoints"]
        else { return [] }
        return points
    }

    @Test(
        "A partial success names no record: the queue finds the rejected one by halves",
        arguments: OTLPConfiguration.Encoding.allCases
    )
    func partialSuccess(encoding: OTLPConfiguration.Encoding) async throws {
        let transport = ScriptedTransport { request in
            // A number that no other event has, in either encoding.
            guard request.body.firstRange(of: Array("culprit".utf8)) != nil else {
                return (200, [:], encoding == .json ? "{}" : "")
            }
            return (
                200, [:],
                encoding == .json
                    ? #"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too odd"}}"#
                    : "\n\u{B}\u{8}\u{1}\u{12}\u{7}too odd"
            )
        }
        let queue = BatchQueue(backends: [try Self.backend(transport, encoding)])
        queue.append((0..<64).map { Samples.event(.ping, ["title": $0 == 37 ? "culprit" : "film"]) })
        #expect(await queue.shutdown(timeout: .seconds(1800)))
        let ledger = try #require(queue.ledger["otlp"])
        #expect((ledger.acknowledged, ledger.dead) == (63, 1))
        let letter = try #require(queue.deadLetters(of: "otlp").first)
        #expect(letter.reason == "rejected by the receiver: too odd" && letter.record.sequence == 37)
    }

    @Test("A warning without rejected records is a success")
    func warning() async throws {
        let transport = ScriptedTransport(status: 200, #"{"partialSuccess":{"errorMessage":"old version"}}"#)
        let outcome = try await Self.backend(transport, .json).deliver(Batch(records: Samples.records(Self.samples)))
        #expect(outcome == .acknowledged)
    }

    @Test("Only the request that failed is sent again, after the time that the server asks for")
    func partialFailure() async throws {
        let isBusy = Lock(true)
        let transport = ScriptedTransport { request in
            request.url.path == "/v1/metrics" && isBusy.withLock { $0 }
                ? (503, ["Retry-After": "9"], "") : (200, [:], "")
        }
        let (backend, batch) = (try Self.backend(transport), Batch(records: Samples.records(Self.samples)))
        #expect(await backend.deliver(batch) == .retry(after: .seconds(9), reason: "HTTP 503"))
        isBusy.withLock { $0 = false }
        #expect(await backend.deliver(batch) == .acknowledged)
        #expect(transport.requests.map(\.url.path) == ["/v1/logs", "/v1/metrics", "/v1/metrics"])
        #expect(transport.bodies[1] == transport.bodies[2])
    }

    @Test("The backend keeps the promises of the backend contract")
    func contract() async throws {
        let transport = ScriptedTransport(status: 200, "{}")
        try await BackendContract.check(samples: { generator in
            var sample = RandomSamples.sample(&generator)
            while case .metric = sample { sample = RandomSamples.sample(&generator) }
            return sample
        }) {
            try Self.backend(transport, .json)
        } arrived: {
            transport.bodies.flatMap { body in
                body.split(separator: #""log.record.uid","value":{"stringValue":""#).dropFirst()
                    .compactMap { SampleID(String($0.prefix(36))) }
            }
        }
    }
}

@Suite(
    "OTLP messages with the public protocol's decoder",
    .ownThread,
    .serialized,
    .enabled(if: OTLPDecoder.isInstalled, "SKIPPED: there is no OTLP decoder; scripts/install-servers.sh installs one")
)
struct OTLPDecoderTests {
    private let messages = OTLPMessages(resource: [
        .init("service.name", "tests"), .init("empty", ""), .init("list", [1, "a"]),
    ])

    private func check(_ samples: [Sample]) async throws {
        let records = Samples.records(samples).compactMap { OTLPMapping()($0) }
        let logs = records.compactMap { if case .log(let log) = $0 { log } else { nil } }
        let measurements = records.compactMap { if case .measurement(let value) = $0 { value } else { nil } }
        // Both encodings are read by the generated classes, and mean the same.
        let fromProtobuf = try await OTLPDecoder.json(messages.protobuf(of: logs), .logs)
        #expect(try await OTLPDecoder.json(messages.json(of: logs), .logsJSON) == fromProtobuf)
        guard case .array(let read)? = fromProtobuf["resourceLogs"],
            case .array(let scopes)? = read.first?["scopeLogs"],
            case .array(let entries)? = scopes.first?["logRecords"]
        else { throw Unexpected(fromProtobuf) }
        #expect(entries.count == logs.count)
        for (entry, log) in zip(entries, logs) {
            #expect(entry["eventName"]?.string ?? "" == log.name)
            guard case .array(let attributes)? = entry["attributes"] else { throw Unexpected(entry) }
            #expect(attributes.count == log.attributes.count)
            for (attribute, sent) in zip(attributes, log.attributes) {
                #expect(attribute["key"]?.string ?? "" == sent.name)
                if case .string(let text) = sent.value {
                    #expect(attribute["value"]?["stringValue"]?.string.map { Array($0.utf8) } == Array(text.utf8))
                }
                if case .int(let number) = sent.value {
                    #expect(attribute["value"]?["intValue"]?.string == String(number))
                }
            }
        }
        let series = OTLPSeries(measurements)
        let metrics = try await OTLPDecoder.json(messages.protobuf(of: series), .metrics)
        #expect(try await OTLPDecoder.json(messages.json(of: series), .metricsJSON) == metrics)
    }

    @Test("Ordinary samples are decoded to what was sent, in both encodings")
    func ordinary() async throws { try await check(OTLPBackendTests.samples) }

    @Test("Awkward samples are decoded to what was sent, in both encodings")
    func awkward() async throws { try await check(AwkwardSamples.all) }

    @Test("A text of a megabyte is decoded unchanged")
    func large() async throws {
        try await check([Samples.event(.ping, ["title": .string(String(repeating: "😀", count: 262_144))])])
    }
}
