internal import NIOCore

extension Breakage {
    /// Faults for which nobody can play media, or a track of it.
    static let media: [Breakage] = [
        .document("nothing-to-play", "vod/ts/master.m3u8", "vod/dash/timeline.mpd") { text, request in
            guard request.document == "v1.m3u8" || request.document == "timeline.mpd" else { return }
            text.lines.removeAll { $0.contains("<S ") || $0.hasPrefix("#EXTINF") || $0.hasSuffix(".ts") }
        },
        .document("rendition-lengths-differ", "vod/ts/master.m3u8") { text, request in
            guard request.document == "v1.m3u8" else { return }
            for _ in 0..<2 {
                guard let place = text.lines.lastIndex(where: { $0.hasPrefix("#EXTINF") }) else { return }
                text.lines.removeSubrange(place...min(place + 1, text.lines.count - 1))
            }
        },
        .resource("segment-undecipherable", "vod/aes/index.m3u8") { resource, request in
            if request.document == "key" { resource.body = Body("another 16 bytes") }
        },
        .resource("byte-range-wrong", "vod/range/master.m3u8") { resource, _ in resource.ranges = .wholeBody },
        .resource("byte-range-ignored", "vod/range/master.m3u8") { resource, _ in resource.ranges = .ignored },
        .segment("tracks-changed", "vod/ts/master.m3u8") { number, made, _, _ in
            number == 1 ? made.bytes?.withoutSound.map { .replaced(Resource(made.contentType, Body($0))) } : nil
        },
        .segment("track-missing", "vod/ts/master.m3u8") { _, made, _, _ in
            made.bytes?.withoutSound.map { .replaced(Resource(made.contentType, Body($0))) }
        },
        .document("resolution-mismatch", "vod/ts/master.m3u8", "vod/dash/number.mpd") { text, _ in
            text.changeAttribute("RESOLUTION") { _ in "1920x1080" }
            text.changeAttribute("width") { _ in "1920" }
        },
        .segment("keyframe-missing", "vod/fmp4/master.m3u8") { number, made, request, _ in
            guard number == 1, request.names.contains("v1"), let bytes = made.bytes else { return nil }
            return .replaced(Resource(made.contentType, Body(bytes.withoutFirstKeyframe)))
        },
        .resource("subtitles-malformed", "vod/subtitles/master.m3u8") { resource, request in
            guard request.document == "0.vtt" else { return }
            resource.body = Body("WEBVTT\n\n00:00:01.000 --> 00:00:00.500\nThe end is before the start.\n")
        },
        .resource("subtitle-times-wrong", "vod/subtitles/master.m3u8") { resource, request in
            guard request.document.hasSuffix(".vtt"), let bytes = resource.bytes else { return }
            let text = String(decoding: bytes, as: UTF8.self)
            resource.body = Body(text.replacing("MPEGTS:", with: "MPEGTS:90"))
        },
    ]
}

extension [UInt8] {
    /// A transport stream without its sound: neither packets nor an entry in the map of the program; nil without a map.
    fileprivate var withoutSound: [UInt8]? {
        var (bytes, mapPID, sound) = ([UInt8](), Int?.none, Set<Int>())
        for packet in TransportStream.packets(of: self) {
            mapPID = ProgramTable.mapPID(in: packet) ?? mapPID
            let pid = TransportStream.pid(of: packet)
            if pid == mapPID, var map = ProgramMapPacket(packet) {
                sound.formUnion(map.streams.filter { $0.type == 0x0F }.map(\.pid))
                map.streams.removeAll { sound.contains($0.pid) }
                bytes += map.packet ?? packet
            } else {
                bytes += sound.contains(pid) ? TransportStream.nullPacket : packet
            }
        }
        return sound.isEmpty ? nil : bytes
    }

    /// A fragment whose first sample is no keyframe, by its flags (ISO/IEC 14496-12, 8.8.3.1 and 8.8.8) and by the type
    /// of its first slice of H.264.
    fileprivate var withoutFirstKeyframe: [UInt8] {
        guard let type = firstRange(of: Array("trun".utf8)), type.upperBound + 16 <= count else { return self }
        let flags = self[(type.upperBound + 1)..<(type.upperBound + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard flags & 0x4 != 0 else { return self }
        let place = type.upperBound + (flags & 0x1 != 0 ? 12 : 8)
        var bytes = self
        bytes.replaceSubrange(place..<(place + 4), with: [0x01, 0x01, 0x00, 0x00])
        if let data = firstRange(of: Array("mdat".utf8)), data.upperBound + 4 < count {
            // Behind the length of the unit: an IDR slice becomes another slice.
            if bytes[data.upperBound + 4] & 0x1F == 5 { bytes[data.upperBound + 4] = 0x41 }
        }
        return bytes
    }
}
