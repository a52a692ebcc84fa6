internal import InstrumentManifests

/// The AAC frames of a packet from a transport stream, by their ADTS headers (ISO/IEC 13818-7, section 6.2).
enum ADTSFrames {
    /// Hz, by the index in the header.
    static let sampleRates: [Int64] = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]
    private static let headerSize = 7
    private static let samplesPerBlock: Int64 = 1024
    /// The number of frames that libavformat may not recognize as AAC.
    private static let mostUnrecognized = 8

    /// The playing time of the frames that begin in `bytes`, in nanoseconds; nil if `bytes` does not begin with a
    /// frame.
    static func duration(of bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        var (offset, blocks, rate) = (0, Int64(0), Int64(0))
        while let frame = Frame(bytes, at: offset) {
            rate = frame.rate
            blocks += frame.blocks
            offset += frame.size
        }
        return rate > 0 ? (blocks * samplesPerBlock).nanoseconds(timescale: rate) : nil
    }

    /// Whether bytes that begin with frames end inside the last of them.
    static func areCut(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            var offset = 0
            while let frame = Frame(bytes, at: offset) { offset += frame.size }
            return offset > bytes.count
        }
    }

    /// Whether bytes are whole frames, so few that libavformat does not recognize them.
    static func areFew(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            var (offset, count) = (0, 0)
            while count < mostUnrecognized, let frame = Frame(bytes, at: offset) {
                offset += frame.size
                count += 1
            }
            return count > 0 && offset == bytes.count
        }
    }

    private struct Frame {
        var size: Int
        var blocks: Int64
        var rate: Int64

        /// Reads a header; nil without one.
        init?(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) {
            guard offset + headerSize <= bytes.count, bytes[offset] == 0xFF, bytes[offset + 1] & 0xF6 == 0xF0 else {
                return nil
            }
            let index = Int(bytes[offset + 2] >> 2 & 0x0F)
            size = Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
            guard index < sampleRates.count, size >= headerSize else { return nil }
            rate = sampleRates[index]
            blocks = Int64(bytes[offset + 6] & 3) + 1
        }
    }
}
