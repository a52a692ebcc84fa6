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

    /// Reads the header; nil if the packet is damaged, scrambled, or announces a discontinuity of its counter.
    ///
    /// - Parameter bytes: at least 188 bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size, bytes[0] == 0x47, bytes[1] & 0x80 == 0, bytes[3] & 0xC0 == 0 else { return nil }
        pid = UInt16(bytes[1] & 0x1F) << 8 | UInt16(bytes[2])
        startsUnit = bytes[1] & 0x40 != 0
        continuity = bytes[3] & 0x0F
        let hasAdaptation = bytes[3] & 0x20 != 0
        hasPayload = bytes[3] & 0x10 != 0
        guard hasAdaptation else {
            payloadOffset = 4
            return
        }
        let length = Int(bytes[4])
        payloadOffset = 5 + length
        guard payloadOffset <= Self.size - (hasPayload ? 1 : 0) else { return nil }
        if length > 0, bytes[5] & 0x80 != 0 { return nil }
    }
}
