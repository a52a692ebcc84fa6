internal import Instrument

extension Rule {
    /// Subtitles that cannot be read as their format says.
    package static let subtitlesMalformed = Rule(
        "subtitles-malformed",
        .error,
        "Subtitles are malformed",
        explanation: "Players leave out a cue or all subtitles of the segment; of some faults only strict ones do.",
        source: "RFC 8216bis section 3.1.4; ISO/IEC 23009-1 clause 7; W3C WebVTT; W3C TTML2",
        checks: [
            .segment { facts, _, _ in
                guard facts.failure == nil, let defect = facts.subtitles?.defect else { return [] }
                return [
                    Problem(
                        found: "in segment \(facts.sequence) that \(defect)",
                        expected: "WebVTT or TTML that keeps to its format",
                        advice: "Correct the subtitles, or the tool that wrote them."
                    )
                ]
            }
        ]
    )

    /// Cues are shown at the time of no media of their segment.
    package static let subtitleTimesWrong = Rule(
        "subtitle-times-wrong",
        .error,
        "The cues of a segment are at another time than its media",
        explanation: "Viewers see the subtitles too early, too late, or never.",
        source: "RFC 8216bis section 3.1.4; ISO/IEC 23009-1 clause 5.3.9.6",
        checks: [
            .segment { facts, _, _ in
                guard facts.failure == nil, let count = facts.subtitles?.outsideCount, count > 0 else { return [] }
                return [
                    Problem(
                        found:
                            "\(count) of \(facts.subtitles?.cueCount ?? count) cues outside segment \(facts.sequence)",
                        expected: "cues at the time of the segment, \(facts.declaredDuration.shownSeconds) long",
                        advice: "Compare the times of the cues with the decode time of the segment."
                    )
                ]
            },
            .segment { facts, rendition, history in
                // Subtitles in the place of media have another rule.
                guard rendition.facts.allSatisfy({ $0.tracks.isEmpty }) else { return [] }
                // The positions of live playlists begin with each playlist's first segment.
                guard history.manifest == nil, facts.failure == nil, !facts.isLive, let subtitles = facts.subtitles,
                    let times = subtitles.times,
                    let media = history.mediaTime(of: facts)
                else { return [] }
                // Cues of hours may be anywhere on a timeline that wraps.
                let span = times.upperBound.saturatingSubtract(times.lowerBound)
                guard media.wrap.map({ span < $0 / 2 }) ?? true else { return [] }
                let early = SegmentTiming.distance(from: times.upperBound, to: media.lowerBound, wrap: media.wrap)
                let late = SegmentTiming.distance(from: media.upperBound, to: times.lowerBound, wrap: media.wrap)
                guard max(early, late) > 2_000_000_000 else { return [] }
                let map = subtitles.hasTimestampMap ? "with their X-TIMESTAMP-MAP" : "without X-TIMESTAMP-MAP"
                let place = early > late ? "\(early.shownSeconds) before" : "\(late.shownSeconds) after"
                return [
                    Problem(
                        found: "cues that are, \(map), \(place) the media of segment \(facts.sequence)",
                        expected: "cues at the time of the segment",
                        advice: "Write an X-TIMESTAMP-MAP by the timestamps of the media into each segment."
                    )
                ]
            },
            .segment { facts, _, history in
                guard facts.failure == nil, facts.isLast, let subtitles = facts.subtitles,
                    let latest = subtitles.latestStart, let media = history.presentedTime(of: facts)
                else { return [] }
                // Cues that are all behind the media have the check above.
                let first = SegmentTiming.distance(
                    from: media.upperBound,
                    to: subtitles.times?.lowerBound ?? latest,
                    wrap: media.wrap
                )
                guard history.manifest != nil || first <= 0 else { return [] }
                let late = SegmentTiming.distance(from: media.upperBound, to: latest, wrap: media.wrap)
                // Players round the duration of the presentation in different ways.
                guard late > 500_000_000 else { return [] }
                return [
                    Problem(
                        found: "a cue that begins \(late.shownSeconds) behind the end of the presentation",
                        expected: "cues that begin while the presentation plays",
                        advice: "Compare the subtitles with the media: they may be those of a longer version."
                    )
                ]
            },
        ]
    )
}

/// The time of the media beside a segment, in nanoseconds of the container's timeline.
private struct MediaTime {
    var lowerBound: Int64
    var upperBound: Int64
    var wrap: Int64?
}

extension StreamHistory {
    /// The time of a segment by the manifest (DASH), or by the media beside it; nil if it is not known.
    fileprivate func presentedTime(of facts: SegmentFacts) -> MediaTime? {
        guard manifest != nil else { return mediaTime(of: facts) }
        return facts.declaredMediaTime.map { start in
            MediaTime(lowerBound: start, upperBound: start.saturatingAdd(facts.declaredDuration), wrap: nil)
        }
    }

    /// The time that a segment has on the timeline of the media that play beside it; nil if no media are known.
    fileprivate func mediaTime(of facts: SegmentFacts) -> MediaTime? {
        for rendition in renditions where rendition.name != facts.rendition {
            let known = rendition.facts.last { other in
                other.discontinuity == facts.discontinuity && other.hasTimeline && !other.isKeyframeOnly
                    && other.main != nil
            }
            guard let known, let main = known.main else { continue }
            let start = main.start.saturatingAdd(facts.position.saturatingSubtract(known.position))
            return MediaTime(
                lowerBound: start,
                upperBound: start.saturatingAdd(facts.declaredDuration),
                wrap: known.wrap
            )
        }
        return nil
    }
}
