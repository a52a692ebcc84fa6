import InstrumentTestKit
import Testing

@testable import InstrumentProbe

@Suite("Start codes")
struct StartCodeTests {
    /// Each position behind `00 00 01`, looked for byte by byte.
    private func expected(_ bytes: [UInt8]) -> [Int] {
        guard bytes.count >= 3 else { return [] }
        return (3...bytes.count).filter { bytes[$0 - 3] == 0 && bytes[$0 - 2] == 0 && bytes[$0 - 1] == 1 }
    }

    @Test("All start codes are found, wherever they are, and nothing else", arguments: 0..<40 as Range<UInt64>)
    func all(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let most = UInt8.random(in: 1...4, using: &generator)
            let count = Int.random(in: 0...120, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...most, using: &generator) }
            let found = bytes.withUnsafeBytes { bytes in
                var codes = StartCodes(bytes)
                var found: [Int] = []
                while let next = codes.next() { found.append(next) }
                return found
            }
            #expect(found == expected(bytes), "\(bytes)")
        }
    }

    @Test("Numbers behind a start code are read without the bytes that prevent start codes")
    func numbers() {
        // 1 and 010, then more zeros than a number of 32 bits begins with.
        let bytes: [UInt8] = [0x65, 0xA0, 0x00, 0x00, 0x03, 0x00, 0x03, 0x00, 0x00, 0x03]
        bytes.withUnsafeBytes { bytes in
            #expect(Array(UnescapedBytes(bytes[...])) == [0x65, 0xA0, 0, 0, 0, 3, 0, 0])
            var numbers = ExpGolomb(bytes, headerSize: 1)
            #expect(numbers.next() == 0)
            #expect(numbers.next() == 1)
            #expect(numbers.next() == nil)
        }
    }
}
