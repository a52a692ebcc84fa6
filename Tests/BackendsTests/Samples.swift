import Foundation
import Instrument
import InstrumentTestKit

/// Random samples with everything that attributes can hold.
enum Samples {
    static func record(_ number: Int, _ text: String = "text") -> SampleRecord {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: Int64(number)), wallTime: WallTime(milliseconds: 9))
        let event = Event(
            .ping,
            tracker: TrackerID(1),
            time: time,
            attributes: ["n": .int(number), "text": .string(text)]
        )
        return SampleRecord(
            id: SampleID(log: 5, sequence: UInt64(number)),
            sequence: UInt64(number),
            sample: .event(event)
        )
    }

    static func batch(_ range: Range<Int>) -> Batch { Batch(records: range.map { record($0) }) }

    static func random(_ number: Int, _ generator: inout SeededGenerator) -> SampleRecord {
        let time = Timestamp(
            instant: MonotonicInstant(nanoseconds: .random(in: .min ... .max, using: &generator)),
            wallTime: WallTime(milliseconds: .random(in: -1 << 50...1 << 50, using: &generator))
        )
        var attributes = Attributes()
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            attributes[AttributeName(string(&generator))] = value(depth: 0, &generator)
        }
        let tracker = TrackerID(.random(in: 0...5, using: &generator))
        let sample: Sample
        if Bool.random(using: &generator) {
            sample = .event(Event(Action(string(&generator)), tracker: tracker, time: time, attributes: attributes))
        } else {
            let value: Metric.Value =
                Bool.random(using: &generator)
                ? .int(.random(in: .min ... .max, using: &generator)) : .double(double(&generator))
            let name = MetricName(string(&generator), .gauge, unit: .ratio)
            sample = .metric(Metric(name, value, tracker: tracker, time: time, attributes: attributes))
        }
        let id = SampleID(log: generator.next(), sequence: UInt64(number))
        return SampleRecord(id: id, sequence: UInt64(number), sample: sample)
    }

    static func value(depth: Int, _ generator: inout SeededGenerator) -> AttributeValue {
        switch Int.random(in: 0..<(depth < 3 ? 6 : 4), using: &generator) {
        case 0: .string(string(&generator))
        case 1: .int([0, -1, .max, .min, 42][Int.random(in: 0..<5, using: &generator)])
        case 2: .double(double(&generator))
        case 3: .bool(.random(using: &generator))
        case 4: .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth: depth + 1, &generator) })
        default:
            .object(
                Dictionary(
                    (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                        (string(&generator), value(depth: depth + 1, &generator))
                    }
                ) { first, _ in first }
            )
        }
    }

    static func double(_ generator: inout SeededGenerator) -> Double {
        let special = [
            0, -0.0, 1, 1e300, -1e-300, Double.leastNonzeroMagnitude, 0.1, 1e21, 123456789012345680,
            Double.greatestFiniteMagnitude,
        ]
        if Bool.random(using: &generator) { return special[Int.random(in: 0..<special.count, using: &generator)] }
        let value = Double(bitPattern: generator.next())
        return value.isFinite ? value : 1.5
    }

    static func string(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "\"", "\\", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "日本", "😀", "\u{2028}", "/", " ", "e\u{301}",
        ]
        return (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        }.joined()
    }
}

/// A directory that is gone after the test.
final class Scratch: Sendable {
    let path: String
    init() throws {
        path = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func file(_ name: String) -> String { path + "/" + name }
    func bytes(_ name: String) -> [UInt8] { Array(FileManager.default.contents(atPath: file(name)) ?? Data()) }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}
