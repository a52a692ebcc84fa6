import Testing

@testable import InstrumentProbe

@Suite("The format of sound by the header of a frame")
struct AudioFormatTests {
    private func adts(_ bytes: [UInt8]) -> AudioFormat? { bytes.withUnsafeBufferPointer { AudioFormat(adts: $0) } }
    private func ac3(_ bytes: [UInt8]) -> AudioFormat? { bytes.withUnsafeBufferPointer { AudioFormat(ac3: $0) } }

    @Test(
        "AAC has its channels in two bytes",
        arguments: [(1, 1), (2, 2), (6, 6), (7, 8), (0, nil)] as [(UInt8, Int?)]
    )
    func aac(configuration: UInt8, channels: Int?) {
        // 48 kHz, low complexity.
        let header: [UInt8] = [0xFF, 0xF1, 0x4C | configuration >> 2, configuration << 6, 0, 0, 0]
        #expect(adts(header)?.channelCount == channels && adts(header)?.sampleRate == 48_000)
        #expect(adts([0xFF, 0xF1, 0x50, 0x80, 0, 0, 0])?.sampleRate == 44_100)
    }

    @Test("Other bytes, a reserved rate and a short header have no format")
    func others() {
        #expect(
            adts([]) == nil && adts([0x47, 0, 0, 0, 0, 0, 0]) == nil && adts([0xFF, 0xF1, 0x7C, 0, 0, 0, 0]) == nil
        )
        #expect(adts([0xFF, 0xF1, 0x4C, 0x80]) == nil && ac3([0x0B, 0x77]) == nil)
        #expect(ac3([0x0B, 0x77, 0, 0, 0xC0, 0x40, 0, 0]) == nil && ac3([0x0B, 0x77, 0, 0, 0, 0x80, 0, 0]) == nil)
    }

    @Test(
        "AC-3 has its mode, behind levels of some modes the low frequency effects",
        arguments: [
            (1, 0b001_1_0000_0000_0000, 2), (1, 0b001_0_0000_0000_0000, 1), (2, 0b010_00_1_00_0000_0000, 3),
            (2, 0b010_00_0_00_0000_0000, 2), (7, 0b111_00_00_1_0000_0000, 6), (7, 0b111_11_11_0_0000_0000, 5),
            (6, 0b110_00_1_00_0000_0000, 5), (3, 0b011_01_1_00_0000_0000, 4),
        ] as [(Int, UInt16, Int)]
    )
    func dolby(mode: Int, bits: UInt16, channels: Int) {
        let header: [UInt8] = [0x0B, 0x77, 0, 0, 0x14, 0x40, UInt8(bits >> 8), UInt8(bits & 0xFF)]
        #expect(ac3(header) == AudioFormat(channelCount: channels, sampleRate: 48_000), "mode \(mode)")
    }
}
