internal import InstrumentText

/// Lists of codecs (RFC 6381), and what they carry.
package enum CodecList {
    /// The limit of members of a list: more than any stream has, so that a long list costs little for each stream
    /// that inherits it.
    private static let mostMembers = 32

    /// Returns the members of a comma-separated list; only the first members of a list that is too long.
    package static func split(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",", maxSplits: mostMembers).prefix(mostMembers).map { String($0.trimmingSpaces) }
            .filter { !$0.isEmpty }
    }

    /// Whether a codec carries audio; the names are those of the MP4 registration authority's sample entries.
    package static func isAudio(_ codec: String) -> Bool {
        let names = ["mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "alac", "dts", "vorbis", "mha1", "mhm1", "mp3"]
        return names.contains { codec.lowercased().hasPrefix($0) }
    }

    /// Whether a codec carries subtitles.
    package static func isText(_ codec: String) -> Bool {
        ["stpp", "wvtt", "tx3g", "ttml"].contains { codec.lowercased().hasPrefix($0) }
    }

    /// The family of the codecs of a track: codecs of one family have decoders in common, and players switch among
    /// them. Sample entries that differ only in the place of their parameter sets are one family (ISO/IEC 14496-15).
    package static func family(of codecs: [String]) -> String {
        let entry = String((codecs.first { !isText($0) } ?? codecs.first ?? "").lowercased().prefix { $0 != "." })
        let families = [
            "avc3": "avc1", "hev1": "hvc1", "dvh1": "hvc1", "dvhe": "hvc1", "vvi1": "vvc1", "vp08": "vp8",
            "vp09": "vp9",
        ]
        return families[entry] ?? entry
    }

    /// Whether a codec carries video, as far as known.
    package static func isVideo(_ codec: String) -> Bool { !isAudio(codec) && !isText(codec) }
}
