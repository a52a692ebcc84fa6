/// Adds splice information to a transport stream (SCTE 35, section 8): an entry of the stream type 0x86 in every
/// program map, and the section in a packet behind the first of them.
enum SpliceStream {
    private static let (pid, streamType) = (0x1F1, UInt8(0x86))
    /// The descriptor of the program that announces splice information.
    private static let registration: [UInt8] = [0x05, 4] + Array("CUEI".utf8)

    /// The segment with the stream of splice information.
    /// - Parameters:
    ///   - section: the section; nil for a segment without one.
    ///   - number: counts the packets of the stream, from 0.
    static func adding(_ section: [UInt8]?, numbered number: UInt8, to segment: [UInt8]) -> [UInt8] {
        var (result, waiting, map) = ([UInt8](), section, Int?.none)
        result.reserveCapacity(segment.count + ProgramTable.packetLength)
        for start in stride(from: 0, through: segment.count - ProgramTable.packetLength, by: ProgramTable.packetLength)
        {
            let packet = Array(segment[start..<(start + ProgramTable.packetLength)])
            let pid = ProgramTable.pid(of: packet)
            if pid == 0 { map = ProgramTable.range(in: packet).flatMap { ProgramTable.mapPID(in: packet[$0]) } ?? map }
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

    /// The packet of a program map with the stream of splice information; nil if the packet has no room for its entry.
    private static func announcing(_ packet: [UInt8]) -> [UInt8]? {
        guard let place = ProgramTable.range(in: packet), place.count >= 16 else { return nil }
        let map = Array(packet[place].dropLast(4))
        let streams = 12 + (Int(map[10] & 0x0F) << 8 | Int(map[11]))
        guard streams <= map.count else { return nil }
        let information = Array(map[12..<streams]) + registration
        var table =
            Array(map[..<10]) + ProgramTable.length(information.count, flags: 0xF0) + information
            + Array(map[streams...])
        table += [streamType, 0xE0 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0xF0, 0]
        table.replaceSubrange(1..<3, with: ProgramTable.length(table.count + 1, flags: map[1] & 0xF0))
        return ProgramTable.filled(Array(packet[..<place.lowerBound]) + ProgramTable.sealed(table))
    }

    /// A packet that holds a section.
    private static func packet(of section: [UInt8], numbered number: UInt8) -> [UInt8] {
        ProgramTable.filled([0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x10 | number & 0x0F, 0] + section) ?? []
    }
}
