internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// The segments have other codecs than the manifest declares.
    package static let codecsMismatch = Rule(
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
                    // A codec string that names no codec has another rule.
                    guard declared.allSatisfy(CodecList.isKnown) else { continue }
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
}
