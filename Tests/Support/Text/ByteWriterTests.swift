import InstrumentTestKit
import InstrumentText
import Testing

@Suite("Writer of bytes")
struct ByteWriterTests {
    @Test("Pieces of all kinds are those that an array has, whatever room there was", arguments: UInt64(1)...30)
    func pieces(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var writer = ByteWriter(capacity: Int.random(in: 0...300, using: &generator))
        var expected: [UInt8] = []
        for _ in 0..<200 {
            let byte = UInt8.random(in: .min ... .max, using: &generator)
            let count = Int.random(in: 0...90, using: &generator)
            switch Int.random(in: 0...6, using: &generator) {
            case 0:
                writer.append(byte)
                expected.append(byte)
            case 1:
                let text = String(repeating: "\u{E9}", count: count)
                writer.append(text)
                expected += Array(text.utf8)
            case 2:
                let bytes = [UInt8](repeating: byte, count: count)
                writer.append(bytes)
                expected += bytes
            case 3:
                let number =
                    Int.random(in: .min ... .max, using: &generator) >> Int.random(in: 0...63, using: &generator)
                writer.append(decimal: number)
                expected += Array("\(number)".utf8)
            case 4:
                let position = Int.random(in: 0...expected.count, using: &generator)
                writer.insert(byte, at: position)
                expected.insert(byte, at: position)
            case 5 where !expected.isEmpty:
                let position = Int.random(in: 0..<expected.count, using: &generator)
                writer.replace(at: position, with: byte)
                expected[position] = byte
            default:
                let literal: StaticString = "in the source"
                writer.append(literal)
                expected += Array("in the source".utf8)
            }
            #expect(writer.count == expected.count)
        }
        #expect(writer.bytes == expected)
        #expect(writer.withBytes { Array($0) } == expected)
    }

    @Test("Integers at every limit of their digits are written in decimal")
    func integers() {
        var power = 1
        for _ in 0..<19 {
            for number in [power - 1, power, power + 1, -power, 1 - power] {
                var writer = ByteWriter(capacity: 0)
                writer.append(decimal: number)
                #expect(writer.bytes == Array("\(number)".utf8))
                var bytes: [UInt8] = []
                bytes.append(decimal: number)
                #expect(bytes == writer.bytes)
            }
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
        for number in 0..<1000 {
            var writer = ByteWriter(capacity: 0)
            writer.append(decimal: number)
            #expect(writer.bytes == Array("\(number)".utf8))
        }
        for number in [Int.max, .min, .max - 1, .min + 1] {
            var writer = ByteWriter(capacity: 0)
            writer.append(decimal: number)
            #expect(writer.bytes == Array("\(number)".utf8))
        }
    }
}
