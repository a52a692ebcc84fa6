import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import QueueTorture
import Testing

@testable import InstrumentDurableQueue

/// Segments with random damage, and hostile segments.
@Suite("Damaged segments")
struct DamagedSegmentTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// A segment's bytes, and the offsets of its records.
    struct Original {
        var bytes: [UInt8]
        /// Without the padding to a multiple of eight, which no checksum covers.
        var records: [Range<Int>] = []

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var offset = SegmentHeader.size
            while offset + 16 < bytes.count, case let length = Self.word(bytes, offset) & 0xFFFF_FFFF, length > 0 {
                records.append(offset..<offset + 16 + Int(length))
                offset = (offset + 16 + Int(length) + 7) & ~7
            }
        }

        static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
            bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        }

        /// The sequence numbers of the complete records anywhere in other bytes.
        func whole(in damaged: [UInt8]) -> [Int] {
            var numbers: [UInt64: Int] = [:]
            // Checksum and sequence number identify a record.
            for (number, record) in records.enumerated() { numbers[Self.word(bytes, record.lowerBound)] = number }
            var found: Set<Int> = []
            for offset in stride(from: 0, to: damaged.count - 16, by: 8) {
                guard let number = numbers[Self.word(damaged, offset)] else { continue }
                let end = offset + records[number].count
                if end <= damaged.count, damaged[offset..<end].elementsEqual(bytes[records[number]]) {
                    found.insert(number)
                }
            }
            return found.sorted()
        }
    }

    func open(_ name: String) throws -> DurableStore {
        try DurableStore(
            directory: scratch.path + "/" + name,
            configuration: DurableConfiguration(segmentSize: 64 << 10)
        )
    }

    /// A directory whose only segment is sealed and almost full.
    func makeQueue(_ count: Int = 500) throws -> (segment: String, original: Original) {
        let store = try open("queue")
        store.attach("one")
        for number in 0..<count {
            let time = Timestamp(instant: MonotonicInstant(nanoseconds: 1), wallTime: WallTime(milliseconds: 1))
            let text = String(repeating: "x", count: number % 90)
            let attributes: Attributes = ["number": .int(number), "text": .string(text)]
            _ = try store.append([.event(Event(.ping, tracker: TrackerID(0), time: time, attributes: attributes))])
        }
        store.close()
        let segment = try #require(scratch.files(".segment").first)
        let original = Original(Array(try Data(contentsOf: URL(fileURLWithPath: segment))))
        #expect(original.records.count == count && scratch.files(".segment").count == 1)
        return (segment, original)
    }

    enum Damage: CaseIterable {
        case flips, swaps, copies, zeroes, noise, shifts
    }

    /// Damages bytes after the header, in one or several ways.
    static func damage(_ bytes: inout [UInt8], _ kinds: [Damage], _ generator: inout SeededGenerator) {
        let page = 4096
        // The header's page is not moved, because it identifies the segment.
        let pages = Array(stride(from: page, to: bytes.count - page, by: page))
        for kind in kinds {
            let (one, other) = (
                pages.randomElement(using: &generator) ?? 0, pages.randomElement(using: &generator) ?? 0
            )
            switch kind {
            case .flips:
                for _ in 0..<Int.random(in: 1...20, using: &generator) {
                    let offset = Int.random(in: SegmentHeader.size..<bytes.count, using: &generator)
                    bytes[offset] ^= UInt8.random(in: 1...255, using: &generator)
                }
            case .swaps:
                let kept = Array(bytes[one..<one + page])
                bytes.replaceSubrange(one..<one + page, with: Array(bytes[other..<other + page]))
                bytes.replaceSubrange(other..<other + page, with: kept)
            case .copies: bytes.replaceSubrange(one..<one + page, with: Array(bytes[other..<other + page]))
            case .zeroes: bytes.replaceSubrange(one..<one + page, with: [UInt8](repeating: 0, count: page))
            case .noise: for index in one..<one + page { bytes[index] = .random(in: 0...255, using: &generator) }
            case .shifts:
                // A changed length, and the bytes after it.
                let offset = Int.random(in: SegmentHeader.size / 8..<bytes.count / 8, using: &generator) * 8
                for index in offset..<min(offset + 4, bytes.count) {
                    bytes[index] = .random(in: 0...255, using: &generator)
                }
            }
        }
    }

    @Test("Random damage loses only the damaged samples: pages swapped, duplicated, zeroed, bytes flipped")
    func random() throws {
        let (segment, original) = try makeQueue()
        let queue = scratch.path + "/queue"
        try FileManager.default.copyItem(atPath: queue, toPath: scratch.path + "/saved")
        var generator = SeededGenerator(seed: TortureSettings.seed)
        for round in 0..<(TortureSettings.isLong ? 2000 : 120) {
            var bytes = original.bytes
            var kinds = [Damage.allCases[round % Damage.allCases.count]]
            for _ in 0..<(round % 4) { kinds.append(Damage.allCases.randomElement(using: &generator) ?? .flips) }
            Self.damage(&bytes, kinds, &generator)
            try FileManager.default.removeItem(atPath: queue)
            try FileManager.default.copyItem(atPath: scratch.path + "/saved", toPath: queue)
            try Data(bytes).write(to: URL(fileURLWithPath: segment))
            let expected = original.whole(in: bytes)
            let store = try open("queue")
            let numbers = NumberedSamples.numbers(NumberedSamples.drain(store))
            #expect(numbers == expected, "seed \(TortureSettings.seed), round \(round), \(kinds)")
            let ledger = store.ledger(of: "one")
            #expect(
                (ledger.emitted, ledger.acknowledged, ledger.dropped) == (500, expected.count, 500 - expected.count)
            )
            store.close()
        }
    }

    @Test("A segment that a crash left open ends after its last complete record")
    func unsealed() throws {
        let (segment, original) = try makeQueue()
        let queue = scratch.path + "/queue"
        try FileManager.default.copyItem(atPath: queue, toPath: scratch.path + "/saved")
        var generator = SeededGenerator(seed: TortureSettings.seed)
        for round in 0..<60 {
            var bytes = original.bytes
            // Not sealed, with free bytes after the end.
            bytes.replaceSubrange(32..<56, with: [UInt8](repeating: 0, count: 24))
            let kinds = [Damage.flips, .swaps, .zeroes, .noise][round % 4]
            Self.damage(&bytes, [kinds], &generator)
            bytes += [UInt8](repeating: 0, count: (64 << 10) - bytes.count)
            try FileManager.default.removeItem(atPath: queue)
            try FileManager.default.copyItem(atPath: scratch.path + "/saved", toPath: queue)
            try Data(bytes).write(to: URL(fileURLWithPath: segment))
            let expected = original.whole(in: bytes)
            let store = try open("queue")
            let numbers = NumberedSamples.numbers(NumberedSamples.drain(store))
            #expect(numbers == expected, "seed \(TortureSettings.seed), round \(round), \(kinds)")
            _ = try store.append([NumberedSamples.sample(1000)])
            #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == [1000])
            let ledger = store.ledger(of: "one")
            #expect(ledger.emitted == ledger.settled)
            store.close()
        }
    }

    @Test("A header page in the place of another page loses only the records that it splits", arguments: 1...6)
    func headerPage(page: Int) throws {
        let (segment, original) = try makeQueue()
        var bytes = original.bytes
        let (first, other) = (Array(bytes[..<4096]), Array(bytes[page * 4096..<(page + 1) * 4096]))
        bytes.replaceSubrange(..<4096, with: other)
        bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: first)
        try Data(bytes).write(to: URL(fileURLWithPath: segment))
        let expected = original.whole(in: bytes)
        let store = try open("queue")
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == expected)
        #expect(expected.count > 480)
        #expect(store.ledger(of: "one").emitted == store.ledger(of: "one").settled)
    }

    @Test("A page of another log in a segment that a crash left open hides no later sample, and changes no number")
    func stalePage() throws {
        let (segment, original) = try makeQueue(300)
        var bytes = original.bytes
        bytes.replaceSubrange(32..<56, with: [UInt8](repeating: 0, count: 24))
        // Complete records with far larger sequence numbers, in the place of a page.
        let other = try Self.records(numbered: 2000, count: 20)
        bytes.replaceSubrange(8192..<8192 + other.count, with: other)
        let expected = original.whole(in: bytes)
        bytes += [UInt8](repeating: 0, count: 100_000 - bytes.count)
        try Data(bytes).write(to: URL(fileURLWithPath: segment))
        let store = try open("queue")
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == expected)
        #expect(expected.count > 200 && expected.last == 299)
        #expect(store.ledger(of: "one").emitted == 300)
    }

    /// Complete records in the format of a segment.
    static func records(numbered first: UInt64, count: Int) throws -> [UInt8] {
        let scratch = try Scratch()
        let segment = try Segment(creating: scratch.path + "/made", capacity: 1 << 16)
        var offset = SegmentHeader.size
        for number in 0..<count {
            let payload = SampleEncoder.bytes(of: NumberedSamples.sample(number))
            let record = RecordFormat.bytes(of: payload, sequence: first + UInt64(number))
            record.withUnsafeBytes { segment.copy($0, to: offset) }
            offset += record.count
        }
        return Array(
            UnsafeRawBufferPointer(start: segment.base + SegmentHeader.size, count: offset - SegmentHeader.size)
        )
    }

    @Test("A search takes work in proportion to the segment's size, with any content", arguments: [18, 20])
    func work(bits: Int) {
        let size = 1 << bits
        for length in [1, 8, 24, 200, 255, 256, 1000, 4096, size / 8, size / 2, size - 100] {
            // Each word looks like the beginning of a record of that length, and like a sequence number.
            let words = [UInt64](repeating: UInt64(length), count: size / 8)
            let index = words.withUnsafeBytes { RecordIndex(of: $0, first: 0, origin: 0, end: nil) }
            #expect(index.checkedBytes <= 26 * size, "length \(length)")
        }
    }

    @Test(
        "A search finds the same records as a complete check of every offset",
        arguments: [3, 60, 64, 500, 4000, 40_000]
    )
    func checksums(length: Int) throws {
        var generator = SeededGenerator(seed: UInt64(length))
        for _ in 0..<20 {
            let scratch = try Scratch()
            let segment = try Segment(creating: scratch.path + "/made", capacity: 1 << 17)
            var expected: [RecordIndex.Entry] = []
            // Noise, a record, noise, another one; a third one is damaged.
            for offset in 0..<1 << 14 {
                segment.base.storeBytes(of: generator.next(), toByteOffset: offset * 8, as: UInt64.self)
            }
            var offset = SegmentHeader.size
            for number in 0..<3 {
                offset += 8 * Int.random(in: 0..<300, using: &generator)
                let end = offset + 16 + length - Int.random(in: 0..<min(length, 8), using: &generator)
                if end > segment.capacity { break }
                RecordFormat.finish(segment.base, recordAt: offset, end: end, sequence: UInt64(number))
                RecordFormat.commit(segment.base, recordAt: offset, end: end)
                if number == 2 {
                    let flipped = Int.random(in: offset + 16..<end, using: &generator)
                    segment.base.storeBytes(
                        of: segment.base.load(fromByteOffset: flipped, as: UInt8.self) ^ 1,
                        toByteOffset: flipped,
                        as: UInt8.self
                    )
                } else {
                    expected.append(RecordIndex.Entry(sequence: UInt64(number), offset: offset))
                }
                offset = (end + 7) & ~7
            }
            let bytes = UnsafeRawBufferPointer(start: segment.base, count: segment.capacity)
            #expect(RecordIndex(of: bytes, first: 0, origin: 0, end: 3).entries == expected)
        }
    }

    @Test("A hostile segment opens, and its complete records are delivered", arguments: [false, true])
    func crafted(isSealed: Bool) throws {
        let (segment, original) = try makeQueue()
        var bytes = Array(original.bytes.prefix(8192))
        if !isSealed { bytes.replaceSubrange(32..<56, with: [UInt8](repeating: 0, count: 24)) }
        let expected = original.whole(in: bytes)
        // The largest possible number of record beginnings, each with the length of the remaining bytes.
        var word = UInt64((1 << 19) / 2)
        let filler = withUnsafeBytes(of: &word) { Array($0) }
        for _ in 0..<(1 << 19) / 8 { bytes += filler }
        try Data(bytes).write(to: URL(fileURLWithPath: segment))
        let store = try open("queue")
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == expected)
        _ = try store.append([NumberedSamples.sample(1000)])
        #expect(NumberedSamples.numbers(NumberedSamples.drain(store)) == [1000])
        let ledger = store.ledger(of: "one")
        #expect(ledger.emitted == ledger.settled)
        #expect(ledger.emitted == (isSealed ? 501 : expected.count + 1))
    }

    @Test("A truncated segment never reuses the sequence numbers of the samples after the cut")
    func numbersOfTheLost() throws {
        let (segment, original) = try makeQueue()
        try Data(original.bytes.prefix(10_000)).write(to: URL(fileURLWithPath: segment))
        let store = try open("queue")
        _ = try store.append([NumberedSamples.sample(1000)])
        let records = NumberedSamples.drain(store)
        #expect(records.last?.sequence == 500)
        #expect(store.ledger(of: "one").emitted == 501 && store.ledger(of: "one").acknowledged == records.count)
    }

    @Test("A file that is truncated while it is read loses the samples after the cut, and the process survives")
    func cutWhileInUse() throws {
        let store = try open("queue")
        store.attach("one")
        for number in 0..<400 { _ = try store.append([NumberedSamples.sample(number)]) }
        try store.synchronize()
        let segments = scratch.files(".segment")
        #expect(truncate(try #require(segments.first), 5000) == 0)
        let numbers = NumberedSamples.numbers(NumberedSamples.drain(store))
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(!numbers.isEmpty && numbers.count < 400)
        let ledger = store.ledger(of: "one")
        #expect((ledger.emitted, ledger.settled) == (400, 400))
    }
}
