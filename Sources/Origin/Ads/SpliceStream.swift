internal import InstrumentAds

/// Adds splice information to a transport stream (SCTE 35, section 8): an entry of the stream type 0x86 in every
/// program map, and the section in a packet behind the first of them.
enum SpliceStream {
    private static let packetLength = 188
    private static let (pid, streamType) = (0x1F1, UInt8(0x86))
    /// The descriptor of the program that announces splice information.
    private static let registration: [UInt8] = [0x05, 4] + Array("CUEI".utf8)

    /// The segment with the stream of splice information.
    /// - Parameters:
    ///   - section: the section; nil for a segment without one.
    ///   - number: counts the packets of the stream, from 0.
    static func adding(_ section: [UInt8]?, numbered number: UInt8, to segment: [UInt8]) -> [UInt8] {
        var (result, waiting, map) = ([UInt8](), section, Int?.none)
        result.reserveCapacity(segment.count + packetLength)
        for start in stride(from: 0, through: segment.count - packetLength, by: packetLength) {
            let packet = Array(segment[start..<(start + packetLength)])
            let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
            if pid == 0 { map = table(in: packet).flatMap { programMap(in: packet[$0]) } ?? map }
            guard pid == map, let changed = announcing(packet) else {
                result += packet
                continue
            }
            result += changed
            if let section = waiting { result += self.packet(of: section, numbered: number) }
            waiting = nil
        }
        return result
    }

    /// The place of the table that begins in a packet, its checksum included.
    private static func table(in packet: [UInt8]) -> Range<Int>? {
        guard packet[1] & 0x40 != 0 else { return nil }
        let payload = 4 + (packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0)
        guard payload < packetLength - 4 else { return nil }
        let start = payload + 1 + Int(packet[payload])
        guard start + 3 <= packetLength else { return nil }
        let end = start + 3 + (Int(packet[start + 1] & 0x0F) << 8 | Int(packet[start + 2]))
        return end <= packetLength && end - start >= 12 ? start..<end : nil
    }

    /// The identifier of the packets of the first program's map.
    private static func programMap(in association: ArraySlice<UInt8>) -> Int? {
        let entries = Array(association.dropFirst(8).dropLast(4))
        for start in stride(from: 0, through: entries.count - 4, by: 4) where entries[start] | entries[start + 1] != 0 {
            return Int(entries[start + 2] & 0x1F) << 8 | Int(entries[start + 3])
        }
        return nil
    }

    /// The packet of a program map with the stream of splice information; nil if the packet has no room for its entry.
    private static func announcing(_ packet: [UInt8]) -> [UInt8]? {
        guard let place = table(in: packet), place.count >= 16 else { return nil }
        let map = Array(packet[place].dropLast(4))
        let streams = 12 + (Int(map[10] & 0x0F) << 8 | Int(map[11]))
        guard streams <= map.count else { return nil }
        let information = Array(map[12..<streams]) + registration
        var table = Array(map[..<10]) + length(information.count, flags: 0xF0) + information + Array(map[streams...])
        table += [streamType, 0xE0 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0xF0, 0]
        table.replaceSubrange(1..<3, with: length(table.count + 1, flags: map[1] & 0xF0))
        return filled(Array(packet[..<place.lowerBound]) + sealed(table))
    }

    private static func length(_ count: Int, flags: UInt8) -> [UInt8] {
        [flags | UInt8(count >> 8 & 0x0F), UInt8(count & 0xFF)]
    }

    /// A packet that holds a section.
    private static func packet(of section: [UInt8], numbered number: UInt8) -> [UInt8] {
        filled([0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x10 | number & 0x0F, 0] + section) ?? []
    }

    private static func sealed(_ table: [UInt8]) -> [UInt8] {
        let checksum = CRC32MPEG2.checksum(of: table)
        return table + [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: checksum >> shift) }
    }

    /// The packet with stuffing; nil if it is too long.
    private static func filled(_ packet: [UInt8]) -> [UInt8]? {
        guard packet.count <= packetLength else { return nil }
        return packet + [UInt8](repeating: 0xFF, count: packetLength - packet.count)
    }
}
