internal import Instrument

extension Rule {
    /// Sound and pictures of a segment are apart.
    package static let tracksApart = Rule(
        "tracks-apart",
        .warning,
        "Sound and pictures of a segment begin or end apart",
        explanation: "Viewers hear the sound before or after the picture, or miss one of them at a switch.",
        source: "RFC 8216bis sections 3 and 6.2.4; ISO/IEC 23009-1 clause 7.2.1",
        checks: [
            .segment { facts, _, _ in
                // Tracks of another codec than their container says have another rule, and no valid times.
                guard facts.failure == nil, facts.refusal == nil, let video = facts.tracks.first(where: \.isVideo),
                    let audio = facts.tracks.first(where: { !$0.isVideo })
                else { return [] }
                let starts = facts.distance(from: video.start, to: audio.start).magnitude
                let ends = facts.distance(from: video.end, to: audio.end).magnitude
                let apart = Int64(clamping: max(starts, ends))
                guard apart > 500_000_000 else { return [] }
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

    /// Frames are missing inside a segment.
    package static let framesMissing = Rule(
        "frames-missing",
        .warning,
        "Frames are missing inside a segment",
        explanation: "The picture freezes or the sound is interrupted.",
        source: "RFC 8216bis section 3; ISO/IEC 23009-1 clause 7.2.1",
        checks: [
            .segment { facts, _, _ in
                guard facts.failure == nil,
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
            }
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
                guard facts.failure == nil, facts.isTruncated else { return [] }
                return [
                    Problem(
                        found:
                            "\(facts.byteCount ?? 0) bytes in segment \(facts.sequence), which end inside a packet or box",
                        expected: "a segment with all bytes that its container announces",
                        advice: "Compare the file with what the packager wrote; check the upload and the caches."
                    )
                ]
            }
        ]
    )
}
