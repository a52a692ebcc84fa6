internal import InstrumentManifests

/// A codec without profile and level.
enum CodecFamily: String, Hashable, Sendable {
    case h264 = "H.264"
    case h265 = "H.265"
    case vp8 = "VP8"
    case vp9 = "VP9"
    case av1 = "AV1"
    case aac = "AAC"
    case mp3 = "MP3"
    case ac3 = "AC-3"
    case enhancedAC3 = "Enhanced AC-3"
    case opus = "Opus"
    case flac = "FLAC"

    var isVideo: Bool {
        switch self {
        case .h264, .h265, .vp8, .vp9, .av1: true
        case .aac, .mp3, .ac3, .enhancedAC3, .opus, .flac: false
        }
    }

    /// Nil for an entry that is no codec of these, and for `mp4a`, which may be several.
    init?(sampleEntry type: BoxType) {
        switch type {
        case "avc1", "avc3": self = .h264
        case "hvc1", "hev1": self = .h265
        case "vp08": self = .vp8
        case "vp09": self = .vp9
        case "av01": self = .av1
        case "ac-3": self = .ac3
        case "ec-3": self = .enhancedAC3
        case "Opus": self = .opus
        case "fLaC": self = .flac
        default: return nil
        }
    }

    /// The codec of a member of a manifest's list (RFC 6381); nil for others.
    init?(declared codec: String) {
        let name = codec.lowercased()
        let exact: [String: CodecFamily] = [
            "mp4a.69": .mp3, "mp4a.6b": .mp3, "mp4a.40.34": .mp3, "mp3": .mp3, "mp4a.a5": .ac3, "mp4a.a6": .enhancedAC3,
            "mp4a.40.2": .aac, "mp4a.40.5": .aac, "mp4a.40.29": .aac, "mp4a.40.42": .aac, "mp4a.67": .aac,
            "vp8": .vp8, "vp9": .vp9, "opus": .opus, "flac": .flac, "ac-3": .ac3, "ec-3": .enhancedAC3,
        ]
        let byEntry: [String: CodecFamily] = [
            "avc1": .h264, "avc3": .h264, "hvc1": .h265, "hev1": .h265, "vp08": .vp8, "vp09": .vp9, "av01": .av1,
        ]
        let entry = name.split(separator: ".", maxSplits: 1).first.map(String.init) ?? ""
        guard let found = exact[name] ?? byEntry[entry] else { return nil }
        self = found
    }

    /// Sample entries of codecs that no browser's Media Source implementation has, with their names. Entries that are
    /// not listed are in doubt.
    static let refusedEntries: [BoxType: String] = [
        "mp4v": "MPEG-2 or MPEG-4 Part 2 video", "m2v1": "MPEG-2 video", "s263": "H.263 video", "h263": "H.263 video",
        "vc-1": "VC-1 video", "jpeg": "Motion JPEG video", "mjp2": "Motion JPEG 2000 video", "drac": "Dirac video",
        "dtsc": "DTS audio", "dtsh": "DTS-HD audio", "dtsl": "DTS-HD Master Audio", "dtse": "DTS Express audio",
        "mlpa": "Dolby TrueHD audio", "samr": "AMR audio", "sawb": "AMR audio", "sawp": "AMR audio",
        "sqcp": "QCELP audio", "sevc": "EVRC audio", "ssmv": "SMV audio", "alaw": "A-law audio", "ulaw": "µ-law audio",
    ]

    /// The contradiction between the codecs of a track and the ones that the manifest declares; nil without one, or in
    /// doubt.
    static func contradiction(of found: [CodecFamily], declared codecs: [String]) -> MediaRefusal? {
        for family in found {
            let candidates = codecs.filter { CodecList.isVideo($0) == family.isVideo && !CodecList.isText($0) }
            let families = candidates.map { CodecFamily(declared: $0) }
            guard !families.isEmpty, families.allSatisfy({ $0 != nil && $0 != family }) else { continue }
            return MediaRefusal(
                "the media is \(family.rawValue), and the manifest declares \(candidates.joined(separator: ", "))",
                expected: "media of the declared codecs",
                remedy: "correct the codecs in the manifest",
                ground: .declaration
            )
        }
        return nil
    }
}
