/// The header of a packet of an elementary stream (ISO/IEC 13818-1, 2.4.3.6).
struct PESHeader: Hashable, Sendable {
    /// Ticks of 90 kHz, 33 bits.
    var shown: Int64
    var decoded: Int64
    /// The bytes of the whole packet; nil where the header leaves the length open.
    var length: Int?
    /// The bytes of the header itself.
    var size: Int

    /// Reads a header; nil if it is damaged, has no time, or has fields that only libavformat knows.
    init?(_ bytes: UnsafeRawBufferPointer, of track: PlaybackModel.Track) {
        guard bytes.count >= 14, bytes[0] == 0, bytes[1] == 0, bytes[2] == 1, Self.isExpected(bytes[3], of: track),
            // No scrambling, and no fields besides times.
            bytes[6] & 0xF0 == 0x80, bytes[7] & 0x3F == 0
        else { return nil }
        let hasDecoded = bytes[7] >> 6 == 3
        guard hasDecoded || bytes[7] >> 6 == 2 else { return nil }
        size = 9 + Int(bytes[8])
        guard size <= bytes.count, size >= (hasDecoded ? 19 : 14),
            let shown = Self.time(bytes, at: 9, mark: hasDecoded ? 3 : 2)
        else { return nil }
        self.shown = shown
        decoded = shown
        if hasDecoded {
            guard let time = Self.time(bytes, at: 14, mark: 1) else { return nil }
            decoded = time
        }
        let declared = Int(bytes[4]) << 8 | Int(bytes[5])
        guard declared == 0 || declared + 6 > size else { return nil }
        length = declared == 0 ? nil : declared + 6
    }

    private static func isExpected(_ stream: UInt8, of track: PlaybackModel.Track) -> Bool {
        switch track {
        case .video: 0xE0...0xEF ~= stream
        case .audio: 0xC0...0xDF ~= stream || stream == 0xBD
        }
    }

    private static func time(_ bytes: UnsafeRawBufferPointer, at offset: Int, mark: UInt8) -> Int64? {
        guard offset + 5 <= bytes.count, bytes[offset] >> 4 == mark,
            bytes[offset] & bytes[offset + 2] & bytes[offset + 4] & 1 == 1
        else { return nil }
        return Int64(bytes[offset] & 0x0E) << 29 | Int64(bytes[offset + 1]) << 22 | Int64(bytes[offset + 2] & 0xFE)
            << 14
            | Int64(bytes[offset + 3]) << 7 | Int64(bytes[offset + 4] >> 1)
    }
}
