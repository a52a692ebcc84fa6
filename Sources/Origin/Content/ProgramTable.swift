internal import InstrumentAds

/// Sections of program-specific information that fill no more than a packet (ISO/IEC 13818-1, 2.4.4).
enum ProgramTable {
    static let packetLength = 188

    /// The identifier of a packet.
    static func pid(of packet: some Collection<UInt8>) -> Int {
        let bytes = packet.dropFirst().prefix(2)
        return bytes.reduce(0) { $0 << 8 | Int($1) } & 0x1FFF
    }

    /// The place of the table that begins in a packet, its checksum included.
    static func range(in packet: [UInt8]) -> Range<Int>? {
        guard packet.count == packetLength, packet[1] & 0x40 != 0 else { return nil }
        let payload = 4 + (packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0)
        guard payload < packetLength - 4 else { return nil }
        let start = payload + 1 + Int(packet[payload])
        guard start + 3 <= packetLength else { return nil }
        let end = start + 3 + (Int(packet[start + 1] & 0x0F) << 8 | Int(packet[start + 2]))
        return end <= packetLength && end - start >= 12 ? start..<end : nil
    }

    /// The identifier of the packets of the first program's map.
    static func mapPID(in association: ArraySlice<UInt8>) -> Int? {
        let entries = Array(association.dropFirst(8).dropLast(4))
        for start in stride(from: 0, through: entries.count - 4, by: 4) where entries[start] | entries[start + 1] != 0 {
            return Int(entries[start + 2] & 0x1F) << 8 | Int(entries[start + 3])
        }
        return nil
    }

    /// A length of twelve bits behind four others.
    static func length(_ count: Int, flags: UInt8) -> [UInt8] {
        [flags | UInt8(count >> 8 & 0x0F), UInt8(count & 0xFF)]
    }

    /// The table with its checksum.
    static func sealed(_ table: [UInt8]) -> [UInt8] {
        let checksum = CRC32MPEG2.checksum(of: table)
        return table + [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: checksum >> shift) }
    }

    /// The packet with stuffing; nil if it is too long.
    static func filled(_ packet: [UInt8]) -> [UInt8]? {
        guard packet.count <= packetLength else { return nil }
        return packet + [UInt8](repeating: 0xFF, count: packetLength - packet.count)
    }
}
