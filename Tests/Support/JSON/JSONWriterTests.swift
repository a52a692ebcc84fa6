import Foundation
import Instrument
import InstrumentTestKit
import InstrumentText
import Testing

@testable import InstrumentJSON

@Suite("Writer of JSON")
struct JSONWriterTests {
    private func written(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Every ASCII character is escaped, or not, at every place of a text", arguments: UInt8(0)...0x7F)
    func escapes(byte: UInt8) {
        let escaped =
            switch byte {
            case UInt8(ascii: "\""): "\\\""
            case UInt8(ascii: "\\"): "\\\\"
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            case 0x09: "\\t"
            case ..<0x10: "\\u000" + String(byte, radix: 16)
            case ..<0x20: "\\u00" + String(byte, radix: 16)
            default: String(UnicodeScalar(byte))
            }
        for before in 0...17 {
            for after in [0, 1, 7, 8, 9] {
                let (head, tail) = (String(repeating: "a", count: before), String(repeating: "z", count: after))
                let text = head + String(UnicodeScalar(byte)) + tail
                #expect(written(text) == "\"\(head)\(escaped)\(tail)\"")
                #expect(written(text + text) == "\"\(head)\(escaped)\(tail)\(head)\(escaped)\(tail)\"")
            }
        }
    }

    @Test("Integers are written in decimal", arguments: [0, 7, -7, 10, 99, 100, -100, 1_234_567, .max, .min])
    func integers(number: Int) {
        var writer = JSONWriter()
        writer.array { writer in
            writer.integer(number)
            writer.value(.int(number))
            writer.json(.int(number))
        }
        #expect(writer.bytes == Array("[\(number),\(number),\(number)]".utf8))
    }

    @Test("An identifier is written as its description, with a comma before it where one belongs")
    func identifiers() {
        for number in 0..<100 {
            let identifier = SampleID(log: 0x1234_5678_9ABC, sequence: UInt64(number))
            var writer = JSONWriter()
            writer.object { writer in
                writer.key(quoted: "\"a\":")
                writer.string(identifier)
                writer.key(quoted: "\"b\":")
                writer.string(identifier)
            }
            #expect(writer.bytes == Array("{\"a\":\"\(identifier)\",\"b\":\"\(identifier)\"}".utf8))
        }
    }

    @Test("Attributes are written in the order of their names' bytes, for one set of names after another")
    func order() {
        var generator = SeededGenerator(seed: 8)
        var writer = JSONWriter()
        var expected: [UInt8] = []
        // One name needs an escape.
        let names = ["ord\ner"] + (0..<11).map { "order\($0)" }
        for _ in 0..<500 {
            let chosen = names.shuffled(using: &generator).prefix(Int.random(in: 0...12, using: &generator))
            let attributes = Attributes(distinct: chosen.enumerated().map { (AttributeName($1), .int($0)) })
            writer.attributes(attributes)
            writer.newline()
            let members = chosen.enumerated().map { (JSONWriter.quoted($1), $1, $0) }
                .sorted { $0.1.utf8.lexicographicallyPrecedes($1.1.utf8) }
                .map { $0.0 + Array(String($0.2).utf8) }
            expected += Array("{".utf8) + members.joined(separator: [UInt8(ascii: ",")]) + Array("}\n".utf8)
        }
        #expect(writer.bytes == expected)
    }

    @Test("A writer with the order of an earlier one writes the same, also after more sets of names than it remembers")
    func keptOrder() {
        var order = AttributeOrder()
        for number in 0..<(2 * AttributeOrder.maxCount + 3) {
            let attributes: Attributes = [AttributeName("z\(number % 1500)"): 1, AttributeName("a\(number % 7)"): "x"]
            var writer = JSONWriter(order: order)
            writer.attributes(attributes)
            let bytes = writer.finish(keeping: &order)
            #expect(bytes.bytes == Array("{\"a\(number % 7)\":\"x\",\"z\(number % 1500)\":1}".utf8))
        }
    }

    @Test("Hostile values are written as a plain writer writes them, and Foundation reads them back", arguments: 1...40)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let values = (0..<Int.random(in: 0...6, using: &generator)).map { _ in HostileValue.make(&generator) }
            var writer = JSONWriter(capacity: 0)
            writer.value(.array(values))
            #expect(String(decoding: writer.bytes, as: UTF8.self) == HostileValue.text(of: .array(values)))
            let own = try JSONValue(parsing: writer.bytes)
            let parsed = try #require(
                JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed) as? [Any]
            )
            #expect(parsed.count == values.count)
            for (index, value) in values.enumerated() {
                let isRead = HostileValue.isRead(value, parsed[index], own.elements?[index])
                #expect(isRead, "\(String(describing: value).prefix(200))")
            }
        }
    }
}

/// Values that are hard to write.
enum HostileValue {
    private static let pieces = [
        "\u{0}", "\u{1}", "\u{8}", "\u{C}", "\u{1F}", "\u{7F}", "\u{80}", "\u{2028}", "\u{2029}", "\u{FEFF}",
        "\u{FFFD}",
        "\u{FFFF}", "\u{10FFFF}", "\"", "\\", "/", "\n", "\r", "\t", "e\u{301}", "\u{1F468}\u{200D}\u{1F469}", "a",
        "plain text", String(repeating: "long ", count: 400), "",
    ]
    private static let integers = [0, 9, 10, 99, 100, 9_999, 10_000, 99_999_999, 100_000_000, .max, .max - 1, .min]
    private static let doubles: [Double] = [
        0, -0.0, 1, 0.1, 1e15, 1e16, 1e17, 1e-5, 1e300, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .nan,
        .infinity, -.infinity,
    ]

    static func make(_ generator: inout SeededGenerator) -> AttributeValue {
        switch Int.random(in: 0...6, using: &generator) {
        case 0: return .int(integers.randomElement(using: &generator) ?? 0)
        case 1:
            return .int(Int.random(in: .min ... .max, using: &generator) >> Int.random(in: 0...63, using: &generator))
        case 2: return .double(doubles.randomElement(using: &generator) ?? 0)
        case 3: return .double(Double(bitPattern: UInt64.random(in: 0 ... .max, using: &generator)))
        case 4: return .array([.bool(true), .object(["b": .bool(false), "a\"": make(&generator)])])
        default:
            let count = Int.random(in: 0...20, using: &generator)
            return .string((0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined())
        }
    }

    /// Whether Foundation and this package have read a value. Foundation on Linux drops U+FEFF, and rounds the last
    /// bits of some numbers wrongly.
    static func isRead(_ value: AttributeValue, _ theirs: Any, _ ours: JSONValue?) -> Bool {
        func scalars(_ text: String?) -> [Unicode.Scalar]? { text?.unicodeScalars.filter { $0 != "\u{FEFF}" } }
        switch value {
        case .string(let text):
            return scalars(theirs as? String) == scalars(text)
                && ours?.string.map { Array($0.utf8) } == Array(text.utf8)
        case .int(let number): return (theirs as? NSNumber)?.int64Value == Int64(number) && ours == .int(number)
        case .double(let number) where number.isFinite:
            let distance = (theirs as? NSNumber).map { abs($0.doubleValue - number) }
            return distance.map { $0 <= max(abs(number) * 1e-14, .leastNormalMagnitude) } == true
                && ours?.number?.bitPattern == number.bitPattern
        case .double: return theirs is NSNull && ours == .null
        default: return theirs is [Any] && ours?.elements?.count == 2
        }
    }

    /// The JSON of a value, written one scalar after another.
    static func text(of value: AttributeValue) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .int(let number): "\(number)"
        case .double(let number): number.isFinite ? "\(number)" : "null"
        case .bool(let truth): "\(truth)"
        case .array(let values): "[" + values.map { Self.text(of: $0) }.joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { quoted($0.key) + ":" + Self.text(of: $0.value) }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case ..<" ": "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}
