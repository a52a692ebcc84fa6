import Foundation
import Instrument
import InstrumentBackends
import Synchronization
import Testing

@Suite("Console backend")
struct ConsoleBackendTests {
    final class Output: Sendable {
        private let bytes = Mutex<[UInt8]>([])
        var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
        func write(_ new: [UInt8]) -> Bool {
            bytes.withLock { $0 += new }
            return true
        }
    }

    private func show(_ samples: [Sample], _ format: ConsoleBackend.Format) async -> String {
        let output = Output()
        let backend = ConsoleBackend(format: format, write: output.write)
        let records = samples.enumerated().map {
            SampleRecord(id: SampleID(log: 0, sequence: UInt64($0)), sequence: UInt64($0), sample: $1)
        }
        #expect(await backend.deliver(Batch(records: records)) == .acknowledged)
        return output.text
    }

    private func event(_ action: Action, _ attributes: Attributes) -> Event {
        let instant = MonotonicInstant(nanoseconds: 1_500_000)
        let time = Timestamp(instant: instant, wallTime: WallTime(milliseconds: 3_723_004))
        return Event(action, tracker: TrackerID(2), time: time, attributes: attributes)
    }

    @Test("A JSON line carries every attribute, sorted, and tells doubles from integers")
    func jsonLine() async {
        let event = event(.start, ["title": "a \"b\"\n\u{1}", "fps": 25.0, "bitrate": 7, "list": [true, "x"]])
        let text = await show([.event(event), .metric(Metric(.startTime, 12, of: event))], .jsonLines)
        #expect(
            text == #"""
                {"id":"00000000-0000-4000-8000-000000000000","sequence":0,"type":"event","action":"Start","tracker":2,"time":3723004,"instant":1500000,"attributes":{"bitrate":7,"fps":25.0,"list":[true,"x"],"title":"a \"b\"\n\u0001"}}
                {"id":"00000000-0000-4000-87FA-8D56B5879238","sequence":1,"type":"metric","name":"StartTime","kind":"gauge","unit":"ms","value":12,"tracker":2,"time":3723004,"instant":1500000,"attributes":{}}

                """#
        )
    }

    @Test(
        "Every line is valid JSON for any text",
        arguments: ["", "\u{0}\u{1F}\u{7F}", "é漢😀", "\\\"/\u{2028}", "\r\n\t"]
    )
    func valid(text: String) async throws {
        let line = await show([.event(event(Action(text), [AttributeName(text): .string(text)]))], .jsonLines)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["action"] as? String == text)
        #expect((object["attributes"] as? [String: String]) == [text: text])
    }

    @Test("A readable line has time, tracker, name and the main attributes, in colour only on request")
    func text() async {
        let event = event(.start, ["position": 12_000, "title": "x\u{1B}[2Jy", "other": 1])
        let plain = await show([.event(event), .metric(Metric(.startTime, 12, of: event))], .text(colored: false))
        #expect(
            plain == """
                01:02:03.004Z [2] Start  position=12000 title=x\\u{1b}[2Jy other=1
                01:02:03.004Z [2] StartTime  = 12 ms

                """
        )
        #expect(await show([.event(event)], .text(colored: true)).contains("\u{1B}[32mStart\u{1B}[0m"))
    }

    @Test("A readable line has all custom attributes after the main ones, and no others")
    func customAttributes() async {
        var event = event(
            .ping,
            [
                "score": 7, "ratio": 0.5, "isNew": true, "list": [1, "two", []], "object": ["b": 1, "a": "x"],
                "empty": "",
                "über": "é😀", "odd\nname": "a\u{0}b", "senderId": "s-0", "streamId": "s", "countErrors": 3, "fps": 25.0,
                "accumPlayTime": 5, "timeSinceStart": 9, "duration": 3, "userId": "u", "errorDescription": "no",
            ]
        )
        event.attributes["Duration"] = 8
        let line = await show([.event(event)], .text(colored: false))
        #expect(
            line == """
                01:02:03.004Z [2] Ping  duration=3 errorDescription=no score=7 ratio=0.5 isNew=true list=[1, two, []] \
                object={a: x, b: 1} empty= über=é😀 odd\\nname=a\\u{0}b Duration=8

                """
        )
    }

    @Test("A readable line of a metric has its custom attributes")
    func customAttributesOfMetrics() async {
        let time = event(.ping, [:]).time
        let attributes: Attributes = ["senderId": "s-0", "playbackId": "p", "score": 7]
        let metric = Metric(.numPlays, 1, tracker: TrackerID(2), time: time, attributes: attributes)
        let line = await show([.metric(metric)], .text(colored: true))
        #expect(line == "01:02:03.004Z [2] \u{1B}[36mNumPlays\u{1B}[0m  = 1 score=7\n")
    }

    @Test("The backend requests a retry when the console does not accept output")
    func refusal() async {
        let backend = ConsoleBackend(format: .jsonLines) { _ in false }
        let record = SampleRecord(id: SampleID(log: 0, sequence: 0), sequence: 0, sample: .event(event(.start, [:])))
        guard case .retry = await backend.deliver(Batch(records: [record])) else {
            Issue.record("the batch was not kept")
            return
        }
    }
}
