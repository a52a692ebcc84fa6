internal import Instrument
internal import InstrumentText

extension Rule {
    /// Sound and pictures of a segment are apart.
    package static let tracksApart = Rule(
        "tracks-apart",
        .warning,
        "Sound and pictures of a segment begin or end apart",
        explanation: "Viewers hear the sound before or after the picture, or miss one of them at a switch.",
        source: "RFC 8216bis sections 3 and 6.2.4; ISO/IEC 23009-1 clause 7.2.1",
        checks: [
            .segment { facts, _, history in
                // Tracks of another codec than their container says have another rule, and no valid times.
                guard facts.hasAllBytes, facts.refusal == nil, !facts.isTruncated,
                    let video = facts.tracks.first(where: \.isVideo),
                    let audio = facts.tracks.first(where: { !$0.isVideo })
                else { return [] }
                let starts = facts.distance(from: video.start, to: audio.start).magnitude
                let ends = facts.distance(from: video.end, to: audio.end).magnitude
                let apart = Int64(clamping: max(starts, ends))
                guard apart > 500_000_000 else { return [] }
                // A segment that ends early has a rule that says so, whichever track ends first.
                if ends > starts,
                    facts.timing.endsEarly(isExact: history.manifest.map { !$0.timelines.isEmpty } ?? true)
                {
                    return []
                }
                return [
                    Problem(
                        found:
                            "sound and pictures that \(starts >= ends ? "begin" : "end") \(apart.shownSeconds) apart in segment \(facts.sequence)",
                        expected: "at most 0.5 s",
                        advice: "Cut sound and pictures at the same times; check the encoder's audio delay."
                    )
                ]
            }
        ]
    )

    /// Renditions have other timestamps for the same time of the presentation.
    package static let renditionTimesDiffer = Rule(
        "rendition-times-differ",
        .error,
        "Renditions have other timestamps for the same media",
        explanation: "Viewers hear the sound early or late, and a switch repeats or leaves out a part.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .segment { facts, before, history in
                // A segment that is fetched once more has been judged.
                guard !before.facts.contains(where: { $0.sequence == facts.sequence }) else { return [] }
                // An MPD says which timestamps its segments have, and live playlists begin with different segments.
                guard history.manifest == nil, !facts.isLive, let first = facts.firstTimestamp else { return [] }
                for rendition in history.renditions where rendition.name != facts.rendition {
                    guard let other = rendition.facts.first, other.discontinuity == facts.discontinuity,
                        other.wrap == facts.wrap, let known = other.firstTimestamp
                    else { continue }
                    let apart = facts.distance(from: known, to: first)
                    guard apart.magnitude > 1_000_000_000 else { return [] }
                    let found = Int64(clamping: apart.magnitude).shownSeconds
                    return [
                        Problem(
                            found: "timestamps \(found) \(apart > 0 ? "later" : "earlier") than those of "
                                + rendition.name.excerpt(),
                            expected: "timestamps that all renditions share",
                            advice: "Package all renditions from one timeline; check the encoder's offsets."
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// Frames are missing inside a segment.
    package static let framesMissing = Rule(
        "frames-missing",
        .warning,
        "Frames are missing inside a segment",
        explanation: "The picture freezes or the sound is interrupted.",
        source: "RFC 8216bis section 3; ISO/IEC 23009-1 clause 7.2.1",
        checks: [
            .segment { facts, _, _ in
                // Times in another unit have another rule.
                guard facts.failure == nil, !facts.timing.isOutOfScale,
                    let track = facts.tracks.max(by: { $0.largestGap < $1.largestGap }), track.largestGap > 200_000_000
                else { return [] }
                return [
                    Problem(
                        found:
                            "\(track.isVideo ? "pictures" : "sound") without frames for \(track.largestGap.shownSeconds) in segment \(facts.sequence)",
                        expected: "frames without a gap of more than 0.2 s",
                        advice: "Check the encoder's input and the transfer to the packager."
                    )
                ]
            },
            .segment { facts, _, _ in
                guard facts.failure == nil, facts.packetGaps > 0 else { return [] }
                let count = facts.packetGaps
                var problem = Problem(
                    found:
                        "packets missing in \(count) \(count == 1 ? "place" : "places") of segment \(facts.sequence)",
                    expected: "packets whose continuity counters follow one another (ISO/IEC 13818-1, 2.4.3.3)",
                    advice: "Check the transfer to the packager, such as UDP; frames with missing packets are damaged."
                )
                problem.fault = "packets"
                return [problem]
            },
        ]
    )

    /// A transport stream has no tables.
    package static let tablesMissing = Rule(
        "tables-missing",
        .error,
        "A segment has no tables of its transport stream",
        explanation: "Players that start, seek or switch to the segment do not know its tracks, and fail or skip it.",
        source: "RFC 8216bis section 3.1.1",
        checks: [
            .segment { facts, _, history in
                guard history.manifest == nil, facts.failure == nil, facts.lacksTables else { return [] }
                return [
                    Problem(
                        found: "no program association and program map (PAT, PMT) in segment \(facts.sequence)",
                        expected: "both tables in each segment, or an EXT-X-MAP that has them",
                        advice: "Let the packager write PAT and PMT at the start of each segment."
                    )
                ]
            }
        ]
    )

    /// A segment ends inside its media.
    package static let segmentTruncated = Rule(
        "segment-truncated",
        .error,
        "A segment ends inside its media",
        explanation: "The last frames are missing; viewers see a jump or a damaged picture.",
        source: "RFC 8216bis section 3.1; ISO/IEC 23009-1 clause 6",
        checks: [
            .segment { facts, _, _ in
                // A byte range that reaches beyond its file has another rule.
                guard facts.hasAllBytes, facts.isTruncated else { return [] }
                return [
                    Problem(
                        found:
                            "\(facts.byteCount ?? 0) bytes in segment \(facts.sequence), which end inside a packet, box or frame",
                        expected: "a segment with all bytes that its container announces",
                        advice: "Compare the file with what the packager wrote; check the upload and the caches."
                    )
                ]
            }
        ]
    )
}

extension SegmentFacts {
    /// The first timestamp of the first segment of a playlist, in nanoseconds; nil for others, and where it is not
    /// known.
    fileprivate var firstTimestamp: Int64? {
        guard failure == nil, refusal == nil, position == 0, hasTimeline, !isKeyframeOnly else { return nil }
        return main?.start
    }
}
