internal import InstrumentText

/// Lists of codecs (RFC 6381), and what they carry.
enum CodecList {
    /// How many members of a list count: more than any stream has, so that a long list does not grow with each stream
    /// that inherits it.
    private static let mostMembers = 32

    /// The members of a list with commas; the first ones of a list that is too long.
    static func split(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",", maxSplits: mostMembers).prefix(mostMembers).map { String($0.trimmingSpaces) }
            .filter { !$0.isEmpty }
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
