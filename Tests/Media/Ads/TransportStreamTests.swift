import InstrumentTestKit
import Testing

@testable import InstrumentAds

@Suite("Splice information in transport streams")
struct TransportStreamTests {
    /// Packets of one stream that carry sections one after the other.
    private func packets(_ pid: UInt16, _ sections: [[UInt8]], adaptation: Int = 0) -> [UInt8] {
        var result: [UInt8] = []
        for section in sections {
            var rest = [0] + section
            var isStart = true
            while !rest.isEmpty {
                var packet: [UInt8] = [
                    0x47, UInt8(pid >> 8) | (isStart ? 0x40 : 0), UInt8(pid & 0xFF), adaptation > 0 ? 0x30 : 0x10,
                ]
                if adaptation > 0 { packet += [UInt8(adaptation - 1)] + [UInt8](repeating: 0, count: adaptation - 1) }
                let payload = rest.prefix(188 - packet.count)
                rest = Array(rest.dropFirst(payload.count))
                packet += payload
                result += packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
                isStart = false
            }
        }
        return result
    }

    private var tables: [UInt8] {
        let association: [UInt8] = [0x00, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xE1, 0x00]
        let map: [UInt8] = [
            0x02, 0xB0, 23, 0, 1, 0xC1, 0, 0, 0xE1, 0x01, 0xF0, 0x00, 0x1B, 0xE1, 0x01, 0xF0, 0x00, 0x86, 0xE1, 0xF0,
            0xF0, 0x00,
        ]
        return packets(0, [SpliceInfoSection.sealed(association)]) + packets(0x100, [SpliceInfoSection.sealed(map)])
    }

    @Test(
        "Sections of the stream of type 0x86 are found, also those that span packets and pieces",
        arguments: [0, 1, 20, 150]
    )
    func found(adaptation: Int) throws {
        var random = RandomSections(seed: 86)
        let sections = (0..<40).map { random.section($0).encoded }
        let stream = tables + packets(0x1F0, sections, adaptation: adaptation) + packets(0x1F1, sections)
        var whole = TransportStreamSections()
        #expect(whole.read(stream) == sections)
        var pieces = TransportStreamSections()
        let found = stride(from: 0, to: stream.count, by: 188 * 3).flatMap {
            pieces.read(Array(stream[$0..<min($0 + 188 * 3, stream.count)]))
        }
        #expect(found == sections)
        let signals = AdSignals(transportStreamSections: found)
        #expect(signals.signals.count == sections.count)
        #expect(signals.signals.allSatisfy { $0.source == .transportStream })
    }

    @Test("A stream of damaged packets gives no section that was not there, and never traps")
    func damaged() {
        var generator = SeededGenerator(seed: 9)
        var random = RandomSections(seed: 87)
        let stream = tables + packets(0x1F0, (0..<10).map { random.section($0).encoded })
        for _ in 0..<200 {
            var bytes = stream
            for _ in 0..<20 {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            var reader = TransportStreamSections()
            _ = AdSignals(transportStreamSections: reader.read(bytes))
        }
        var noise = TransportStreamSections()
        #expect(noise.read((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) }).isEmpty)
        var short = TransportStreamSections()
        #expect(short.read([0x47]).isEmpty)
    }
}
