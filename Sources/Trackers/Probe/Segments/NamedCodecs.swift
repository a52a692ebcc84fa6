/// Codecs that libavformat does not demux, by their sample entries.
enum NamedCodecs {
    /// The names of the codecs of all tracks in the initialization section or the segment.
    static func names(in containers: [UnsafeRawBufferPointer]) -> [String] {
        var names: [String] = []
        for bytes in containers where SegmentFormat(bytes) == .isoBaseMedia {
            for track in BoxReading("file", bytes).first("moov")?.all("trak") ?? [] {
                let table = track.first("mdia")?.first("minf")?.first("stbl")?.first("stsd")
                // The table begins with its version and the number of its entries.
                guard let entry = table.flatMap({ Box($0.bytes, at: 8) }) else { continue }
                let name = name(of: entry.type) ?? "`\(entry.type)`"
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    private static func name(of entry: BoxType) -> String? { known[entry] ?? CodecFamily.refusedEntries[entry] }

    private static let known: [BoxType: String] = [
        "ac-4": "AC-4 audio", "mha1": "MPEG-H 3D audio", "mha2": "MPEG-H 3D audio", "mhm1": "MPEG-H 3D audio",
        "mhm2": "MPEG-H 3D audio", "iamf": "IAMF audio", "dtsx": "DTS-UHD audio", "dtsy": "DTS-UHD audio",
        "apac": "APAC audio", "evc1": "EVC video", "lvc1": "LCEVC video", "vvc1": "VVC video", "vvi1": "VVC video",
        "stpp": "TTML subtitles", "wvtt": "WebVTT subtitles",
    ]
}
