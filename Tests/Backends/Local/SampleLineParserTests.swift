import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentBackends

@Suite("Parser of sample lines")
struct SampleLineParserTests {
    private func line(_ record: SampleRecord) -> [UInt8] {
        var writer = JSONWriter()
        SampleLine.write(record, to: &writer)
        return writer.bytes.dropLast()
    }

    private func parse(_ line: [UInt8], _ parser: inout SampleLineParser) -> SampleRecord? {
        line.withUnsafeBufferPointer { parser.read($0) }
    }

    private func record(_ number: Int, _ sample: Sample, _ service: ServiceName? = nil) -> SampleRecord {
        let id = SampleID(log: 77, sequence: UInt64(number))
        return SampleRecord(id: id, sequence: UInt64(number), sample: sample, service: service)
    }

    /// Compares the records' lines, because 0.0 == -0.0 and "é" == "e\u{301}".
    private func expectSame(_ found: SampleRecord, _ line: [UInt8], _ comment: Comment) throws {
        let expected = try SampleLine.read(line)
        #expect(self.line(found) == self.line(expected), comment)
        #expect(found == expected, comment)
    }

    @Test("The parser gives the record of the JSON reader, or declines, for samples with every kind of value")
    func agreement() throws {
        var parser = SampleLineParser()
        var generator = SeededGenerator(seed: 3)
        var parsed = 0
        let samples = AwkwardSamples.all + (0..<3000).map { _ in RandomSamples.sample(&generator) }
        for (number, sample) in samples.enumerated() {
            let line = line(record(number, sample, number % 7 == 0 ? "service" : nil))
            guard let found = parse(line, &parser) else { continue }
            parsed += 1
            try expectSame(found, line, "\(String(decoding: line, as: UTF8.self))")
        }
        #expect(parsed > 200)
    }

    @Test("The parser reads every line of ordinary samples, also with a fraction, text beyond ASCII, and a service")
    func ordinary() throws {
        var parser = SampleLineParser()
        for number in 0..<200 {
            let attributes: Attributes = [
                "fps": 23.976023976023978, "bitrate": .int(number * 1000),
                "title": .string("Ein Schloß – 映画 \(number)"),
                "isMuted": false, "inPauseBlock": true, "senderId": "5EF683BE-0B30-422D-A4E6-690F3D4A7C71-0",
                "position": .int(-number), "exponent": 1e21, "": "empty name",
            ]
            let event = Event(
                [.start, .ping][number % 2],
                tracker: TrackerID(number),
                time: time,
                attributes: attributes
            )
            let line = line(record(number, .event(event), number.isMultiple(of: 3) ? "lrs" : nil))
            let found = try #require(parse(line, &parser))
            try expectSame(found, line, "event \(number)")
            let metric = Metric(.startTime, number % 2 == 0 ? .int(number) : .double(0.5), of: event)
            let metricLine = self.line(record(number, .metric(metric)))
            try expectSame(try #require(parse(metricLine, &parser)), metricLine, "metric \(number)")
        }
    }

    private var time: Timestamp {
        Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: WallTime(milliseconds: 1_795_353_396_964))
    }

    /// Lines that JSON allows and the file backend never writes, and lines that no reader may accept.
    static let foreign: [(String, String)] = [
        (#""sequence":0"#, #""sequence":01"#), (#""sequence":0"#, #""sequence":-1"#),
        (#""sequence":0"#, #""sequence": 0"#),
        (#""sequence":0"#, #""sequence":0.0"#), (#""sequence":0"#, #""sequence":00000000000000000000"#),
        (#""tracker":1"#, #""tracker":-"#), (#""tracker":1"#, #""tracker":1e0"#), (#""tracker":1"#, #""tracker":"1""#),
        (#""tracker":1"#, #""tracker":99999999999999999999"#), (#""n":1"#, #""n":1,"n":2"#),
        (#""n":1"#, #""z":1,"a":2"#),
        (#""n":1"#, #""n":null"#), (#""n":1"#, #""n":[1,{"a":2}]"#), (#""n":1"#, #""n":tru"#), (#""n":1"#, #""n":.5"#),
        (#""n":1"#, #""n":1."#), (#""n":1"#, #""n":1e999"#), (#""n":1"#, #""n":-0"#), (#""n":1"#, #""n":-0.0"#),
        (#""n":1"#, #""n":123456789012345678901"#), (#""n":1"#, #""n":"\u0041\ud83d\ude00""#),
        (#""n":1"#, #""\u006e":1"#),
        (#""n":1"#, #""n":"a"#), (#""n":1"#, #""n":1,"#), (#""n":1}"#, #""n":1}}"#), (#""n":1}"#, #""n":1} "#),
        (#""n":1}}"#, #""n":1}"#), (#""n":1}}"#, #""n":1}},"#), (#""n":1"#, "\"n\":\"\t\""),
        (#""n":1"#, "\"n\":\"\u{7F}\""),
        (#""n":1"#, "\"e\u{301}\":1,\"\u{e9}\":2"), (#""type":"event""#, #""type":"metric""#),
        (#""id":"0"#, #""id":"G"#),
        (#""action":"Ping""#, #""action":"Pi\u006eg""#), (#""instant":2,"#, #""instant":2,"service":"a\"b","#),
        (#""instant":2,"#, #""instant":2,"service":1,"#), (#""instant":2,"#, #""instant":2,"other":1,"#),
    ]

    @Test("The parser declines a foreign line, or gives the record of the JSON reader", arguments: foreign)
    func foreignLines(part: String, replacement: String) throws {
        let whole = """
            {"id":"00000000-0000-4000-8000-000000000000","sequence":0,"type":"event","action":"Ping","tracker":1,"time":1,\
            "instant":2,"attributes":{"n":1}}
            """
        var parser = SampleLineParser()
        _ = try #require(parse(Array(whole.utf8), &parser))
        let changed = Array(whole.replacing(part, with: replacement).utf8)
        #expect(changed != Array(whole.utf8))
        guard let found = parse(changed, &parser) else { return }
        try expectSame(found, changed, "\(replacement)")
    }

    @Test("Bytes that are not UTF-8 are declined wherever a text stands")
    func invalidUTF8() throws {
        let event = Event(Action("Pong"), tracker: TrackerID(0), time: time, attributes: ["title": "name"])
        let line = line(record(0, .event(event), "lrs"))
        for text in ["Pong", "title", "name", "lrs"] {
            var parser = SampleLineParser()
            var damaged = line
            let range = try #require(line.firstRange(of: Array(text.utf8)))
            damaged[range.lowerBound + 1] = 0xFF
            #expect(parse(damaged, &parser) == nil)
        }
    }

    @Test("Random damage never traps, and the parser never accepts a line that the JSON reader refuses")
    func fuzz() throws {
        var parser = SampleLineParser()
        var generator = SeededGenerator(seed: 19)
        var accepted = 0
        for round in 0..<20_000 {
            var attributes: Attributes = ["a": .int(round), "b": 1.5, "c": true, "title": .string("t\(round % 9)")]
            if round.isMultiple(of: 3) { attributes["zz"] = "日本" }
            let event = Event(.ping, tracker: TrackerID(round % 5), time: time, attributes: attributes)
            var bytes = line(record(round, .event(event)))
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.removeSubrange(index..<min(bytes.count, index + 3))
                case 2: bytes[index] = Array("\"\\{}[],:-+.eE0 ".utf8).randomElement(using: &generator) ?? 0
                default: bytes = Array(bytes[..<index])
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            guard let found = parse(bytes, &parser) else { continue }
            accepted += 1
            try expectSame(found, bytes, "round \(round)")
        }
        #expect(accepted > 100)
    }

    @Test("Records that are kept stay the same while later lines are read, of any names, texts and kinds of values")
    func keptRecords() throws {
        var parser = SampleLineParser()
        var generator = SeededGenerator(seed: 7)
        var kept: [(record: SampleRecord, line: [UInt8])] = []
        for number in 0..<20_000 {
            var attributes = Attributes()
            // From none to more than one row has room for at first.
            for name in 0..<Int.random(in: 0...[3, 12, 90][number % 3], using: &generator) {
                let values: [AttributeValue] = [
                    .int(number), .bool(number.isMultiple(of: 2)), .double(Double(number % 7) + 0.5),
                    "a text of several words",
                    .string("text \(number % 5000)"), .string(String(repeating: "long", count: 70)),
                ]
                let isSkipped = Int.random(in: 0..<20, using: &generator) == 0
                let kind = Int.random(in: 0..<12, using: &generator) == 0 ? number : name
                if !isSkipped { attributes[AttributeName("n\(name)")] = values[kind % values.count] }
            }
            let event = Event(.ping, tracker: TrackerID(number % 11), time: time, attributes: attributes)
            let metric = Metric(.startTime, .int(number), of: event)
            var line = line(record(number, number.isMultiple(of: 5) ? .metric(metric) : .event(event)))
            // A torn line leaves a row that is filled in part.
            if number.isMultiple(of: 17) { line = Array(line.dropLast(Int.random(in: 1...60, using: &generator))) }
            guard let found = parse(line, &parser) else { continue }
            #expect(self.line(found) == line)
            #expect(found.sample.attributes.payloadSize == (try SampleLine.read(line).sample.attributes.payloadSize))
            if Bool.random(using: &generator) { kept.append((found, line)) }
        }
        #expect(kept.count > 5000)
        for (record, line) in kept { #expect(self.line(record) == line) }
    }

    @Test("More names, actions and texts than the parser keeps are read correctly")
    func manyNames() throws {
        var parser = SampleLineParser()
        for number in 0..<10_000 {
            let attributes: Attributes = [AttributeName("name \(number % 9000)"): .string("text \(number)"), "zero": 0]
            let event = Event(Action("Action \(number)"), tracker: TrackerID(0), time: time, attributes: attributes)
            let line = line(record(number, .event(event)))
            guard let found = parse(line, &parser) else { continue }
            #expect(self.line(found) == line)
        }
    }
}
