internal import NIOCore

extension Breakage {
    /// Faults for which browsers refuse media.
    static let browsers: [Breakage] = [
        .initialization("browsers-refuse", "vod/fmp4/master.m3u8", "vod/dash/number.mpd") { section in
            section.withoutDecoderDescription
        },
        .segment("browsers-drop-track", "vod/ts/master.m3u8") { _, made, _, _ in
            guard let packets = made.body.bytes(at: 0, count: made.body.count) else { return nil }
            let bytes = SoundType.replaced(in: Array(packets.readableBytesView))
            return bytes.map { .replaced(Resource(made.contentType, Body($0))) }
        },
    ]
}

extension [UInt8] {
    /// An initialization section whose AAC has no AudioSpecificConfig: the tag of the descriptor (ISO/IEC 14496-1,
    /// 7.2.2.1) becomes that of one that readers skip.
    fileprivate var withoutDecoderDescription: [UInt8] {
        guard let start = firstRange(of: Array("esds".utf8))?.upperBound,
            let place = self[start...].firstRange(of: [0x05, 0x80, 0x80, 0x80])
        else { return self }
        var bytes = self
        bytes[place.lowerBound] = 0x13
        return bytes
    }
}

/// The type of the stream of sound in the map of a transport stream's program.
private enum SoundType {
    private static let aac: UInt8 = 0x0F
    private static let dts: UInt8 = 0x8A

    /// The segment whose map says that AAC is DTS; nil without such a map.
    static func replaced(in segment: [UInt8]) -> [UInt8]? {
        var (bytes, mapPID, isReplaced) = ([UInt8](), Int?.none, false)
        for start in stride(from: 0, to: segment.count - ProgramTable.packetLength + 1, by: ProgramTable.packetLength) {
            let packet = Array(segment[start..<(start + ProgramTable.packetLength)])
            let pid = ProgramTable.pid(of: packet)
            if pid == 0, let table = ProgramTable.range(in: packet) {
                mapPID = ProgramTable.mapPID(in: packet[table])
            }
            if pid == mapPID, let changed = changed(packet) {
                bytes += changed
                isReplaced = true
            } else {
                bytes += packet
            }
        }
        return isReplaced ? bytes : nil
    }

    private static func changed(_ packet: [UInt8]) -> [UInt8]? {
        guard let place = ProgramTable.range(in: packet), place.count >= 16 else { return nil }
        var table = Array(packet[place].dropLast(4))
        var start = 12 + (Int(table[10] & 0x0F) << 8 | Int(table[11]))
        while start + 5 <= table.count {
            if table[start] == aac { table[start] = dts }
            start += 5 + (Int(table[start + 3] & 0x0F) << 8 | Int(table[start + 4]))
        }
        return ProgramTable.filled(Array(packet[..<place.lowerBound]) + ProgramTable.sealed(table))
    }
}
