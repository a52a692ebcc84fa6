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
        result.reserveCapacity(segment.count + TransportStream.packetLength)
        for packet in TransportStream.packets(of: segment) {
            map = ProgramTable.mapPID(in: packet) ?? map
            guard TransportStream.pid(of: packet) == map, let changed = announcing(packet) else {
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
        guard var map = ProgramMapPacket(packet) else { return nil }
        map.descriptors += registration
        map.streams.append(ProgramMapPacket.Stream(type: streamType, pid: pid))
        return map.packet
    }

    /// A packet that holds a section.
    private static func packet(of section: [UInt8], numbered number: UInt8) -> [UInt8] {
        TransportStream.filled([0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x10 | number & 0x0F, 0] + section)
            ?? []
    }
}
