internal import InstrumentManifests

/// The variants of a manifest that a player puts into its ladder.
///
/// Every codec counts as supported.
package struct LadderSelection: Hashable, Sendable {
    /// The codecs of the ladder.
    package enum Codecs: Hashable, Sendable {
        /// All variants, whatever their codecs.
        case any
        /// The variants with the same kinds of codecs: the most efficient kinds whose lowest variant has at most the
        /// first listed bitrate, brought between `minimum` and `maximum` (bit/s), at most 1080 lines and at most 30
        /// frames per second, as far as any variant has.
        case mostEfficient(minimum: Int, maximum: Int)
    }

    /// Whether variants without a picture are left out if others have one.
    package var excludesAudioOnly: Bool
    /// The codecs of the ladder.
    package var codecs: Codecs

    /// Creates a selection; by default, all variants are in the ladder.
    package init(excludesAudioOnly: Bool = false, codecs: Codecs = .any) {
        self.excludesAudioOnly = excludesAudioOnly
        self.codecs = codecs
    }
}

extension LadderSelection {
    /// The places of the variants in a presentation that belong to the ladder; never empty where there are variants.
    func places(in presentation: Presentation) -> [Int] {
        var places = Array(presentation.variants.indices)
        guard presentation.format == .hls else { return places }
        let variants = presentation.variants
        if excludesAudioOnly, variants.contains(where: { $0.codecs.contains(where: CodecList.isAudio) }) {
            let pictures = places.filter { variants[$0].hasPicture }
            if !pictures.isEmpty { places = pictures }
        }
        if case .mostEfficient(let minimum, let maximum) = codecs, let first = Self.firstListed(variants, places) {
            let estimate = max(Int64(minimum), min(first.peakBitrate, Int64(maximum)))
            let kinds = CodecKinds.chosen(of: places.map { variants[$0] }, estimate: estimate)
            places = places.filter { kinds == nil || CodecKinds(variants[$0]) == kinds }
        }
        return places
    }

    /// The variant that the playlist lists first, of those at some places: the identifiers are numbers in its order.
    static func firstListed(_ variants: [Variant], _ places: [Int]) -> Variant? {
        places.map { variants[$0] }.min { (Int($0.id) ?? .max) < (Int($1.id) ?? .max) }
    }
}

extension Variant {
    fileprivate var hasPicture: Bool { resolution != nil || codecs.contains(where: CodecList.isVideo) }
}

/// The kinds of a variant's codecs: the first four characters of the video codec, then of the audio codec.
private struct CodecKinds: Hashable {
    private static let mostLines = 1080
    private static let mostFrames = 30.0
    /// hls.js, src/utils/codecs.ts, `sampleEntryCodesISO`: lower is better, other codecs have 1.
    private static let videoRanks = [
        "av01": 0.8, "dav1": 0.8, "dvh1": 0.7, "dvhe": 0.7, "hev1": 0.75, "hvc1": 0.75, "vp09": 0.9,
    ]
    private static let audioRanks = ["ac-3": 0.95, "alac": 0.9, "ec-3": 0.9, "flac": 0.9]

    private var video: String?
    private var audio: String?

    init(_ variant: Variant) {
        video = variant.codecs.first(where: CodecList.isVideo).map { String($0.prefix(4)) }
        audio = variant.codecs.first(where: CodecList.isAudio).map { String($0.prefix(4)) }
    }

    /// The kinds that hls.js begins with; nil if no variant declares codecs.
    static func chosen(of variants: [Variant], estimate: Int64) -> CodecKinds? {
        var order: [CodecKinds] = []
        var tiers: [CodecKinds: Tier] = [:]
        for variant in variants where !variant.codecs.isEmpty {
            let kinds = CodecKinds(variant)
            if tiers[kinds] == nil { order.append(kinds) }
            tiers[kinds, default: Tier()].add(variant)
        }
        guard order.count > 1 else { return order.first }
        let all = tiers.values
        let bitrate = max(estimate, all.map(\.bitrate).min() ?? 0)
        let lines = max(mostLines, all.map(\.lines).min() ?? 0)
        let frames = max(mostFrames, all.map(\.frames).min() ?? 0)
        let fitting = order.filter { kinds in
            guard let tier = tiers[kinds] else { return false }
            return tier.bitrate <= bitrate && tier.lines <= lines && tier.frames <= frames
        }
        // Of equal ranks, the first one stays.
        return fitting.min { $0.rank < $1.rank } ?? order.first
    }

    /// src/utils/codecs.ts, `codecsSetSelectionPreferenceValue`.
    private var rank: Double {
        let picture = video.map { Self.videoRanks[$0.lowercased()] ?? 1 }
        let sound = audio.map { Self.audioRanks[$0.lowercased()] ?? 1 }
        guard let picture else { return sound ?? 0 }
        return sound.map { (picture + $0) / 2 } ?? picture
    }

    /// The smallest figures of the variants with the same kinds of codecs.
    private struct Tier {
        var bitrate = Int64.max
        var lines = Int.max
        var frames = Double.infinity

        mutating func add(_ variant: Variant) {
            bitrate = min(bitrate, variant.peakBitrate)
            lines = min(lines, variant.resolution.map { min($0.width, $0.height) } ?? 0)
            frames = min(frames, variant.frameRate ?? 0)
        }
    }
}
