/// The header of a packet of a transport stream (ISO/IEC 13818-1, 2.4.3.2 and 2.4.3.4).
struct TransportPacket {
    static let size = 188
    static let nullPID: UInt16 = 0x1FFF

    let pid: UInt16
    /// Whether the payload begins with a PES packet or a section.
    let startsUnit: Bool
    let continuity: UInt8
    let hasPayload: Bool
    /// The offset of the payload in the packet.
    let payloadOffset: Int
    /// Whether the packet announces that the counter jumps (`discontinuity_indicator`).
    let announcesDiscontinuity: Bool
    private let isScrambled: Bool

    /// Whether the packet can be read without a look at others: its payload is not scrambled, lies in the packet, and
    /// no jump is announced.
    var isPlain: Bool {
        !isScrambled && !announcesDiscontinuity && payloadOffset <= Self.size - (hasPayload ? 1 : 0)
    }

    /// Reads the header; nil if the packet is damaged.
    ///
    /// - Parameter bytes: at least 188 bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size, bytes[0] == 0x47, bytes[1] & 0x80 == 0 else { return nil }
        pid = UInt16(bytes[1] & 0x1F) << 8 | UInt16(bytes[2])
        startsUnit = bytes[1] & 0x40 != 0
        continuity = bytes[3] & 0x0F
        let hasAdaptation = bytes[3] & 0x20 != 0
        hasPayload = bytes[3] & 0x10 != 0
        isScrambled = bytes[3] & 0xC0 != 0
        payloadOffset = hasAdaptation ? 5 + Int(bytes[4]) : 4
        announcesDiscontinuity = hasAdaptation && bytes[4] > 0 && bytes[5] & 0x80 != 0
    }

    /// The size of packets that have more than the standard's 188 bytes, as discs (192) and broadcasters (204) write
    /// them; nil for others.
    static func otherSize(in bytes: UnsafeRawBufferPointer) -> Int? {
        [(192, 4), (204, 0)].first { size, offset in
            bytes.count >= 3 * size && (0..<3).allSatisfy { bytes[$0 * size + offset] == 0x47 }
        }?.0
    }
}
