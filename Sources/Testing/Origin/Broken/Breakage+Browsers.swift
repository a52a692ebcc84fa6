internal import NIOCore

extension Breakage {
    /// Faults for which browsers refuse media.
    static let browsers: [Breakage] = [
        .initialization("browsers-refuse", "vod/fmp4/master.m3u8", "vod/dash/number.mpd") { section in
            section.withoutDecoderDescription
        },
        .segment("browsers-drop-track", "vod/ts/master.m3u8") { _, made, _, _ in
            made.bytes.flatMap(SoundType.replaced).map { .replaced(Resource(made.contentType, Body($0))) }
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
        for packet in TransportStream.packets(of: segment) {
            mapPID = ProgramTable.mapPID(in: packet) ?? mapPID
            if TransportStream.pid(of: packet) == mapPID, let changed = changed(packet) {
                bytes += changed
                isReplaced = true
            } else {
                bytes += packet
            }
        }
        return isReplaced ? bytes : nil
    }

    private static func changed(_ packet: [UInt8]) -> [UInt8]? {
        guard var map = ProgramMapPacket(packet) else { return nil }
        for index in map.streams.indices where map.streams[index].type == aac { map.streams[index].type = dts }
        return map.packet
    }
}
