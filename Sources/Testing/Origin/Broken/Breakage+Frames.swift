internal import NIOCore

extension Breakage {
    /// Faults of the frames of segments.
    static let frames: [Breakage] = [
        .segment("segment-truncated", "vod/ts/master.m3u8") { number, made, request, _ in
            guard request.names.contains("v1"), number == 1, let bytes = made.bytes else { return nil }
            return .replaced(Resource(made.contentType, Body(Array(bytes.dropLast(100)))))
        },
        .segment("rendition-times-differ", "vod/fmp4/master.m3u8") { number, made, request, fixtures in
            guard request.names.contains("en"), let track = fixtures.track("en", .fragmented) else { return nil }
            // The timestamps of the next round of the loop.
            return track.body(number + track.count).map { .replaced(Resource(made.contentType, $0)) }
        },
        .packets("tracks-apart", of: .aac) { part in part > 0.5 },
        .packets("frames-missing", of: .h264) { part in (0.3...0.7).contains(part) },
    ]

    /// Leaves packets of a track out of a segment, by their place in the segment from 0 to 1.
    private static func packets(
        _ rule: String,
        of type: StreamType,
        isLeftOut: @escaping @Sendable (Double) -> Bool
    ) -> Breakage {
        .segment(rule, "vod/ts/master.m3u8") { number, made, request, _ in
            guard request.names.contains("v1"), number == 1, let bytes = made.bytes else { return nil }
            let kept = type.packetsLeftOut(of: bytes, isLeftOut)
            return .replaced(Resource(made.contentType, Body(kept)))
        }
    }
}

/// The type of a track in a transport stream (ISO/IEC 13818-1, table 2-34).
private enum StreamType: UInt8 {
    case aac = 0x0F
    case h264 = 0x1B

    /// A segment without some packets of the track.
    func packetsLeftOut(of segment: [UInt8], _ isLeftOut: (Double) -> Bool) -> [UInt8] {
        var (kept, mapPID, track) = ([UInt8](), Int?.none, Int?.none)
        for (place, packet) in TransportStream.packets(of: segment).enumerated() {
            mapPID = ProgramTable.mapPID(in: packet) ?? mapPID
            let pid = TransportStream.pid(of: packet)
            if pid == mapPID { track = ProgramMapPacket(packet)?.streams.first { $0.type == rawValue }?.pid ?? track }
            let part = Double(place * TransportStream.packetLength) / Double(max(segment.count, 1))
            if pid == track, isLeftOut(part) { continue }
            kept += packet
        }
        return kept
    }
}
