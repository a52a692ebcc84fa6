internal import InstrumentAds

/// Sections of program-specific information that fill no more than a packet (ISO/IEC 13818-1, 2.4.4).
enum ProgramTable {
    /// The place of the table that begins in a packet, its checksum included.
    static func range(in packet: [UInt8]) -> Range<Int>? {
        let length = TransportStream.packetLength
        guard packet.count == length, packet[1] & 0x40 != 0 else { return nil }
        let payload = 4 + (packet[3] & 0x20 != 0 ? 1 + Int(packet[4]) : 0)
        guard payload < length - 4 else { return nil }
        let start = payload + 1 + Int(packet[payload])
        guard start + 3 <= length else { return nil }
        let end = start + 3 + (Int(packet[start + 1] & 0x0F) << 8 | Int(packet[start + 2]))
        return end <= length && end - start >= 12 ? start..<end : nil
    }

    /// The identifier of the packets of the first program's map; nil for a packet without an association of programs.
    static func mapPID(in packet: [UInt8]) -> Int? {
        guard TransportStream.pid(of: packet) == 0, let range = range(in: packet) else { return nil }
        let entries = Array(packet[range].dropFirst(8).dropLast(4))
        for start in stride(from: 0, through: entries.count - 4, by: 4) where entries[start] | entries[start + 1] != 0 {
            return Int(entries[start + 2] & 0x1F) << 8 | Int(entries[start + 3])
        }
        return nil
    }
}

/// The packet of a program's map, to be changed and written again (ISO/IEC 13818-1, 2.4.4.8).
struct ProgramMapPacket {
    struct Stream {
        var type: UInt8
        var pid: Int
        var descriptors: [UInt8] = []
    }

    /// The descriptors of the program.
    var descriptors: [UInt8]
    var streams: [Stream] = []
    /// The packet in front of the table, and the table in front of the length of the program's descriptors.
    private let head: [UInt8]
    private let fields: [UInt8]

    /// Nil for other bytes.
    init?(_ packet: [UInt8]) {
        guard let place = ProgramTable.range(in: packet), place.count >= 16 else { return nil }
        let map = Array(packet[place].dropLast(4))
        var start = 12 + Self.length(map, at: 10)
        guard start <= map.count else { return nil }
        (head, fields, descriptors) = (Array(packet[..<place.lowerBound]), Array(map[..<10]), Array(map[12..<start]))
        while start < map.count {
            guard start + 5 <= map.count, case let end = start + 5 + Self.length(map, at: start + 3), end <= map.count
            else { return nil }
            let pid = Int(map[start + 1] & 0x1F) << 8 | Int(map[start + 2])
            streams.append(Stream(type: map[start], pid: pid, descriptors: Array(map[(start + 5)..<end])))
            start = end
        }
    }

    /// The packet; nil if there is no room for its table.
    var packet: [UInt8]? {
        var table = fields + Self.length(descriptors.count, flags: 0xF0) + descriptors
        for stream in streams {
            table += [stream.type, 0xE0 | UInt8(stream.pid >> 8), UInt8(stream.pid & 0xFF)]
            table += Self.length(stream.descriptors.count, flags: 0xF0) + stream.descriptors
        }
        // Four bytes of the checksum follow; the three in front are not counted.
        table.replaceSubrange(1..<3, with: Self.length(table.count + 1, flags: fields[1] & 0xF0))
        let checksum = MP4Box.word(CRC32MPEG2.checksum(of: table))
        return TransportStream.filled(head + table + checksum)
    }

    /// A length of twelve bits behind four others.
    private static func length(_ count: Int, flags: UInt8) -> [UInt8] {
        [flags | UInt8(count >> 8 & 0x0F), UInt8(count & 0xFF)]
    }

    private static func length(_ map: [UInt8], at place: Int) -> Int {
        Int(map[place] & 0x0F) << 8 | Int(map[place + 1])
    }
}
