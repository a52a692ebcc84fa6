internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests

/// The comparison of a playlist with the one that it replaces.
struct Replacement {
    var old: MediaPlaylistVersion
    var new: MediaPlaylistVersion

    init?(_ new: MediaPlaylistVersion, _ rendition: RenditionHistory) {
        guard let old = rendition.replaced else { return nil }
        (self.old, self.new) = (old, new)
    }

    var isBackwards: Bool { new.playlist.mediaSequence < old.playlist.mediaSequence }

    /// The first segment that both list under different numbers. Segments that a playlist lists twice prove nothing,
    /// and neither does a segment that comes again because the programme is a loop.
    var renumbered: (old: ListedSegment, new: ListedSegment)? {
        let both = common
        if both.isEmpty ? !isTooFast : both.contains(where: { $0.old.identity == $0.new.identity }) { return nil }
        let known = Dictionary(grouping: old.segments, by: \.identity)
        let counts = Dictionary(grouping: new.segments, by: \.identity).mapValues(\.count)
        for listed in new.segments {
            guard let matches = known[listed.identity], matches.count == 1, counts[listed.identity] == 1,
                let match = matches.first, match.segment.sequence != listed.segment.sequence
            else { continue }
            return (match, listed)
        }
        return nil
    }

    /// Whether more segments are new than could have been made since the old playlist.
    var isTooFast: Bool {
        guard let last = old.playlist.segments.last?.sequence, let newest = new.playlist.segments.last?.sequence,
            newest > last, new.isLive, !new.segments.isEmpty
        else { return false }
        let mean = max(1, new.playlist.duration / Int64(new.segments.count))
        let elapsed = old.fetched.instant.duration(to: new.fetched.instant).nanoseconds
        let made = newest.saturatingSubtract(last).saturatingMultiply(mean)
        // A live edge may lag a few segments behind and catch up.
        let slack = max(new.playlist.targetDuration.saturatingMultiply(3), 10_000_000_000)
        let isConnected = newest.saturatingSubtract(Int64(new.segments.count)) <= last
        return made > elapsed.saturatingAdd(slack) && !isConnected
    }

    /// Segments with one number in both.
    var common: [(old: ListedSegment, new: ListedSegment)] {
        guard let first = old.playlist.segments.first?.sequence else { return [] }
        return new.segments.compactMap { listed in
            let (place, overflow) = listed.segment.sequence.subtractingReportingOverflow(first)
            guard !overflow, let index = Int(exactly: place), old.segments.indices.contains(index) else { return nil }
            return (old.segments[index], listed)
        }
    }
}

extension Rule {
    /// The media sequence number falls.
    package static let mediaSequenceBackwards = Rule(
        "media-sequence-backwards",
        .error,
        "The media sequence number goes back",
        explanation: "Players take the new segments for old ones and repeat them, stop, or restart.",
        source: "RFC 8216bis section 6.2.2",
        checks: [
            .media { playlist, rendition, _ in
                guard let pair = Replacement(playlist, rendition), pair.isBackwards else { return [] }
                return [
                    Problem(
                        found: "EXT-X-MEDIA-SEQUENCE \(playlist.playlist.mediaSequence)",
                        expected: "\(pair.old.playlist.mediaSequence) or more, as in the playlist before",
                        advice:
                            "Keep the packager's counter over its restarts; check that all servers serve the same version.",
                        line: playlist.tags("EXT-X-MEDIA-SEQUENCE").first?.line
                    )
                ]
            }
            .explained(by: .mediaSequence, .discontinuitySequence)
        ]
    )

    /// The media sequence number of a segment changes.
    package static let mediaSequenceJump = Rule(
        "media-sequence-jump",
        .error,
        "The media sequence number jumps",
        explanation: "A player skips the segments between the numbers, or plays segments for a second time.",
        source: "RFC 8216bis section 6.2.2",
        checks: [
            .media { playlist, rendition, _ in
                guard let pair = Replacement(playlist, rendition), !pair.isBackwards else { return [] }
                let advice = "Raise EXT-X-MEDIA-SEQUENCE by one for each segment that is removed."
                if let (old, new) = pair.renumbered {
                    return [
                        Problem(
                            found: "number \(new.segment.sequence) for a segment",
                            expected: "number \(old.segment.sequence) as in the playlist before",
                            advice: advice,
                            line: new.line
                        )
                    ]
                }
                guard pair.isTooFast, let last = pair.old.playlist.segments.last?.sequence else { return [] }
                return [
                    Problem(
                        found: "EXT-X-MEDIA-SEQUENCE \(playlist.playlist.mediaSequence)",
                        expected: "numbers that follow \(last), the last number of the playlist before",
                        advice: advice,
                        line: playlist.tags("EXT-X-MEDIA-SEQUENCE").first?.line
                    )
                ]
            }
            .explained(by: .mediaSequence, .discontinuitySequence)
        ]
    )

    /// The discontinuity number of a segment changes.
    package static let discontinuitySequenceWrong = Rule(
        "discontinuity-sequence-wrong",
        .error,
        "The discontinuity sequence number of a segment changes",
        explanation:
            "Players match renditions by the discontinuity sequence; a wrong number puts sound and pictures apart.",
        source: "RFC 8216bis section 6.2.2",
        checks: [
            .media { playlist, rendition, _ in
                guard let pair = Replacement(playlist, rendition), !pair.isBackwards, pair.renumbered == nil,
                    let changed = pair.common.first(where: {
                        $0.old.segment.discontinuity != $0.new.segment.discontinuity
                    })
                else { return [] }
                return [
                    Problem(
                        found:
                            "discontinuity \(changed.new.segment.discontinuity) for segment \(changed.new.segment.sequence)",
                        expected: "discontinuity \(changed.old.segment.discontinuity) as in the playlist before",
                        advice:
                            "Raise EXT-X-DISCONTINUITY-SEQUENCE by one for each EXT-X-DISCONTINUITY that is removed.",
                        line: changed.new.line
                    )
                ]
            }
            .explained(by: .mediaSequence, .discontinuitySequence)
        ]
    )

    /// A listed segment changes.
    package static let segmentChanged = Rule(
        "segment-changed",
        .error,
        "A listed segment changes at a reload",
        explanation:
            "Players that fetched the segment play something else than players that come later, and caches mix both.",
        source: "RFC 8216bis section 6.2.1",
        checks: [
            .media { playlist, rendition, _ in
                guard let pair = Replacement(playlist, rendition), !pair.isBackwards, pair.renumbered == nil else {
                    return []
                }
                for (old, new) in pair.common {
                    guard let difference = difference(old, new) else { continue }
                    return [
                        Problem(
                            found: "\(difference) of segment \(new.segment.sequence)",
                            expected: "the segment as in the playlist before",
                            advice: "Never change a segment once it is listed; give a corrected segment a new number.",
                            line: new.line
                        )
                    ]
                }
                return []
            }
            .explained(by: .mediaSequence, .discontinuitySequence)
        ]
    )

    private static func difference(_ old: ListedSegment, _ new: ListedSegment) -> String? {
        if old.identity != new.identity { return "another address" }
        let change = new.segment.duration.saturatingSubtract(old.segment.duration)
        if change.magnitude > 1_000_000 {
            return "a duration of \(new.segment.duration.shownSeconds) instead of \(old.segment.duration.shownSeconds)"
        }
        if old.segment.isGap != new.segment.isGap {
            return new.segment.isGap ? "a new EXT-X-GAP" : "a removed EXT-X-GAP"
        }
        // Keys and maps may carry tokens in their queries.
        if old.segment.encryption?.method != new.segment.encryption?.method { return "another encryption" }
        if old.mapReference != new.mapReference {
            return "another initialization segment"
        }
        return nil
    }

    /// An event playlist loses a segment.
    package static let eventSegmentRemoved = Rule(
        "event-segment-removed",
        .error,
        "An EVENT playlist loses a segment",
        explanation: "Viewers of an event may return to its start; a player seeks to a segment that is gone.",
        source: "RFC 8216bis section 4.4.3.5",
        checks: [
            .media { playlist, rendition, _ in
                guard let pair = Replacement(playlist, rendition), !pair.isBackwards,
                    pair.old.tags("EXT-X-PLAYLIST-TYPE").contains(where: { $0.value == "EVENT" }),
                    let old = pair.old.playlist.segments.first, let new = playlist.playlist.segments.first,
                    new.sequence > old.sequence
                else { return [] }
                return [
                    Problem(
                        found: "\(new.sequence) as the first segment",
                        expected: "\(old.sequence) as in the playlist before, because the type is EVENT",
                        advice: "Remove EXT-X-PLAYLIST-TYPE from a playlist with a sliding window.",
                        line: playlist.segments.first?.line
                    )
                ]
            }
            .explained(by: .mediaSequence, .discontinuitySequence)
        ]
    )
}
