import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentBackends

@Suite("Damaged sample lines")
struct SampleLineFuzzTests {
    @Test("Random damage never traps, and the remaining samples can be written")
    func fuzz() {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<3000 {
            var writer = JSONWriter()
            SampleLine.write(Samples.random(round, &generator), to: &writer)
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...2, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.removeSubrange(index..<min(bytes.count, index + 3))
                default: bytes.insert(contentsOf: bytes[..<min(5, bytes.count)], at: index)
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            if let record = try? SampleLine.read(bytes) {
                var again = JSONWriter()
                SampleLine.write(record, to: &again)
                #expect((try? JSONValue(parsing: again.bytes.dropLast() + [])) != nil)
            }
        }
    }
}
