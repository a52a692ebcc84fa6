/// The channels and the sampling rate of sound, as its container or the header of its first frame says.
struct AudioFormat: Hashable, Sendable {
    /// The number of channels, those of low frequency effects included; nil if unknown.
    var channelCount: Int?
    /// Hz; nil if unknown.
    var sampleRate: Int?

    /// The full channels of each audio coding mode (ETSI TS 102 366, table 4.3).
    private static let ac3Channels = [2, 1, 2, 3, 3, 4, 4, 5]

    /// Takes what a container says; zero means unknown.
    init(channelCount: Int, sampleRate: Int) {
        self.channelCount = channelCount > 0 ? channelCount : nil
        self.sampleRate = sampleRate > 0 ? sampleRate : nil
    }

    /// Reads the header of a frame of AAC (ISO/IEC 13818-7, 6.2); nil for other bytes.
    init?(adts bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return nil }
        let rate = Int(bytes[2] >> 2 & 0x0F)
        guard ADTSFrames.sampleRates.indices.contains(rate) else { return nil }
        // Zero leaves the channels to the frame; seven stands for eight.
        let configuration = Int(bytes[2] & 1) << 2 | Int(bytes[3] >> 6)
        self.init(
            channelCount: configuration == 7 ? 8 : configuration,
            sampleRate: Int(ADTSFrames.sampleRates[rate])
        )
    }

    /// Reads the header of a frame of AC-3 (ETSI TS 102 366, 4.4); nil for other bytes.
    init?(ac3 bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= 8, bytes[0] == 0x0B, bytes[1] == 0x77, 6...8 ~= bytes[5] >> 3 else { return nil }
        let rate = Int(bytes[4] >> 6)
        guard AudioFrameHeader.ac3Rates.indices.contains(rate) else { return nil }
        let mode = Int(bytes[6] >> 5)
        // Mix levels, which only some modes have, stand before the flag of low frequency effects.
        var position = 3
        if mode & 1 != 0, mode != 1 { position += 2 }
        if mode & 4 != 0 { position += 2 }
        if mode == 2 { position += 2 }
        let header = UInt16(bytes[6]) << 8 | UInt16(bytes[7])
        let effects = Int(header >> (15 - UInt16(position)) & 1)
        self.init(
            channelCount: Self.ac3Channels[mode] + effects,
            sampleRate: Int(AudioFrameHeader.ac3Rates[rate])
        )
    }
}
