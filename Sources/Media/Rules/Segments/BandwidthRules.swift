internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension Rule {
    /// Segments exceed the declared bandwidth.
    package static let bandwidthExceeded = Rule(
        "bandwidth-exceeded",
        .error,
        "Segments exceed the declared bandwidth",
        explanation: "Players choose a variant that their connection cannot carry, and stall.",
        source: "RFC 8216bis section 4.4.6.2; ISO/IEC 23009-1 clause 5.3.5.2",
        checks: [
            .segment { facts, rendition, history in
                guard facts.hasAllBytes, facts.byteCount != nil, facts.declaredDuration > 0, facts.subtitles == nil,
                    let presentation = history.presentation
                else { return [] }
                if presentation.format == .dash { return exceeded(facts, presentation, history) }
                let segments = rendition.facts.filter { $0.sequence < facts.sequence } + [facts]
                let target = rendition.current?.playlist.targetDuration ?? 0
                guard let rate = SegmentRun.peak(of: segments, target: target, endingWith: facts.sequence) else {
                    return []
                }
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
        _ facts: SegmentFacts,
        _ presentation: Presentation,
        _ history: StreamHistory
    ) -> [Problem] {
        let rendition = presentation.renditions.first { $0.id.description == facts.rendition }
        guard let bandwidth = facts.declaredBandwidth ?? rendition?.bitrate, bandwidth > 0 else { return [] }
        let time = facts.timing.mediaDuration.saturatingAdd(history.manifest?.root.duration("minBufferTime") ?? 0)
        guard facts.bits > bandwidth.scaled(by: time, over: 1_000_000_000).saturatingMultiply(11) / 10 else {
            return []
        }
        let rate = facts.bits.scaled(by: 1_000_000_000, over: facts.timing.mediaDuration)
        return [bandwidthProblem(rate, bandwidth, facts)]
    }

    /// The largest peak of the sound that plays beside a variant's pictures.
    private static func audioRate(of variant: Variant, _ history: StreamHistory) -> Int64 {
        variant.audio.filter { $0 != variant.main }.compactMap { history.rendition($0.description) }
            .compactMap { SegmentRun.peak(of: $0.facts, target: $0.current?.playlist.targetDuration ?? 0) }
            .max() ?? 0
    }

    private static func bandwidthProblem(_ rate: Int64, _ declared: Int64, _ facts: SegmentFacts) -> Problem {
        // Rates of a few kilobits would be equal after rounding.
        let isSmall = declared < 100_000
        let shown = { (rate: Int64) in isSmall ? "\(rate) bit/s" : "\(rate / 1_000) kbit/s" }
        return Problem(
            found: "\(shown(rate)) in segment \(facts.sequence)",
            expected: "at most the declared \(shown(declared)) and a tenth",
            advice: "Raise the declared bandwidth, or limit the encoder's peaks."
        )
    }
}

/// Segments that follow one another.
private struct SegmentRun {
    private var bits: Int64 = 0
    private var duration: Int64 = 0

    /// The largest bit rate of segments that follow one another and whose durations add up to between 0.5 and 1.5
    /// target durations (the peak segment bit rate, RFC 8216bis section 4.1); nil without such segments.
    ///
    /// - Parameters:
    ///   - segments: segments in the order of their numbers.
    ///   - last: the number with which the segments must end; nil for any.
    static func peak(of segments: [SegmentFacts], target: Int64, endingWith last: Int64? = nil) -> Int64? {
        var peak: Int64?
        for end in segments.indices where last == nil || segments[end].sequence == last {
            var run = SegmentRun()
            for place in segments[...end].indices.reversed() {
                if place < end, segments[place].sequence != segments[place + 1].sequence - 1 { break }
                // The bytes of a segment without a duration are those of no known time.
                guard segments[place].declaredDuration > 0 else { break }
                run.bits = run.bits.saturatingAdd(segments[place].bits)
                run.duration = run.duration.saturatingAdd(segments[place].declaredDuration)
                guard run.duration <= target.saturatingMultiply(3) / 2 else { break }
                guard run.duration >= target / 2, run.duration > 0 else { continue }
                peak = max(peak ?? 0, run.bits.scaled(by: 1_000_000_000, over: run.duration))
            }
        }
        return peak
    }
}

extension SegmentFacts {
    /// The size of the body in bits; 0 if it is not known.
    fileprivate var bits: Int64 { Int64(clamping: byteCount ?? 0).saturatingMultiply(8) }
}
