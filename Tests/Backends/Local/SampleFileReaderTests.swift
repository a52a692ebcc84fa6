import Foundation
import Instrument
import InstrumentCompression
import InstrumentJSON
import InstrumentTestKit
import LoopbackServers
import Testing

@testable import InstrumentBackends

@Suite("Sample file reader")
struct SampleFileReaderTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func lines(_ range: Range<Int>) -> [UInt8] {
        JSONLines.encode(range.map { Samples.record($0) })
    }

    private func member(_ range: Range<Int>) throws -> [UInt8] { try #require(Gzip.compress(lines(range))) }

    private func read(_ bytes: [UInt8]) throws -> (records: [SampleRecord], problems: [SampleFileReader.Problem]) {
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s")))
        return try readAll(scratch.file("s"))
    }

    @Test("A damaged batch of a compressed file costs that batch; the others are read")
    func damagedMember() throws {
        let (first, last) = (try member(0..<10), try member(20..<30))
        var middle = try member(10..<20)
        for index in middle.count / 3..<middle.count / 2 { middle[index] = 0xFF }
        let (records, problems) = try read(first + middle + last)
        let numbers = records.map(\.sequence)
        #expect(numbers.prefix(10) == ArraySlice(0..<10))
        #expect(numbers.suffix(10) == ArraySlice(20..<30))
        #expect(numbers.count < 30)
        #expect(problems.contains { $0.reason.contains("damaged") })
    }

    @Test("A wrong checksum is reported, and the batch after it is read", arguments: [4090, 4093, 4094, 4095, 4096])
    func wrongChecksum(end: Int) throws {
        // The member ends about where the reader's piece does.
        var first = try #require(Gzip.compress(incompressible(upTo: end)))
        first[first.count - 8] ^= 1
        let (records, problems) = try read(first + member(5..<6))
        #expect(records.map(\.sequence) == [5])
        #expect(problems.contains { $0.reason.contains("compressed data is damaged") })
    }

    /// Bytes that gzip packs into about `size`, in one line that is no sample.
    private func incompressible(upTo size: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(size))
        var bytes: [UInt8] = []
        while (Gzip.compress(bytes)?.count ?? size) < size {
            bytes.append(UInt8.random(in: 0x80...0xFF, using: &generator))
        }
        return bytes
    }

    /// The sample of a number in other forms than a file backend writes.
    private func object(_ number: Int) throws -> JSONValue { try JSONValue(parsing: lines(number..<number + 1)) }

    @Test("A byte order mark of UTF-8 costs no sample, also between joined files, plain and compressed")
    func byteOrderMark() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = mark + lines(0..<3) + mark + lines(3..<5)
        for bytes in [text, try #require(Gzip.compress(text))] {
            let (records, problems) = try read(bytes)
            #expect(records == (0..<5).map { Samples.record($0) })
            #expect(problems.isEmpty)
        }
    }

    @Test(
        "UTF-16 is refused with the way to convert it",
        arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian]
    )
    func utf16(encoding: String.Encoding) throws {
        let text = "\u{FEFF}" + String(decoding: lines(0..<3), as: UTF8.self)
        let (records, problems) = try read(Array(try #require(text.data(using: encoding))))
        #expect(records.isEmpty)
        #expect(problems.count == 1 && problems.first?.line == 1)
        #expect(problems.first?.reason.contains("iconv") == true)
    }

    @Test("A line with several objects, or with marks around one, gives all its samples")
    func severalObjects() throws {
        let objects = try (0..<4).map { try object($0).description }
        let records = (0..<4).map { Samples.record($0) }
        for text in [
            // Two files that were joined where the first one has no last line feed; the lines of an array; RFC 7464.
            objects[0] + "\n" + objects[1] + objects[2] + "\n" + objects[3], objects.joined(),
            objects.joined(separator: ",\n") + ",\n", objects.map { "\u{1E}" + $0 + "\n" }.joined(),
            objects.map { " " + $0 + " \r\n \r\n" }.joined(),
        ] {
            let found = try read(Array((text + "\n").utf8))
            #expect(found.records == records, "\(text)")
            #expect(found.problems.isEmpty, "\(found.problems)")
        }
        // A torn object in front costs the line, and says so.
        let torn = try read(Array((objects[0].prefix(30) + objects[1] + "\n" + objects[2] + "\n").utf8))
        #expect(torn.records == [records[2]] && torn.problems.count == 1)
    }

    @Test("A byte order mark alone is an empty file, and UTF-32 is called by its name")
    func marks() throws {
        #expect(try read([0xEF, 0xBB, 0xBF]).problems.isEmpty)
        for bytes: [UInt8] in [[0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0], [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x7B]] {
            let found = try read(bytes)
            #expect(found.records.isEmpty && found.problems.count == 1)
            #expect(found.problems.first?.reason.contains("iconv -f UTF-32") == true, "\(found.problems)")
        }
    }

    @Test("Whole numbers may have a fraction of zero, and real numbers may be text")
    func numbers() throws {
        var text = String(decoding: lines(7..<8), as: UTF8.self)
        for member in ["\"sequence\":7", "\"tracker\":1", "\"time\":9", "\"instant\":7"] {
            try #require(text.contains(member + ","))
            text = text.replacing(member + ",", with: member + ".0,")
        }
        #expect(try read(Array(text.utf8)).records == [Samples.record(7)])
        #expect(try read(Array(text.replacing(":7.0,", with: ":7.5,").utf8)).problems.count == 1)
        let metric = """
            {"id":"\(Samples.record(7).id.description)","sequence":7,"type":"metric","name":"M","kind":"gauge","unit":"ms",\
            "value":VALUE,"tracker":1,"time":9,"instant":7,"attributes":{}}

            """
        for (value, expected) in [("\"1.5\"", 1.5), ("1.5", 1.5)] {
            let found = try read(Array(metric.replacing("VALUE", with: value).utf8))
            guard case .metric(let found)? = found.records.first?.sample else {
                Issue.record("\(value): \(found.problems)")
                continue
            }
            #expect(found.value == .double(expected))
        }
        for value in ["\"x\"", "\"inf\"", "null"] {
            #expect(try read(Array(metric.replacing("VALUE", with: value).utf8)).problems.count == 1, "\(value)")
        }
    }

    @Test("A JSON array is read sample by sample, on one line or on many, of any length")
    func array() throws {
        let objects = try (0..<3000).map { try object($0).description }
        let records = (0..<3000).map { Samples.record($0) }
        for text in [
            "[" + objects.joined(separator: ",") + "]",
            "\u{FEFF}\n [\r\n" + objects.joined(separator: ",\r\n") + "\r\n]\r\n",
            "[\n" + objects.joined(separator: "\n,\n").replacing("\":", with: "\" :\n  ") + "]",
            "{\n" + objects.map { $0.dropFirst() }.joined(separator: "\n{\n"),
        ] {
            let found = try read(Array(text.utf8))
            #expect(found.records == records)
            #expect(found.problems.isEmpty)
        }
        #expect(try read(Array("[]".utf8)).problems.isEmpty)
    }

    @Test("Damage in a JSON array costs the damaged samples, and a torn end is reported")
    func damagedArray() throws {
        let objects = try (0..<4).map { try object($0).description }
        let text =
            "[\n\(objects[0]),\nbroken,\n{\"id\":\"torn\n,\n\(objects[1]),\n{\"x\":[1,{}]},\(objects[2]),\n{\"id\""
        let (records, problems) = try read(Array(text.utf8))
        #expect(records == (0..<3).map { Samples.record($0) })
        #expect(problems.map(\.line) == [3, 5, 7, 8])
        #expect(problems.last?.reason == "the last value is torn")
    }

    @Test("An array's sample beyond the limit is reported and skipped")
    func longValue() throws {
        let long = "{\"x\":\"" + String(repeating: "y", count: 300_000) + "\"}"
        let text = "[\(try object(0)),\n\(long),\n\(try object(1))]"
        try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.file("s")))
        var reader = try SampleFileReader(path: scratch.file("s"), maxLineLength: 1000)
        var records: [SampleRecord] = []
        while let record = try reader.next() { records.append(record) }
        #expect(records == (0..<2).map { Samples.record($0) })
        #expect(reader.problems == [.init(line: 2, reason: "longer than 1000 bytes")])
    }

    @Test("Rows of ClickHouse are read: quoted integers, nulls, and the text of a column of attributes")
    func clickHouse() throws {
        let row = """
            "id":"\(Samples.record(7).id.description.lowercased())","sequence":"7","type":"event","action":"Ping","name":"",\
            "kind":"","unit":"","value":null,"tracker":"1","time":"9","instant":"7","service":"","sender":"","arrived":"2026-11-26"
            """
        let text = "{\(row),\"attributes\":\"{\\\"n\\\":7,\\\"text\\\":\\\"text\\\"}\"}"
        let object =
            "{\(row.replacing("\"service\":\"\"", with: "\"service\":null")),\"attributes\":{\"n\":7,\"text\":\"text\",\"fps\":null}}"
        let document =
            "{\n\t\"meta\":\n\t[\n\t\t{\n\t\t\t\"name\": \"data\",\n\t\t\t\"type\": \"[\"\n\t\t}\n\t],\n\n\t\"data\":\n\t[\n\t\t\(text)\n\t],\n\n\t\"rows\": 1,\n\t\"statistics\": {\"elapsed\": 0.1}\n}\n"
        for bytes in [text, object, document, document.replacing("\n", with: "").replacing("\t", with: "")] {
            let found = try read(Array((bytes + "\n").utf8))
            #expect(found.records == [Samples.record(7)], "\(bytes)")
            #expect(found.problems.isEmpty)
        }
        let quoted =
            "{\(row),\"attributes\":{\"accumPlayTime\":\"1200\",\"title\":\"1984\",\"timeSinceStart\":\"5\"}}\n"
        let attributes = try #require(try read(Array(quoted.utf8)).records.first).sample.attributes
        #expect(attributes["accumPlayTime"] == .int(1200) && attributes["title"] == .string("1984"))
        #expect(attributes["timeSinceStart"] == .int(5))
    }

    @Test("Rows of ClickHouse that are arrays are read by the names of their columns, compressed, too")
    func clickHouseRows() throws {
        let names = [
            "sequence", "id", "type", "action", "name", "kind", "unit", "value", "tracker", "time", "instant",
            "service", "attributes",
        ]
        func row(_ number: Int) -> String {
            "[\"\(number)\", \"\(Samples.record(number).id)\", \"event\", \"Ping\", \"\", \"\", \"\", null, \"1\", "
                + "\"\(9)\", \"\(number)\", \"\", \"{\\\"n\\\":\(number),\\\"text\\\":\\\"text\\\"}\"]"
        }
        let head = "[" + names.map { "\"\($0)\"" }.joined(separator: ", ") + "]\n"
        let types = "[" + names.map { _ in "\"Nullable(String)\"" }.joined(separator: ", ") + "]\n"
        let columns = names.map { "\t\t{\n\t\t\t\"name\": \"\($0)\",\n\t\t\t\"type\": \"String\"\n\t\t}" }
        let meta = columns.joined(separator: ",\n")
        let rows = (7..<9).map(row).joined(separator: "\n") + "\n"
        let document =
            "{\n\t\"meta\":\n\t[\n\(meta)\n\t],\n\n\t\"data\":\n\t[\n\t\t"
            + (7..<9).map(row).joined(separator: ",\n\t\t") + "\n\t],\n\n\t\"rows\": 2\n}\n"
        let expected = try read(Array((7..<9).map { try object($0).description + "\n" }.joined().utf8)).records
        for text in [head + rows, head + types + rows, document, document.filter { !"\n\t".contains($0) }] {
            for bytes in [Array(text.utf8), try #require(Gzip.compress(Array(text.utf8)))] {
                let found = try read(bytes)
                #expect(found.records.map(\.id) == expected.map(\.id), "\(text)")
                #expect(found.records.map(\.sample.attributes) == expected.map(\.sample.attributes))
                #expect(found.problems.isEmpty, "\(found.problems)")
            }
        }
        let unnamed = try read(Array(rows.utf8))
        #expect(unnamed.records.isEmpty && unnamed.problems.count == 2)
        #expect(unnamed.problems.first?.reason.contains("JSONCompactEachRowWithNames") == true)
        let short = try read(Array((head + "[\"7\"]\n" + rows).utf8))
        #expect(short.records.count == 2 && short.problems.map(\.line) == [2])
    }

    @Test("A metric's value of 64 bits may be quoted")
    func quotedValue() throws {
        let line = """
            {"id":"\(Samples.record(1).id)","sequence":"1","type":"metric","action":"","name":"PlayTime","kind":"gauge","unit":"ms",\
            "value":"1500","tracker":"1","time":"9","instant":"7","attributes":{}}
            """
        let record = try #require(try read(Array((line + "\n").utf8)).records.first)
        guard case .metric(let metric) = record.sample else { throw CancellationError() }
        #expect(metric.value == .int(1500))
    }

    @Test("Zeros after the last batch, from a loss of power, are reported and lose no sample")
    func zeros() throws {
        let (records, problems) = try read(member(0..<10) + [UInt8](repeating: 0, count: 20_000))
        #expect(records.count == 10)
        #expect(problems.count == 1)
    }

    @Test("Random damage to a compressed file never traps, and never gives more samples than were written")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 11)
        let whole = try (0..<5).flatMap { try member($0 * 10..<$0 * 10 + 10) }
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                if Bool.random(using: &generator) {
                    bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                } else {
                    bytes.removeSubrange(index..<min(bytes.count, index + 9))
                }
            }
            #expect(try read(bytes).records.count <= 50)
        }
    }

    @Test("Lines beyond the limit are skipped, and each is reported once")
    func maxLineLength() throws {
        let long = [300_000, 1001].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0) + [UInt8(ascii: "\n")] }
        try Data(lines(0..<1) + long.joined() + lines(1..<2)).write(to: URL(fileURLWithPath: scratch.file("s")))
        var reader = try SampleFileReader(path: scratch.file("s"), maxLineLength: 1000)
        var numbers: [UInt64] = []
        while let record = try reader.next() { numbers.append(record.sequence) }
        #expect(numbers == [0, 1])
        #expect(reader.problems.map(\.description) == [2, 3].map { "line \($0): longer than 1000 bytes" })
    }

    @Test("Few compressed bytes that give a very long line are skipped, and reported once")
    func bomb() throws {
        let packed = try #require(Gzip.compress([UInt8](repeating: UInt8(ascii: "x"), count: 40 << 20)))
        let (records, problems) = try read(packed + packed + member(0..<1))
        #expect(records.isEmpty)
        #expect(problems.map(\.line) == [1])
    }
}
