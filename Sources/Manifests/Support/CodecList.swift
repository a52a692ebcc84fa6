/// Lists of codecs (RFC 6381), and what they carry.
enum CodecList {
    /// The members of a list with commas.
    static func split(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { String($0).trimmingSpaces }.filter { !$0.isEmpty }
    }

    /// Whether a codec carries sound; the names are those of the MP4 registration authority's sample entries.
    static func isAudio(_ codec: String) -> Bool {
        let names = ["mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "alac", "dts", "vorbis", "mha1", "mhm1", "mp3"]
        return names.contains { codec.lowercased().hasPrefix($0) }
    }

    /// Whether a codec carries words.
    static func isText(_ codec: String) -> Bool {
        ["stpp", "wvtt", "tx3g", "ttml"].contains { codec.lowercased().hasPrefix($0) }
    }

    /// Whether a codec carries pictures, as far as known.
    static func isVideo(_ codec: String) -> Bool { !isAudio(codec) && !isText(codec) }
}
