import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentBackends

@Suite("Cursor of a line")
struct LineCursorTests {
    private func read<Value>(_ line: String, _ body: (inout LineCursor) -> Value?) -> (value: Value?, rest: Int)? {
        Array(line.utf8).withUnsafeBufferPointer { line in
            guard var cursor = LineCursor(line), let end = line.baseAddress.map({ $0 + line.count }) else { return nil }
            let value = body(&cursor)
            return (value, end - cursor.position)
        }
    }

    @Test("An integer of every length is read, wherever the line ends after it", arguments: 1...22)
    func integers(length: Int) throws {
        var generator = SeededGenerator(seed: UInt64(length))
        for _ in 0..<200 {
            let digits = (0..<length).map { _ in String(Int.random(in: 0...9, using: &generator)) }.joined()
            let isPlain = length <= 18 && (length == 1 || !digits.hasPrefix("0"))
            for sign in ["", "-"] {
                for (end, ends) in [(",", true), ("}", true), ("}}", true), (",\"a\":12345678", true), ("", false)] {
                    let found = try #require(read(sign + digits + end) { $0.integer() })
                    let expected = isPlain && ends ? Int(sign + digits) : nil
                    #expect(found.value == expected, "\(sign)\(digits)\(end)")
                    let rest = expected == nil ? (sign + digits + end).utf8.count : end.utf8.count
                    #expect(found.rest == rest, "\(sign)\(digits)\(end)")
                }
                for end in [".5,", "e3,", " ,", "\u{FF},", "/,", ":,", "]"] {
                    #expect(try #require(read(sign + digits + end) { $0.integer() }).value == nil)
                }
            }
        }
    }

    @Test("A byte of any value after a digit ends the number", arguments: UInt8.min ... .max)
    func bytes(byte: UInt8) throws {
        for count in 0...9 {
            let line = [UInt8](repeating: UInt8(ascii: "7"), count: count) + [byte] + Array(",,,,,,,,,".utf8)
            let found = line.withUnsafeBufferPointer { line -> Int? in
                guard var cursor = LineCursor(line) else { return nil }
                return cursor.integer()
            }
            let sevens = String(repeating: "7", count: count)
            let expected: Int? =
                switch byte {
                case 0x30...0x39: Int(sevens + String(byte - 0x30))
                case UInt8(ascii: ","), UInt8(ascii: "}"): Int(sevens)
                default: nil
                }
            #expect(found == expected, "\(count)")
        }
    }

    @Test("An identifier is read in either case, and any other text stays")
    func identifiers() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let (high, low) = (UInt64.random(in: .min ... .max, using: &generator), generator.next())
            let text = UUIDText.describe(high: high, low: low)
            for text in [text, text.lowercased()] {
                let found = try #require(read(text + "\"") { $0.identifier() })
                #expect(found.value?.high == high && found.value?.low == low && found.rest == 1, "\(text)")
                #expect(try #require(read(String(text.dropLast())) { $0.identifier() }).value == nil)
                var bytes = Array(text.utf8)
                let place = Int.random(in: bytes.indices, using: &generator)
                bytes[place] = UInt8.random(in: 0...0x7F, using: &generator)
                let changed = String(decoding: bytes, as: UTF8.self)
                let expected = UUIDText.read(changed)
                let read = try #require(read(changed) { $0.identifier() }).value
                #expect(read?.high == expected?.high && read?.low == expected?.low, "\(changed)")
            }
        }
    }

    @Test("A text of every length is compared to its last byte", arguments: 1...40)
    func texts(length: Int) throws {
        let text = String("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz".prefix(length))
        let expected = Array(text.utf8)
        func takes(_ line: String) throws -> Bool {
            let found = read(line) { cursor in expected.withUnsafeBufferPointer { cursor.takeText($0) } }
            return try #require(found).value == true
        }
        #expect(try takes(text + "\""))
        #expect(try !takes(text + "x"))
        #expect(try !takes(text))
        for place in 0..<length {
            var changed = expected
            changed[place] = UInt8(ascii: "-")
            #expect(try !takes(String(decoding: changed, as: UTF8.self) + "\""), "\(place)")
        }
    }
}
