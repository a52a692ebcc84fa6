import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentDurableQueue

@Suite("Record format")
struct CodecTests {
    @Test("Every sample is equal after decoding, including its action's time attribute", arguments: 1...20)
    func roundTrip(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<100 {
            let sample = RandomSamples.sample(&generator)
            let bytes = SampleEncoder.bytes(of: sample)
            let read = try bytes.withUnsafeBytes { try SampleDecoder.read($0) }
            #expect(read == sample)
            if case .event(let event) = sample, case .event(let readEvent) = read {
                #expect(event.action.timeAttribute == readEvent.action.timeAttribute)
            }
        }
    }

    @Test("A writer writes the same bytes in any memory that has room, and nothing behind the end", arguments: 1...5)
    func room(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<20 {
            let sample = RandomSamples.sample(&generator)
            let expected = SampleEncoder.bytes(of: sample)
            var encoder = SampleEncoder()
            // The second time, names are known.
            for capacity in [expected.count + 70] + Array(max(0, expected.count - 60)...expected.count + 70) {
                var memory = [UInt8](repeating: 0xA5, count: capacity + 64)
                let (count, didOverflow) = memory.withUnsafeMutableBytes { buffer -> (Int, Bool) in
                    guard let base = buffer.baseAddress else { return (0, true) }
                    var writer = RecordWriter(base: base, offset: 0, capacity: capacity)
                    encoder.write(sample, to: &writer)
                    return (writer.offset, writer.didOverflow)
                }
                #expect(memory[capacity...].allSatisfy { $0 == 0xA5 })
                #expect(didOverflow || Array(memory[..<count]) == expected)
                #expect(!didOverflow || capacity < expected.count + 32)
            }
        }
    }

    @Test("A decoder that has read other records reads each record as a new decoder does", arguments: 1...10)
    func memory(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: WallTime(milliseconds: 7))
        var decoder = SampleDecoder()
        for round in 0..<300 {
            var sample = RandomSamples.sample(&generator)
            if round % 2 == 0 {
                // Names of every length around the limit of the memory, more than it has places, and other identifiers.
                var attributes = Attributes()
                for _ in 0..<20 {
                    let length = Int.random(in: 0...40, using: &generator)
                    let name = String(repeating: "n", count: length) + String(Int.random(in: 0..<50, using: &generator))
                    attributes[AttributeName(name)] = .string(UUIDBytes(high: generator.next(), low: 7).text)
                }
                attributes[.playbackId] = UUIDBytes(high: UInt64(round % 40), low: 1).text
                sample =
                    round % 4 == 0
                    ? .event(Event(.ping, tracker: TrackerID(3), time: time, attributes: attributes))
                    : .metric(
                        Metric(
                            MetricName("Own\(round % 36)", round % 3 == 0 ? .gauge : .counter, unit: .ratio),
                            .int(round),
                            tracker: TrackerID(3),
                            time: time,
                            attributes: attributes
                        )
                    )
            }
            let bytes = SampleEncoder.bytes(of: sample)
            #expect(try bytes.withUnsafeBytes { try decoder.read($0) } == sample)
        }
    }

    @Test("An encoder that has written other samples writes each as a new encoder does", arguments: 1...10)
    func encoderMemory(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var encoder = SampleEncoder()
        for round in 0..<300 {
            var sample = RandomSamples.sample(&generator)
            if round % 2 == 0 {
                // Heads, actions, names of metrics, UUIDs and texts that come again, and that nearly do.
                var attributes = Attributes()
                attributes[.streamId] = UUIDBytes(high: UInt64(round % 6), low: 1).text
                attributes[.playbackId] = String(repeating: "x", count: Int.random(in: 30...300, using: &generator))
                attributes[.senderId] = String(repeating: "é", count: 18)
                let tracker = TrackerID(round % 3)
                let instant = MonotonicInstant(nanoseconds: round % 12 < 6 ? 7 : Int64(round))
                let time = Timestamp(instant: instant, wallTime: WallTime(milliseconds: round % 24 < 12 ? .min : .max))
                let (kind, unit): (MetricName.Kind, MetricName.Unit) =
                    round % 8 < 4 ? (.gauge, .ratio) : (.counter, .perMinute)
                let action = Action("Own\(round % 5)", timeAttribute: AttributeName("since\(round % 4)"))
                sample =
                    round % 4 == 0
                    ? .event(Event(action, tracker: tracker, time: time, attributes: attributes))
                    : .metric(
                        Metric(
                            MetricName("Own\(round % 36)", kind, unit: unit),
                            .int(round),
                            tracker: tracker,
                            time: time,
                            attributes: attributes
                        )
                    )
            }
            #expect(encoder.bytes(of: sample) == SampleEncoder.bytes(of: sample))
        }
    }

    @Test("A decoder with a memory refuses the same damaged records as a new decoder")
    func damagedMemory() {
        var generator = SeededGenerator(seed: 11)
        var decoder = SampleDecoder()
        for _ in 0..<3000 {
            var bytes = SampleEncoder.bytes(of: RandomSamples.sample(&generator))
            for _ in 0..<3 {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
            let fresh = bytes.withUnsafeBytes { try? SampleDecoder.read($0) }
            let remembered = bytes.withUnsafeBytes { try? decoder.read($0) }
            #expect(SampleEncoder.bytes(of: fresh) == SampleEncoder.bytes(of: remembered))
        }
    }

    @Test("Record format 1 is unchanged")
    func golden() throws {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: WallTime(milliseconds: 7))
        var attributes = Attributes()
        attributes[.bitrate] = 300
        attributes[.adSystem] = "x"
        attributes["timeSinceAdError"] = -1
        attributes["own"] = .array([true, 0.5])
        attributes[.streamId] = "00112233-4455-4677-8899-AABBCCDDEEFF"
        let event = Event(.adError, tracker: TrackerID(3), time: time, attributes: attributes)
        let expected: [UInt8] = [
            0, 6, 10, 14, 39, 5,
            26, 2, 0xD8, 0x04,
            47, 4, 1, 0x78,
            86, 2, 1,
            0, 3, 0x6F, 0x77, 0x6E, 6, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F,
            2, 5, 0x77, 0x46, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88,
        ]
        #expect(SampleEncoder.bytes(of: .event(event)) == expected)
        #expect(try expected.withUnsafeBytes { try SampleDecoder.read($0) } == .event(event))
    }

    @Test("The service of a sample is stored as earlier builds stored it")
    func service() throws {
        let time = Timestamp(instant: MonotonicInstant(nanoseconds: 5), wallTime: WallTime(milliseconds: 7))
        let event = Event(.adError, tracker: TrackerID(3), time: time)
        let earlier: [UInt8] =
            [0, 6, 10, 14, 39, 1, 0, 20] + Array("instrument.addressee".utf8) + [4, 4] + Array("sift".utf8)
        #expect(SampleEncoder.bytes(of: Sample.event(event).addressed(to: "sift")) == earlier)
        let read = try earlier.withUnsafeBytes { try SampleDecoder.read($0) }
        let record = SampleRecord(id: SampleID(log: 1, sequence: 0), sequence: 0, sample: read)
        #expect(record.service == "sift")
        #expect(record.sample == .event(event))
        #expect(SampleEncoder.bytes(of: record.storedSample) == earlier)
    }

    @Test("Damaged bytes are refused or decoded, and never trap")
    func fuzz() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<3000 {
            var bytes = SampleEncoder.bytes(of: RandomSamples.sample(&generator))
            for _ in 0..<3 {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            _ = bytes.withUnsafeBytes { try? SampleDecoder.read($0) }
        }
    }
}

extension SampleEncoder {
    /// The bytes of a sample, which tell values apart that are not equal to themselves; nil without a sample.
    fileprivate static func bytes(of sample: Sample?) -> [UInt8]? { sample.map { bytes(of: $0) } }

    /// The bytes of a sample, written with this encoder's memory.
    fileprivate mutating func bytes(of sample: Sample) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = 0
            guard let base = buffer.baseAddress else { return }
            var writer = RecordWriter(base: base, offset: 0, capacity: buffer.count)
            write(sample, to: &writer)
            count = writer.offset
        }
    }
}
