/// The header of a frame of compressed sound.
struct AudioFrameHeader: Hashable, Sendable {
    /// The bytes of the frame, its header included.
    var size: Int
    var sampleCount: Int64
    /// Hz.
    var sampleRate: Int64
    /// The fields that are equal in all frames of a stream.
    var constant: UInt32

    /// Reads a header; nil in doubt.
    init?(_ bytes: UnsafeRawBufferPointer, _ coding: ElementaryCoding) {
        guard bytes.count >= 8 else { return nil }
        switch coding {
        case .aac: self.init(adts: bytes)
        case .ac3: self.init(ac3: bytes)
        case .enhancedAC3: self.init(enhancedAC3: bytes)
        case .mpegAudio: self.init(mpeg: bytes)
        case .h264, .h265: return nil
        }
    }

    private init(size: Int, sampleCount: Int64, sampleRate: Int64, constant: UInt32) {
        self.size = size
        self.sampleCount = sampleCount
        self.sampleRate = sampleRate
        self.constant = constant
    }
}

extension AudioFrameHeader {
    /// AAC (ISO/IEC 13818-7, 6.2), one block of samples a frame.
    private init?(adts bytes: UnsafeRawBufferPointer) {
        let rate = Int(bytes[2] >> 2 & 0x0F)
        let size = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        guard bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0, rate < ADTSFrames.sampleRates.count, size > 9,
            bytes[6] & 3 == 0
        else { return nil }
        let constant = UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3] >> 6)
        self.init(size: size, sampleCount: 1024, sampleRate: ADTSFrames.sampleRates[rate], constant: constant)
    }

    /// Hz, by the code in the header (ETSI TS 102 366, table 4.1).
    static let ac3Rates: [Int64] = [48_000, 44_100, 32_000]
    /// kbit/s (ETSI TS 102 366, table 4.13).
    private static let ac3Bitrates = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
    private static let ac3Samples: Int64 = 1536

    private static func isAC3(_ bytes: UnsafeRawBufferPointer, _ versions: ClosedRange<UInt8>) -> Bool {
        bytes[0] == 0x0B && bytes[1] == 0x77 && versions.contains(bytes[5] >> 3)
    }

    /// AC-3 (ETSI TS 102 366, 4.4.1).
    private init?(ac3 bytes: UnsafeRawBufferPointer) {
        let (rate, code) = (Int(bytes[4] >> 6), Int(bytes[4] & 0x3F))
        guard Self.isAC3(bytes, 6...8), rate < Self.ac3Rates.count, code / 2 < Self.ac3Bitrates.count else {
            return nil
        }
        // Words of 16 bits in 1536 samples; at 44.1 kHz, odd codes have one more.
        let bitrate = Self.ac3Bitrates[code / 2]
        let words = rate == 1 ? bitrate * 96_000 / 44_100 + code % 2 : bitrate * 96_000 / Int(Self.ac3Rates[rate])
        self.init(
            size: words * 2,
            sampleCount: Self.ac3Samples,
            sampleRate: Self.ac3Rates[rate],
            constant: UInt32(bytes[4] >> 6) << 16 | UInt32(bytes[5]) << 8 | UInt32(bytes[6] >> 5)
        )
    }

    /// Enhanced AC-3 (ETSI TS 102 366, E.1.2), one independent substream of six blocks a frame.
    private init?(enhancedAC3 bytes: UnsafeRawBufferPointer) {
        let rate = Int(bytes[4] >> 6)
        guard Self.isAC3(bytes, 11...16), bytes[2] & 0xF8 == 0, rate < Self.ac3Rates.count, bytes[4] >> 4 & 3 == 3
        else {
            return nil
        }
        self.init(
            size: ((Int(bytes[2] & 7) << 8 | Int(bytes[3])) + 1) * 2,
            sampleCount: Self.ac3Samples,
            sampleRate: Self.ac3Rates[rate],
            constant: UInt32(bytes[4]) << 8 | UInt32(bytes[5] >> 3)
        )
    }

    /// kbit/s of MPEG-1 layers 2 and 3, and of the lower sample rates (ISO/IEC 11172-3 and 13818-3, 2.4.2.3).
    private static let layer2 = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
    private static let layer3 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    private static let lowRates = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
    private static let mpegRates: [Int64] = [44_100, 48_000, 32_000]

    /// MPEG audio, layers 2 and 3.
    private init?(mpeg bytes: UnsafeRawBufferPointer) {
        let (version, layer) = (bytes[1] >> 3 & 3, bytes[1] >> 1 & 3)
        let (bitrate, rate) = (Int(bytes[2] >> 4), Int(bytes[2] >> 2 & 3))
        guard bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0, version >= 2, layer == 1 || layer == 2, 1...14 ~= bitrate,
            rate < Self.mpegRates.count
        else { return nil }
        let isLow = version == 2
        let kilobits = isLow ? Self.lowRates : layer == 2 ? Self.layer2 : Self.layer3
        let sampleRate = Self.mpegRates[rate] / (isLow ? 2 : 1)
        let samples = isLow && layer == 1 ? 576 : 1152
        self.init(
            size: samples / 8 * kilobits[bitrate - 1] * 1000 / Int(sampleRate) + Int(bytes[2] >> 1 & 1),
            sampleCount: Int64(samples),
            sampleRate: sampleRate,
            constant: UInt32(bytes[1]) << 8 | UInt32(bytes[2] & 0x0C)
        )
    }
}

/// The frames of sound in the payload of a packet of a transport stream.
struct AudioFrames: Hashable, Sendable {
    let count: Int
    /// The header of the first frame.
    let first: AudioFrameHeader

    /// Reads frames; nil unless the payload has whole frames of one kind only.
    init?(_ bytes: UnsafeRawBufferPointer, _ coding: ElementaryCoding) {
        guard let first = AudioFrameHeader(bytes, coding) else { return nil }
        var (offset, count) = (first.size, 1)
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            guard let header = AudioFrameHeader(rest, coding), header.constant == first.constant else { return nil }
            offset += header.size
            count += 1
        }
        guard offset == bytes.count else { return nil }
        self.first = first
        self.count = count
    }
}
