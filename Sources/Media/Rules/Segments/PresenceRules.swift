internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// No segment of a rendition can be played.
    package static let nothingToPlay = Rule(
        "nothing-to-play",
        .error,
        "A rendition has no segment that can be played",
        explanation: "Players start with an error, or wait for media that does not come.",
        source: "RFC 8216bis section 4.4.4; ISO/IEC 23009-1 clause 5.3.9.1",
        checks: [
            .rendition { summary, _, history in
                guard summary.role == .media, let emptiness = summary.emptiness,
                    history.manifest?.hasUnreadableTimes != true, !isExplained(in: history)
                else { return [] }
                return [
                    Problem(
                        found: emptiness.found,
                        expected: "at least one segment with media that is available now",
                        advice: emptiness.advice
                    )
                ]
            }
            .explained(by: .segmentDuration)
        ]
    )

    /// Whether an MPD has no segments for a reason that has another rule.
    private static func isExplained(in history: StreamHistory) -> Bool {
        let notices = history.presentation?.notices ?? []
        return history.manifest?.lacksDuration == true || notices.contains { $0.subject == .entryWithoutDuration }
    }

    /// Renditions of one presentation end at different times.
    package static let renditionLengthsDiffer = Rule(
        "rendition-lengths-differ",
        .warning,
        "A rendition is shorter than another one",
        explanation: "At the end, viewers of the rendition see a still picture, or hear or read nothing.",
        source: "RFC 8216bis section 6.2.4; ISO/IEC 23009-1 clause 5.3.2.1",
        checks: [
            .rendition { summary, all, history in
                guard summary.role != .keyframes, summary.emptiness == nil, let duration = summary.duration else {
                    return []
                }
                // In an MPD, subtitles may have gaps, and end with their last cue.
                let isText = summary.role == .subtitles
                guard !isText || history.manifest == nil else { return [] }
                if let total = history.manifest?.declaredDuration(of: summary.rendition),
                    total.saturatingSubtract(duration) > max(500_000_000, summary.targetDuration)
                {
                    return [
                        Problem(
                            found: "segments of \(duration.shownSeconds) in \(summary.rendition.excerpt())",
                            expected: "\(total.shownSeconds), the mediaPresentationDuration",
                            advice: "Correct the number of segments or the duration of the presentation."
                        )
                    ]
                }
                guard let longest = all.filter({ $0.role == .media }).max(by: { $0.duration ?? 0 < $1.duration ?? 0 }),
                    let most = longest.duration
                else { return [] }
                // A timeline that does not fill its period has another rule.
                let isKnown = history.manifest.map { manifest in
                    [summary, longest].contains { missesEnd(manifest, $0.rendition) }
                }
                guard isKnown != true else { return [] }
                // So has a negative duration.
                let isWrong = [summary, longest].contains { summary in
                    history.rendition(summary.rendition)?.hasNegativeDuration == true
                }
                guard !isWrong else { return [] }
                let difference = most.saturatingSubtract(duration)
                // Segments of subtitles are cut at other times than the media.
                let segment = max(summary.targetDuration, longest.targetDuration)
                guard difference > max(500_000_000, isText ? segment : segment / 2) else { return [] }
                return [
                    Problem(
                        found: "segments of \(duration.shownSeconds) in \(summary.rendition.excerpt())",
                        expected: "\(most.shownSeconds), as in \(longest.rendition.excerpt())",
                        advice: isText
                            ? "List segments without cues up to the end of the media."
                            : "Package all renditions of a presentation from its start to its end."
                    )
                ]
            }
            .explained(by: .segmentDuration)
        ]
    )
}

extension ManifestVersion {
    /// The duration that a recording declares, in nanoseconds, where the last period of a representation lists its
    /// segments or numbers the last one; nil for others. Timelines have another rule.
    fileprivate func declaredDuration(of rendition: String) -> Int64? {
        guard !isDynamic, let total = root.duration("mediaPresentationDuration"), let last = periods.last else {
            return nil
        }
        for set in last.sets {
            for element in set.all("Representation") {
                guard let id = element["id"], rendition.hasSuffix("/\(id)") else { continue }
                let levels = [element, set, last.element]
                let isListed = levels.contains { level in
                    level.first("SegmentList").map { $0.first("SegmentTimeline") == nil } == true
                        || level.first("SegmentTemplate")?["endNumber"] != nil
                }
                return isListed ? total : nil
            }
        }
        return nil
    }
}
