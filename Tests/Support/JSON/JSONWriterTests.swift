import Instrument
import InstrumentTestKit
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

    @Test("The order of attributes is that of their names' bytes, for one set of names after another")
    func order() {
        var generator = SeededGenerator(seed: 8)
        var order = AttributeOrder()
        let names = (0..<12).map { AttributeName("order\($0)") }
        for _ in 0..<500 {
            let chosen = names.shuffled(using: &generator).prefix(Int.random(in: 0...12, using: &generator))
            let attributes = Attributes(distinct: chosen.map { ($0, .bool(true)) })
            let entries = order.entries(of: attributes)
            let sorted = chosen.sorted { $0.spelling.utf8.lexicographicallyPrecedes($1.spelling.utf8) }
            #expect(entries.map { attributes[$0.position].name } == Array(sorted))
            #expect(entries.map(\.quotedName) == sorted.map { JSONWriter.quoted($0.spelling) })
        }
    }
}
