import Foundation
import Instrument
import InstrumentBackends
import InstrumentCompression
import InstrumentTestKit
import LoopbackServers
import Synchronization
import TestTraits
import Testing

@testable import InstrumentReplay

@Suite("Replay reader", .ownThread)
struct ReplayReaderTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func write(_ records: [SampleRecord], to name: String, more bytes: [UInt8] = []) throws -> String {
        try write(bytes: JSONLines.encode(records) + bytes, to: name)
    }

    private func write(bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(name)))
        return scratch.file(name)
    }

    private func read(
        _ paths: [String],
        order: ReplayReader.Order = .input,
        maxLineLength: Int = 16 << 20,
        window: Int = SequenceOrder.window
    ) throws -> (numbers: [UInt64], problems: [String], reader: ReplayReader) {
        let problems = Mutex<[String]>([])
        let reader = ReplayReader(
            try ReplayInput.all(named: paths),
            order: order,
            maxLineLength: maxLineLength,
            window: window
        ) { problem in problems.withLock { $0.append(problem.description) } }
        var numbers: [UInt64] = []
        while let sample = try reader.next() { numbers.append(sample.record.sequence) }
        return (numbers, problems.withLock { $0 }, reader)
    }

    @Test("Rotated files are read before the current file, in the order of their numbers")
    func rotated() async throws {
        let configuration = FileConfiguration(compression: .gzip, rotation: .init(maxBytes: 1))
        let backend = try FileBackend(path: scratch.file("s.ndjson.gz"), configuration: configuration)
        for number in 0..<12 { _ = await backend.deliver(Batch(records: [Recording.record(number)])) }
        await backend.end()
        #expect(scratch.names.count == 12)
        let (numbers, problems, _) = try read([scratch.file("s.ndjson.gz")])
        #expect(numbers == Array(0..<12))
        #expect(problems.isEmpty)
        let named = try read([scratch.file("s.000003.ndjson.gz"), scratch.file("s.ndjson.gz")])
        #expect(named.numbers == Array(0..<12))
        #expect(named.reader.reorderedCount == 2)
    }

    @Test("Damaged lines are reported with file and number, counted, and skipped")
    func damaged() throws {
        let bytes = Array("{\"id\": broken\n\n".utf8) + JSONLines.encode([Recording.record(1)]) + [0xFF, 0x0A]
        let path = try write([Recording.record(0)], to: "s.ndjson", more: bytes)
        let (numbers, problems, reader) = try read([path])
        #expect(numbers == [0, 1])
        #expect(reader.problemCount == 2)
        #expect(problems.count == 2)
        #expect(problems.first?.hasPrefix("\(path), line 2: not valid JSON") == true)
        #expect(problems.last?.hasPrefix("\(path), line 5: not valid JSON") == true)
    }

    @Test("All problems are counted and reported, however many there are")
    func manyProblems() throws {
        let path = try write(bytes: Array(String(repeating: "x\n", count: 5000).utf8), to: "s.ndjson")
        let (_, problems, reader) = try read([path])
        #expect(reader.problemCount == 5000)
        #expect(problems.count == 5000)
        #expect(Set(problems).count == 5000)
    }

    @Test("A line beyond the limit is reported once and skipped")
    func longLine() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000) + [0x0A]
        let path = try write(
            [Recording.record(0)],
            to: "s.ndjson",
            more: long + JSONLines.encode([Recording.record(1)])
        )
        let (numbers, problems, _) = try read([path], maxLineLength: 10_000)
        #expect(numbers == [0, 1])
        #expect(problems == ["\(path), line 2: longer than 10000 bytes"])
    }

    @Test("A complete sample without a line feed at the end counts; a torn line is reported")
    func openEnd() throws {
        let whole = JSONLines.encode([Recording.record(0), Recording.record(1)])
        let path = try write(bytes: whole.dropLast(), to: "s.ndjson")
        #expect(try read([path]).numbers == [0, 1])
        let torn = try write(bytes: whole.dropLast(9), to: "t.ndjson")
        let (numbers, problems, _) = try read([torn])
        #expect(numbers == [0])
        #expect(problems == ["\(torn), line 2: the last line is torn"])
        let other = try write(bytes: Array("{\"rows\": []}".utf8), to: "o.ndjson")
        #expect(try read([other]).problems == ["\(other), line 1: id is missing or has the wrong type"])
    }

    @Test("A cut-off gzip file gives every complete line, with a report", arguments: [1, 7, 20, 60])
    func cutOffGzip(missing: Int) throws {
        let members = try (0..<5).map {
            try #require(Gzip.compress(JSONLines.encode((0..<200).map(Recording.record(from: $0)))))
        }
        let path = try write(bytes: members.joined().dropLast(missing) + [], to: "s.gz")
        let (numbers, problems, _) = try read([path])
        #expect(numbers.starts(with: 0..<800))
        #expect(numbers.count <= 1000)
        #expect(problems.last?.contains("torn") == true)
    }

    @Test("A sample that is recorded twice is returned once, in one file and over several files")
    func duplicates() throws {
        let first = try write((0..<50).map(Recording.record) + (30..<60).map(Recording.record), to: "a.ndjson")
        let second = try write((40..<80).map(Recording.record), to: "b.ndjson")
        let (numbers, _, reader) = try read([first, second])
        #expect(numbers == Array(0..<80))
        #expect(reader.duplicateCount == 40)
        #expect(reader.sampleCount == 80)
    }

    @Test("Samples of other producers are distinguished by their identifiers alone")
    func foreignIdentifiers() throws {
        let identifiers = (0..<100).map { SampleID(high: UInt64($0) << 40 | 0x4000, low: 0x8000_0000_0000_0000) }
        let records = (identifiers + identifiers).map {
            SampleRecord(id: $0, sequence: 0, sample: Recording.record(0).sample)
        }
        let (numbers, _, reader) = try read([try write(records, to: "s.ndjson")])
        #expect(numbers.count == 100)
        #expect(reader.duplicateCount == 100)
    }

    @Test("A log that was split into parts is merged into the log again", arguments: [1, 2, 3, 4, 5])
    func splitLog(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // The clock is set back twice, and many samples have one time.
        let records = (0..<400).map {
            Recording.record($0, at: Int64($0 / 10) - ($0 > 150 ? 30 : 0) - ($0 > 300 ? 30 : 0))
        }
        var parts = [[SampleRecord]](repeating: [], count: 7)
        for record in records { parts[Int.random(in: 0..<7, using: &generator)].append(record) }
        let paths = try parts.enumerated().map { try write($1, to: "part-\($0).ndjson") }.shuffled(using: &generator)
        #expect(try read(paths, order: .time).numbers == Array(0..<400))
    }

    @Test("Logs of several processes are merged by time, and the order within each stays")
    func mergedLogs() throws {
        let logs = (1...3).map { log in
            (0..<100).map { Recording.record($0, log: UInt64(log), at: Int64($0 * log + log)) }
        }
        let paths = try logs.enumerated().map { try write($1, to: "log-\($0).ndjson") }
        let reader = ReplayReader(try ReplayInput.all(named: paths), order: .time)
        var times: [Int64] = []
        var numbers = [[UInt64]](repeating: [], count: 3)
        while let sample = try reader.next() {
            times.append(sample.record.sample.time.wallTime.milliseconds)
            numbers[sample.input].append(sample.record.sequence)
        }
        #expect(times == times.sorted())
        #expect(numbers == [[UInt64]](repeating: Array(0..<100), count: 3))
    }

    @Test("Samples are returned in the order of their numbers, and the reader counts what was not", arguments: 1...5)
    func shuffled(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let records = (0..<2000).map(Recording.record).filter { $0.sequence % 500 != 77 }
        let path = try write(records.shuffled(using: &generator) + records.prefix(9), to: "s.ndjson")
        let (numbers, _, reader) = try read([path])
        #expect(numbers == records.map(\.sequence))
        #expect(reader.reorderedCount > 1000)
        #expect(reader.missingCount == 4 && reader.duplicateCount == 9 && reader.lateCount == 0)
        #expect(try read([path], order: .time).numbers == numbers)
    }

    @Test("Two parts of a log, each with every other sample, are one log again")
    func partitions() throws {
        let paths = try (0..<2).map { part in
            try write((0..<500).map { Recording.record(2 * $0 + part) }, to: "part-\(part).ndjson")
        }
        let (numbers, _, reader) = try read(paths)
        #expect(numbers == Array(0..<1000))
        #expect(reader.missingCount == 0)
    }

    @Test("A sample that comes after the window is returned out of order and counted as late")
    func late() throws {
        let records = (1..<300).map(Recording.record) + [Recording.record(0)]
        let (numbers, _, reader) = try read([try write(records, to: "s.ndjson")], window: 100)
        #expect(numbers == Array(1..<300) + [0])
        #expect(reader.lateCount == 1 && reader.reorderedCount == 0)
    }

    @Test("A log with gaps keeps its order and needs no more samples in memory than the window")
    func gaps() throws {
        let records = (0..<1000).map { Recording.record(3 * $0) }
        let (numbers, _, reader) = try read([try write(records, to: "s.ndjson")], window: 10)
        #expect(numbers == records.map(\.sequence))
        #expect(reader.missingCount == 1998 && reader.reorderedCount == 0 && reader.lateCount == 0)
    }

    @Test("A sample that continues its log is returned before the next one is read")
    func noDelay() {
        var order = SequenceOrder()
        #expect(order.add((Recording.record(0), 0), isOfLog: true)?.record.sequence == 0)
        #expect(order.add((Recording.record(1), 0), isOfLog: true)?.record.sequence == 1)
        #expect(order.add((Recording.record(3), 0), isOfLog: true) == nil)
        #expect(order.next(isAtEnd: false) == nil)
        #expect(order.add((Recording.record(2), 0), isOfLog: true) == nil)
        #expect(order.next(isAtEnd: false)?.record.sequence == 2)
        #expect(order.next(isAtEnd: false)?.record.sequence == 3)
        #expect(order.add((Recording.record(4), 0), isOfLog: true)?.record.sequence == 4)
    }

    @Test("Samples of other producers are ordered for each instrument; a number that begins again begins a new log")
    func foreignOrder() throws {
        var generator = SeededGenerator(seed: 7)
        func foreign(_ number: Int, at time: Int64, _ sender: String) -> SampleRecord {
            guard case .event(var event) = Recording.record(Int(time), at: time).sample else {
                return Recording.record(0)
            }
            event[.senderId] = sender
            return SampleRecord(
                id: SampleID(high: generator.next() & ~0xF000 | 0x4000, low: generator.next() >> 2 | 1 << 63),
                sequence: UInt64(number),
                sample: .event(event)
            )
        }
        let first = (0..<6).map { foreign($0, at: Int64($0), "a-0") }
        let again = (0..<3).map { foreign($0, at: Int64(100 + $0), "a-0") }
        let other = foreign(0, at: 50, "b-0")
        let swapped = [first[1], first[0], first[2], first[4], other, first[3], first[5]] + again
        let (numbers, _, reader) = try read([try write(swapped, to: "s.ndjson")])
        #expect(numbers == [0, 1, 2, 3, 0, 4, 5, 0, 1, 2])
        #expect(reader.reorderedCount == 2 && reader.missingCount == 0)
    }

    @Test("A path that is neither a file nor a queue is refused with the reason")
    func wrongInputs() throws {
        #expect(throws: ReplayError.self) { try ReplayInput.all(named: [scratch.path]) }
        #expect(throws: ReplayError.self) { try ReplayInput.all(named: [scratch.file("missing")]) }
        #expect(try ReplayInput.all(named: ["-"]) == [.standardInput])
    }
}

@Suite("Ranges of numbers")
struct NumberRangesTests {
    @Test("A set of ranges holds exactly the numbers that were added, in any order", arguments: 0..<20)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (ranges, model) = (NumberRanges(), Set<UInt64>())
        for _ in 0..<500 {
            let number = UInt64.random(in: 0..<200, using: &generator)
            #expect(ranges.insert(number) == model.insert(number).inserted)
        }
        #expect(ranges.ranges.flatMap(Array.init) == model.sorted())
        #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
    }

    @Test("A set that is full of gaps forgets its smallest numbers, whatever the order", arguments: [true, false])
    func limit(isRising: Bool) {
        var ranges = NumberRanges()
        for number in 0..<70_000 { _ = ranges.insert(UInt64(isRising ? number : 70_000 - number) * 2) }
        #expect(ranges.ranges.count <= 65_536)
        #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
        let largest: UInt64 = isRising ? 139_998 : 140_000
        #expect(!ranges.insert(largest) && ranges.insert(largest - 1) && !ranges.insert(largest - 1))
    }

    @Test("The largest number can be added")
    func largest() {
        var ranges = NumberRanges()
        #expect(ranges.insert(.max) && ranges.insert(.max - 1) && !ranges.insert(.max))
        #expect(ranges.ranges == [UInt64.max - 1...UInt64.max])
    }
}
