/// Codecs that libavformat does not demux, by their sample entries.
enum NamedCodecs {
    /// The names of the codecs of all tracks in the initialization section or the segment; none if libavformat demuxes
    /// one of them, so that the fault is in the media.
    static func names(in containers: [UnsafeRawBufferPointer]) -> [String] {
        var names: [String] = []
        for bytes in containers where SegmentFormat(bytes) == .isoBaseMedia {
            for track in BoxReading("file", bytes).first("moov")?.all("trak") ?? [] {
                let table = track.first("mdia")?.first("minf")?.first("stbl")?.first("stsd")
                // The table begins with its version and the number of its entries.
                guard let entry = table.flatMap({ Box($0.bytes, at: 8) }) else { continue }
                let type = table.flatMap { original(of: entry, in: $0.bytes) } ?? entry.type
                if demuxed.contains(type) { return [] }
                let name = name(of: type) ?? "`\(type)`"
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    /// The sample entry that encryption has replaced (`frma`, ISO/IEC 14496-12, 8.12.2); nil without encryption.
    private static func original(of entry: Box, in table: UnsafeRawBufferPointer) -> BoxType? {
        guard entry.type == "encv" || entry.type == "enca", entry.content.upperBound <= table.count else { return nil }
        let header = entry.type == "encv" ? 78 : 28
        let content = BoxReading(entry.type, UnsafeRawBufferPointer(rebasing: table[entry.content]))
        let format = content.dropping(header)?.first("sinf")?.first("frma")
        return format?.bytes.unsigned32(at: 0).map { BoxType(rawValue: $0) }
    }

    /// The sample entries of the codecs that libavformat demuxes.
    private static let demuxed: Set<BoxType> = [
        "avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "dva1", "dvav", "av01", "dav1", "vp08", "vp09", "mp4v", "mp4a",
        "ac-3", "ec-3", "Opus", "fLaC", "alac", ".mp3",
    ]

    private static func name(of entry: BoxType) -> String? { known[entry] ?? CodecFamily.refusedEntries[entry] }

    private static let known: [BoxType: String] = [
        "ac-4": "AC-4 audio", "mha1": "MPEG-H 3D audio", "mha2": "MPEG-H 3D audio", "mhm1": "MPEG-H 3D audio",
        "mhm2": "MPEG-H 3D audio", "iamf": "IAMF audio", "dtsx": "DTS-UHD audio", "dtsy": "DTS-UHD audio",
        "apac": "APAC audio", "evc1": "EVC video", "lvc1": "LCEVC video", "vvc1": "VVC video", "vvi1": "VVC video",
        "stpp": "TTML subtitles", "wvtt": "WebVTT subtitles",
    ]
}
