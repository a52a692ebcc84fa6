internal import Instrument
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
        let names = [
            "mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "alac", "dts", "vorbis", "mha1", "mhm1", "mha2", "mhm2",
            "iamf", "mlpa", "apac", "mp3", "samr", "sawb", "ipcm", "fpcm", "lpcm",
        ]
        return names.contains { codec.lowercased().hasPrefix($0) }
    }

    /// Whether a codec carries subtitles.
    package static func isText(_ codec: String) -> Bool {
        ["stpp", "wvtt", "tx3g", "ttml"].contains { codec.lowercased().hasPrefix($0) }
    }

    /// Whether a codec string names a codec whose strings must have a profile, without one (RFC 6381 section 3.3;
    /// ISO/IEC 14496-15 annex E; the bindings of AV1 and VP9).
    package static func lacksProfile(_ codec: String) -> Bool { profiledNames.contains(codec.lowercased()) }

    private static let profiledNames: Set<String> = [
        "avc1", "avc2", "avc3", "avc4", "hvc1", "hev1", "dvh1", "dvhe", "dva1", "dvav", "vvc1", "vvi1", "av01", "vp09",
        "mp4a", "mp4v",
    ]

    /// Whether a codec string means something: a name that is registered or in use, and parameters in its form where
    /// the name has a strict form.
    package static func isKnown(_ codec: String) -> Bool {
        let lower = codec.lowercased()
        let name = String(lower.prefix { $0 != "." })
        guard knownNames.contains(name) || name.hasPrefix("dts") else { return false }
        guard lower.utf8.count > name.utf8.count else { return true }
        let parameters = lower.dropFirst(name.count + 1).split(separator: ".", omittingEmptySubsequences: false)
        guard parameters.allSatisfy({ !$0.isEmpty }) else { return false }
        switch name {
        case "avc1", "avc2", "avc3", "avc4":
            // Six hexadecimal digits, or profile and level in decimals as older playlists write them.
            return parameters.count == 1
                ? parameters[0].utf8.count == 6 && isHexadecimal(parameters[0])
                : parameters.count == 2 && parameters.allSatisfy { DecimalText.integer($0) != nil }
        case "mp4a", "mp4v":
            return parameters[0].utf8.count == 2 && isHexadecimal(parameters[0]) && parameters.count <= 2
        default: return true
        }
    }

    private static func isHexadecimal(_ text: Substring) -> Bool { text.utf8.allSatisfy { $0.hexDigitValue != nil } }

    /// The names before the first dot, in lower case (RFC 6381; the MP4 registration authority; WebM).
    private static let knownNames: Set<String> = [
        "avc1", "avc2", "avc3", "avc4", "svc1", "svc2", "mvc1", "mvc2", "mvc3", "mvc4", "hvc1", "hev1", "hvc2", "hev2",
        "hvt1", "lhv1", "lhe1", "dvh1", "dvhe", "dva1", "dvav", "dav1", "vvc1", "vvi1", "evc1", "lvc1", "av01", "vp08",
        "vp09", "vp10", "vp8", "vp9", "mp4v", "mp2v", "m2v1", "s263", "h263", "vc-1", "jpeg", "mjp2", "mjpg", "drac",
        "theora", "encv", "mp4a", "ac-3", "ec-3", "ac-4", "mlpa", "mha1", "mha2", "mhm1", "mhm2", "iamf", "apac",
        "opus", "flac", "alac", "vorbis", "mp3", "samr", "sawb", "sawp", "sevc", "sqcp", "ssmv", "alaw", "ulaw",
        "ipcm", "fpcm", "lpcm", "sowt", "twos", "aac", "enca", "stpp", "wvtt", "tx3g", "ttml", "sbtt", "stxt", "c608",
        "c708", "enct", "mett", "metx", "urim", "rtmd", "png", "mp4s",
    ]

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
