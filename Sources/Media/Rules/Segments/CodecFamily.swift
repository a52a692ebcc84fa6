/// Codecs as playlists declare them (RFC 6381) against codecs as libavcodec names them.
enum CodecFamily {
    /// The beginnings of the declared names that mean a codec; nil for a codec that this table does not know.
    static func names(of codec: String) -> [String]? { table[codec] }

    private static let table: [String: [String]] = [
        "h264": ["avc1", "avc2", "avc3", "avc4", "dva1", "dvav"],
        "hevc": ["hvc1", "hev1", "dvh1", "dvhe", "hvc2", "hev2"],
        "vvc": ["vvc1", "vvi1"],
        "av1": ["av01", "dav1"],
        "vp8": ["vp08", "vp8"],
        "vp9": ["vp09", "vp9"],
        "mpeg4": ["mp4v"],
        "mpeg2video": ["mp2v", "mp4v.6"],
        "aac": ["mp4a", "aac"],
        "aac_latm": ["mp4a"],
        "mp3": ["mp4a.40.34", "mp4a.6b", "mp4a.69", "mp3", ".mp3"],
        "ac3": ["ac-3", "mp4a.a5"],
        "eac3": ["ec-3", "mp4a.a6"],
        "ac4": ["ac-4"],
        "opus": ["opus"],
        "flac": ["flac"],
        "alac": ["alac"],
        "vorbis": ["vorbis"],
    ]

    /// Whether a declared codec is one of pictures that this table knows.
    static func isKnownVideo(_ declared: String) -> Bool {
        let text = declared.lowercased()
        return videos.contains { table[$0]?.contains { text.hasPrefix($0) } ?? false }
    }

    private static let videos = ["h264", "hevc", "vvc", "av1", "vp8", "vp9", "mpeg2video"]

    /// Whether one of the declared codecs is `codec`; true for a codec that the table does not know.
    static func isDeclared(_ codec: String, in declared: [String]) -> Bool {
        guard let names = table[codec] else { return true }
        return declared.contains { text in
            let text = text.lowercased()
            return names.contains { text.hasPrefix($0) } && !(codec == "aac" && isMP3(text))
        }
    }

    private static func isMP3(_ text: String) -> Bool {
        ["mp4a.40.34", "mp4a.6b", "mp4a.69"].contains(text)
    }
}
