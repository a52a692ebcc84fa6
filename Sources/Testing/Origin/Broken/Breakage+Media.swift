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
        .resource("content-range-missing", "vod/range/master.m3u8") { resource, _ in resource.ranges = .unnamed },
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
        .document("frame-rate-mismatch", "vod/ts/master.m3u8", "vod/dash/number.mpd") { text, _ in
            text.changeAttribute("FRAME-RATE") { _ in "50.000" }
            text.changeAttribute("frameRate") { _ in "50" }
        },
        .document("video-range-mismatch", "vod/ts/master.m3u8", "vod/dash/number.mpd") { text, _ in
            text.replace("#EXT-X-STREAM-INF:", with: "#EXT-X-STREAM-INF:VIDEO-RANGE=PQ,")
            let scheme = "urn:mpeg:mpegB:cicp:TransferCharacteristics"
            text.lines = text.lines.flatMap { line in
                guard line.contains("<AdaptationSet contentType=\"video\"") else { return [line] }
                return [line, "<SupplementalProperty schemeIdUri=\"\(scheme)\" value=\"16\"/>"]
            }
        },
        .document("audio-configuration-mismatch", "vod/fmp4/master.m3u8", "vod/dash/number.mpd") { text, _ in
            text.changeAttribute("CHANNELS") { _ in "6" }
            text.changeAttribute("audioSamplingRate") { _ in "44100" }
        },
        .segment("tables-missing", "vod/ts/master.m3u8") { number, made, _, _ in
            number == 1 ? made.bytes.map { .replaced(Resource(made.contentType, Body($0.withoutTables))) } : nil
        },
        .segment("encoding-changed", "vod/ts/v0.m3u8") { number, made, request, fixtures in
            guard number == 1, request.names.contains("v0") else { return nil }
            return fixtures.track("v1", .transport)?.body(1).map { .replaced(Resource(made.contentType, $0)) }
        },
        .segment("keyframe-missing", "vod/ts/master.m3u8") { number, made, request, _ in
            guard number == 1, request.names.contains("v1") else { return nil }
            return made.bytes.map { .replaced(Resource(made.contentType, Body($0.withoutFirstPicture))) }
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

    /// A transport stream without its tables.
    fileprivate var withoutTables: [UInt8] {
        var (bytes, mapPID) = ([UInt8](), Int?.none)
        for packet in TransportStream.packets(of: self) {
            mapPID = ProgramTable.mapPID(in: packet) ?? mapPID
            let pid = TransportStream.pid(of: packet)
            bytes += pid == 0 || pid == mapPID ? TransportStream.nullPacket : packet
        }
        return bytes
    }

    /// A transport stream without the first picture of its H.264.
    fileprivate var withoutFirstPicture: [UInt8] {
        var (bytes, mapPID, video, pictures) = ([UInt8](), Int?.none, Int?.none, 0)
        for packet in TransportStream.packets(of: self) {
            mapPID = ProgramTable.mapPID(in: packet) ?? mapPID
            let pid = TransportStream.pid(of: packet)
            if pid == mapPID, let map = ProgramMapPacket(packet) {
                video = map.streams.first { $0.type == 0x1B }?.pid
            }
            // A payload that begins a unit is a picture.
            if pid == video, packet[1] & 0x40 != 0 { pictures += 1 }
            bytes += pid == video && pictures < 2 ? TransportStream.nullPacket : packet
        }
        return bytes
    }
}
