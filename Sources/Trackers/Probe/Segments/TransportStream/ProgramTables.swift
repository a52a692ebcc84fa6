internal import InstrumentAds

/// A section of program-specific information that fills no more than one packet (ISO/IEC 13818-1, 2.4.4).
private struct ProgramSection {
    /// The bytes between the header of eight bytes and the checksum.
    let content: UnsafeRawBufferPointer

    /// Reads the section at the beginning of a packet's payload; nil if the section is damaged, continues in another
    /// packet, or is not in force.
    init?(_ payload: UnsafeRawBufferPointer, table: UInt8) {
        guard let pointer = payload.first, payload.count > Int(pointer) + 12 else { return nil }
        let section = UnsafeRawBufferPointer(rebasing: payload[(Int(pointer) + 1)...])
        let end = 3 + (Int(section[1] & 0x0F) << 8 | Int(section[2]))
        // Current, and the only one of its table.
        guard section[0] == table, section[1] & 0x80 != 0, end >= 12, end <= section.count, section[5] & 1 == 1,
            section[6] == 0, section[7] == 0,
            CRC32MPEG2.checksum(of: UnsafeRawBufferPointer(rebasing: section[..<end])) == 0,
            section[end...].allSatisfy({ $0 == 0xFF })
        else { return nil }
        content = UnsafeRawBufferPointer(rebasing: section[8..<(end - 4)])
    }

    /// The streams that a map lists; nil if their entries do not end where the table does.
    var streams: [(type: UInt8, pid: UInt16)]? {
        guard content.count >= 4 else { return nil }
        var streams: [(type: UInt8, pid: UInt16)] = []
        var offset = 4 + (Int(content[2] & 0x0F) << 8 | Int(content[3]))
        while offset + 5 <= content.count {
            streams.append((content[offset], UInt16(content[offset + 1] & 0x1F) << 8 | UInt16(content[offset + 2])))
            offset += 5 + (Int(content[offset + 3] & 0x0F) << 8 | Int(content[offset + 4]))
        }
        return offset == content.count ? streams : nil
    }
}

/// The tables of a transport stream.
enum ProgramTables {
    /// Whether the first packet of a transport stream begins a program association or a service description (PID 0 and
    /// 17) that is whole and has a wrong checksum.
    static func isDamaged(inPacket bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= TransportPacket.size, let packet = TransportPacket(first(bytes)), packet.isPlain,
            packet.hasPayload, packet.startsUnit, packet.pid == 0 || packet.pid == 17
        else { return false }
        let payload = UnsafeRawBufferPointer(rebasing: first(bytes)[packet.payloadOffset...])
        guard let pointer = payload.first, payload.count > Int(pointer) + 4 else { return true }
        let section = UnsafeRawBufferPointer(rebasing: payload[(Int(pointer) + 1)...])
        let end = 3 + (Int(section[1] & 0x0F) << 8 | Int(section[2]))
        // A long table continues in the next packet. Padding fills the rest of this one.
        guard end <= section.count else { return packet.pid == 0 && end > 1_024 }
        return CRC32MPEG2.checksum(of: UnsafeRawBufferPointer(rebasing: section[..<end])) != 0
    }

    private static func first(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[..<TransportPacket.size])
    }
}

/// The program of a transport stream, if there is exactly one.
enum ProgramAssociation {
    /// Returns the packet identifier of the program's map; nil if the table is damaged or has several programs.
    static func mapPID(in payload: UnsafeRawBufferPointer) -> UInt16? {
        guard let content = ProgramSection(payload, table: 0)?.content, content.count % 4 == 0 else { return nil }
        var found: UInt16?
        for offset in stride(from: 0, to: content.count, by: 4) where content[offset] != 0 || content[offset + 1] != 0 {
            guard found == nil else { return nil }
            found = UInt16(content[offset + 2] & 0x1F) << 8 | UInt16(content[offset + 3])
        }
        return found
    }
}

/// The elementary streams of a program.
struct ProgramMap: Hashable, Sendable {
    struct Stream: Hashable, Sendable {
        var pid: UInt16
        var coding: ElementaryCoding
    }

    var streams: [Stream] = []
    /// The packet identifiers of known streams without pictures and sound.
    var ignored: [UInt16] = []
    /// The bytes of the table: equal bytes describe the same program.
    let bytes: [UInt8]

    /// Reads a table; nil if it is damaged, or has a stream that only libavformat knows.
    init?(_ payload: UnsafeRawBufferPointer) {
        guard let section = ProgramSection(payload, table: 2), let listed = section.streams else { return nil }
        bytes = [UInt8](section.content)
        for (type, pid) in listed {
            guard !streams.contains(where: { $0.pid == pid }), !ignored.contains(pid) else { return nil }
            if let coding = ElementaryCoding(streamType: type) {
                streams.append(Stream(pid: pid, coding: coding))
            } else if ElementaryCoding.isData(streamType: type) {
                ignored.append(pid)
            } else {
                return nil
            }
        }
        guard !streams.isEmpty, streams.count <= 8 else { return nil }
    }
}

/// The types of the streams of a program, also those that only libavformat knows (ISO/IEC 13818-1, table 2-34).
enum ProgramTypes {
    /// Reads the first map of a transport stream; nil in doubt.
    static func types(in media: UnsafeRawBufferPointer) -> Set<UInt8>? {
        var (mapPID, start) = (UInt16?.none, 0)
        while start + TransportPacket.size <= media.count {
            let bytes = UnsafeRawBufferPointer(rebasing: media[start..<(start + TransportPacket.size)])
            start += TransportPacket.size
            guard let packet = TransportPacket(bytes), packet.isPlain, packet.hasPayload, packet.startsUnit else {
                continue
            }
            let payload = UnsafeRawBufferPointer(rebasing: bytes[packet.payloadOffset...])
            if packet.pid == 0 {
                mapPID = ProgramAssociation.mapPID(in: payload)
            } else if packet.pid == mapPID {
                return ProgramSection(payload, table: 2)?.streams.map { Set($0.map(\.type)) }
            }
        }
        return nil
    }
}

/// The codings that this module reads itself.
enum ElementaryCoding: Hashable, Sendable {
    case h264, h265, aac, ac3, enhancedAC3, mpegAudio

    /// By the registered number of a stream's type (ISO/IEC 13818-1, table 2-34; ATSC A/53 part 3 for AC-3).
    init?(streamType: UInt8) {
        switch streamType {
        case 0x1B: self = .h264
        case 0x24: self = .h265
        case 0x0F: self = .aac
        case 0x03, 0x04: self = .mpegAudio
        case 0x81: self = .ac3
        case 0x87: self = .enhancedAC3
        default: return nil
        }
    }

    /// Whether a stream has neither pictures nor sound: timed metadata (ID3) or splice information (SCTE 35).
    static func isData(streamType: UInt8) -> Bool { streamType == 0x15 || streamType == 0x86 }

    var track: PlaybackModel.Track {
        switch self {
        case .h264, .h265: .video
        case .aac, .ac3, .enhancedAC3, .mpegAudio: .audio
        }
    }
}
