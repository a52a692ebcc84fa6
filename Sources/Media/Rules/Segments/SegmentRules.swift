internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests

extension Rule {
    /// The bytes of a segment change.
    package static let segmentContentChanged = Rule(
        "segment-content-changed",
        .error,
        "The bytes of a listed segment change",
        explanation: "Players and caches hold different media for one address; viewers see damaged pictures.",
        source: "RFC 8216bis section 6.2.1",
        checks: [
            .segment { facts, rendition, _ in
                guard facts.failure == nil, let hash = facts.hash,
                    let known = rendition.facts.first(where: { $0.sequence == facts.sequence && $0.hash != nil }),
                    known.url.description == facts.url.description, known.hash != hash
                else { return [] }
                return [
                    Problem(
                        found: "\(facts.byteCount ?? 0) other bytes for segment \(facts.sequence)",
                        expected: "the \(known.byteCount ?? 0) bytes of the first response",
                        advice: "Never overwrite a listed segment; compare the servers behind the address."
                    )
                ]
            }
        ]
    )

    /// The media of a segment are longer or shorter than the playlist says.
    package static let segmentDurationMismatch = Rule(
        "segment-duration-mismatch",
        .warning,
        "The duration of a segment is not its EXTINF",
        explanation: "Players compute positions and buffers from EXTINF; seeking and synchronisation become wrong.",
        source: "RFC 8216bis section 4.4.4.1",
        checks: [
            .segment { facts, rendition, history in
                // Keyframes alone last until the next one.
                guard history.manifest == nil, let main = facts.main, let difference = facts.timing.durationError,
                    facts.hasAllBytes, !facts.isKeyframeOnly
                else { return [] }
                // A negative duration has another rule, and so has one of centuries.
                guard facts.declaredDuration > 0 || !rendition.hasNegativeDuration, facts.declaredDuration < .max
                else { return [] }
                // A jump inside the segment is found as missing frames.
                if main.largestGap > 200_000_000, difference > 0,
                    difference.saturatingSubtract(main.largestGap).magnitude < 250_000_000
                {
                    return []
                }
                let media = main.end.saturatingSubtract(main.start)
                // A segment that ends early is not the fault of its EXTINF.
                guard difference.magnitude > facts.timing.durationTolerance(isExact: true).magnitude, !facts.isTruncated
                else { return [] }
                return [
                    Problem(
                        found: "media of \(media.shownSeconds) in segment \(facts.sequence)",
                        expected: "the EXTINF duration, \(facts.declaredDuration.shownSeconds)",
                        advice: difference < 0
                            ? "Check that the segment has all its media; otherwise write their duration into EXTINF."
                            : facts.timing.isOutOfScale
                                ? "Compare the time scale of the track with the times of its frames."
                                : "Write the exact duration of the media into EXTINF."
                    )
                ]
            }
        ]
    )

    /// The media of a segment are not where the MPD says.
    package static let segmentTimelineMismatch = Rule(
        "segment-timeline-mismatch",
        .error,
        "A segment does not match the timeline of the MPD",
        explanation: "Players place the media at the wrong time: gaps, overlaps, sound and pictures apart.",
        source: "ISO/IEC 23009-1 clause 5.3.9.6",
        checks: [
            .segment { facts, _, history in
                guard let manifest = history.manifest, let main = facts.main,
                    let difference = facts.timing.durationError,
                    facts.hasAllBytes, !manifest.hasUnreadableTimes
                else { return [] }
                let media = main.end.saturatingSubtract(main.start)
                let tolerance = facts.timing.durationTolerance(isExact: !manifest.timelines.isEmpty)
                // A segment that ends inside its media has a rule that says so.
                if difference.magnitude > tolerance.magnitude, !(facts.isTruncated && difference < 0) {
                    return [
                        timelineProblem(
                            "media of \(media.shownSeconds) in segment \(facts.sequence)",
                            "\(facts.declaredDuration.shownSeconds) by the timeline"
                        )
                    ]
                }
                guard let declared = facts.declaredMediaTime, let shift = facts.timing.startError, facts.hasTimeline
                else {
                    return []
                }
                guard shift.magnitude > max(tolerance, 500_000_000).magnitude else { return [] }
                return [
                    timelineProblem(
                        "media that start at \(main.start.shownSeconds) in segment \(facts.sequence)",
                        "a start at \(declared.shownSeconds) by the timeline"
                    )
                ]
            }
        ]
    )

    private static func timelineProblem(_ found: String, _ expected: String) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Compare @t, @d and @timescale with the segment's decode times."
        )
    }

    /// Timestamps jump without a discontinuity.
    package static let discontinuityUnmarked = Rule(
        "discontinuity-unmarked",
        .error,
        "Timestamps jump without EXT-X-DISCONTINUITY",
        explanation: "Players stop, or wait for the media of the missing time.",
        source: "RFC 8216bis section 4.4.4.3",
        checks: [
            .segment { facts, rendition, history in
                guard history.manifest == nil, facts.hasTimeline, let main = facts.main, !facts.isKeyframeOnly,
                    let before = rendition.facts.last(where: { $0.sequence == facts.sequence - 1 }),
                    before.discontinuity == facts.discontinuity, before.hasTimeline, before.hasAllBytes,
                    facts.hasAllBytes, let track = before.tracks.first(where: { $0.isVideo == main.isVideo })
                else { return [] }
                // Times in another unit have another rule.
                guard !facts.timing.isOutOfScale, !before.timing.isOutOfScale else { return [] }
                // A file with two playlists has another rule.
                guard rendition.current?.playlist.isJoined != true else { return [] }
                let step = facts.distance(from: track.end, to: main.start)
                guard step.magnitude > 500_000_000 else { return [] }
                // The segment before alone is at another time, which has a finding.
                if let earlier = rendition.facts.last(where: { $0.sequence == facts.sequence - 2 }),
                    earlier.discontinuity == facts.discontinuity, earlier.hasTimeline, earlier.hasAllBytes,
                    let track = earlier.tracks.first(where: { $0.isVideo == main.isVideo })
                {
                    let end = track.end.saturatingAdd(before.declaredDuration)
                    guard facts.distance(from: end, to: main.start).magnitude > 500_000_000 else { return [] }
                }
                // The end of the segment before is missing, which is its own fault.
                if before.isTruncated || before.timing.endsEarly(isExact: true) {
                    let end = track.start.saturatingAdd(before.declaredDuration)
                    guard facts.distance(from: end, to: main.start).magnitude > 500_000_000 else { return [] }
                }
                return [
                    Problem(
                        found:
                            "a jump \(step > 0 ? "forward" : "back") by \(Int64(clamping: step.magnitude).shownSeconds) before segment \(facts.sequence)",
                        expected: "timestamps that continue, or EXT-X-DISCONTINUITY",
                        advice: "Mark the jump with EXT-X-DISCONTINUITY, or correct the timestamps."
                    )
                ]
            }
            .explained(by: .discontinuity)
        ]
    )

    /// A listed segment has expired.
    package static let expiredSegmentListed = Rule(
        "expired-segment-listed",
        .error,
        "An expired segment is still listed",
        explanation: "A viewer who starts or seeks at the beginning of the window gets an error.",
        source: "RFC 8216bis section 6.2.2; ISO/IEC 23009-1 clause 5.3.1.2 (timeShiftBufferDepth)",
        checks: [
            .segment { facts, rendition, history in
                // Where no segment of an MPD can be fetched, its clock is wrong, and no segment has expired.
                guard facts.isMissing, facts.place == .oldest, history.manifest == nil || !rendition.facts.isEmpty,
                    case .status(let status) = facts.failure
                else { return [] }
                return [
                    Problem(
                        found: "status \(status) for segment \(facts.sequence)",
                        expected:
                            "a segment that can be fetched while it is listed, and for the window's length after that",
                        advice: "Delete segments later, or remove them from the list earlier."
                    )
                ]
            }
        ]
    )
}
