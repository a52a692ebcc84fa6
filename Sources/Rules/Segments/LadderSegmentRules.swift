internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// The segments have other codecs than the manifest declares.
    public static let codecsMismatch = Rule(
        "codecs-mismatch",
        .error,
        "The segments have other codecs than declared",
        explanation:
            "Players choose decoders by the declared codecs and fail at the first segment, or skip a variant they could play.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.7.2",
        checks: [
            .segment { facts, _, history in
                guard facts.failure == nil, !facts.tracks.isEmpty else { return [] }
                for declared in declaredCodecs(of: facts.rendition, history) where !declared.isEmpty {
                    let wrong = facts.tracks.first { !CodecFamily.isDeclared($0.codec, in: declared) }
                    if let wrong {
                        return [
                            Problem(
                                found: "\(wrong.codec) in segment \(facts.sequence)",
                                expected: "a codec of \(declared.joined(separator: ",").excerpt())",
                                advice: "Correct CODECS, or the encoder's settings."
                            )
                        ]
                    }
                }
                return []
            }
        ]
    )

    /// The codecs that the manifest declares for a rendition: a list for each variant that plays it.
    private static func declaredCodecs(of name: String, _ history: StreamHistory) -> [[String]] {
        guard let presentation = history.presentation else { return [] }
        if presentation.format == .dash {
            return presentation.renditions.filter { $0.id.description == name }.map(\.codecs)
        }
        return presentation.variants.filter { variant in
            variant.main.description == name || variant.audio.contains { $0.description == name }
        }.map(\.codecs)
    }

    /// Segments exceed the declared bandwidth.
    public static let bandwidthExceeded = Rule(
        "bandwidth-exceeded",
        .error,
        "Segments exceed the declared bandwidth",
        explanation: "Players choose a variant that their connection cannot carry, and stall.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.5.2",
        checks: [
            .segment { facts, _, history in
                guard facts.failure == nil, let count = facts.byteCount, facts.declaredDuration > 0,
                    let presentation = history.presentation
                else { return [] }
                let bits = Int64(clamping: count).saturatingMultiply(8)
                let rate = bits.scaled(by: 1_000_000_000, over: facts.declaredDuration)
                if presentation.format == .dash { return exceeded(rate, bits, facts, presentation, history) }
                // Shorter segments do not count alone (section 4.4.6.2: half a target duration).
                guard facts.declaredDuration >= 500_000_000 else { return [] }
                for variant in history.variants(playing: facts.rendition) where variant.peakBitrate > 0 {
                    let whole = rate.saturatingAdd(audioRate(of: variant, history))
                    guard whole > variant.peakBitrate.saturatingAdd(variant.peakBitrate / 10) else { continue }
                    return [bandwidthProblem(whole, variant.peakBitrate, facts)]
                }
                return []
            }
        ]
    )

    /// A buffer of `minBufferTime` absorbs what exceeds the bandwidth of a representation.
    private static func exceeded(
        _ rate: Int64,
        _ bits: Int64,
        _ facts: SegmentFacts,
        _ presentation: Presentation,
        _ history: StreamHistory
    ) -> [Problem] {
        guard let bandwidth = presentation.renditions.first(where: { $0.id.description == facts.rendition })?.bitrate,
            bandwidth > 0
        else { return [] }
        let time = facts.declaredDuration.saturatingAdd(history.manifest?.root.duration("minBufferTime") ?? 0)
        guard bits > bandwidth.scaled(by: time, over: 1_000_000_000).saturatingMultiply(11) / 10 else { return [] }
        return [bandwidthProblem(rate, bandwidth, facts)]
    }

    /// The largest bit rate of the fetched segments of the sound that plays beside a variant's pictures.
    private static func audioRate(of variant: Variant, _ history: StreamHistory) -> Int64 {
        let rates = variant.audio.filter { $0 != variant.main }.compactMap { history.rendition($0.description) }
            .flatMap(\.facts).map { facts in
                Int64(clamping: facts.byteCount ?? 0).saturatingMultiply(8)
                    .scaled(by: 1_000_000_000, over: facts.declaredDuration)
            }
        return rates.max() ?? 0
    }

    private static func bandwidthProblem(_ rate: Int64, _ declared: Int64, _ facts: SegmentFacts) -> Problem {
        Problem(
            found: "\(rate / 1_000) kbit/s in segment \(facts.sequence)",
            expected: "at most the declared \(declared / 1_000) kbit/s and a tenth",
            advice: "Raise the declared bandwidth, or limit the encoder's peaks."
        )
    }
}
