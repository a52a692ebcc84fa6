internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// Variants have different target durations.
    public static let variantTargetDurationDiffers = Rule(
        "variant-target-duration-differs",
        .error,
        "Variants have different target durations",
        explanation: "A player that switches between the variants reloads at the wrong time and stalls.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .media { playlist, rendition, history in
                let others = history.siblings(of: rendition.name)
                guard
                    let other = others.first(where: {
                        $0.playlist.targetDuration != playlist.playlist.targetDuration && $0.isFetched(with: playlist)
                    })
                else { return [] }
                return [
                    Problem(
                        found: playlist.playlist.targetDuration.shownSeconds,
                        expected: "\(other.playlist.targetDuration.shownSeconds) as in \(other.url.path.excerpt())",
                        advice: "Write the same EXT-X-TARGETDURATION into all media playlists.",
                        line: playlist.tags("EXT-X-TARGETDURATION").first?.line
                    )
                ]
            }
        ]
    )

    /// Media sequence numbers of variants are apart.
    public static let variantSequencesDiffer = Rule(
        "variant-sequences-differ",
        .warning,
        "Media sequence numbers of variants drift apart",
        explanation: "One encoder or packager lags behind the others, so that a switch repeats or skips media.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .media { playlist, rendition, history in
                guard playlist.isLive, let mine = playlist.playlist.segments.last?.sequence else { return [] }
                for other in history.siblings(of: rendition.name) where other.isLive && other.isFetched(with: playlist)
                {
                    guard other.playlist.targetDuration == playlist.playlist.targetDuration,
                        let theirs = other.playlist.segments.last?.sequence,
                        mine.saturatingSubtract(theirs).magnitude > 2
                    else { continue }
                    return [
                        Problem(
                            found: "\(mine) as the newest segment",
                            expected: "about \(theirs), the newest segment of \(other.url.path.excerpt())",
                            advice: "Start the encoders of all variants together, and check the one that lags."
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// The same media have different discontinuity numbers in variants.
    public static let variantDiscontinuitiesDiffer = Rule(
        "variant-discontinuities-differ",
        .error,
        "Variants have different discontinuity sequence numbers for the same media",
        explanation: "Players align variants by the discontinuity sequence; a switch goes to the wrong place.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .media { playlist, rendition, history in
                for other in history.siblings(of: rendition.name) where other.isFetched(with: playlist) {
                    guard let (mine, theirs) = mismatch(playlist, other) else { continue }
                    return [
                        Problem(
                            found: "discontinuity \(mine.segment.discontinuity) at segment \(mine.segment.sequence)",
                            expected: "discontinuity \(theirs.segment.discontinuity) as in \(other.url.path.excerpt())",
                            advice: "Write the same discontinuities into all media playlists.",
                            line: mine.line
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// The first segments of the same date, or the same number where there are no dates, with different
    /// discontinuities.
    private static func mismatch(
        _ playlist: MediaPlaylistVersion,
        _ other: MediaPlaylistVersion
    ) -> (ListedSegment, ListedSegment)? {
        var position = 0
        for listed in playlist.segments {
            let segment = listed.segment
            while position < other.segments.count, isBefore(other.segments[position].segment, segment) { position += 1 }
            guard position < other.segments.count else { return nil }
            let match = other.segments[position]
            if isSame(match.segment, segment), match.segment.discontinuity != segment.discontinuity {
                return (listed, match)
            }
        }
        return nil
    }

    private static func isBefore(_ segment: MediaSegment, _ other: MediaSegment) -> Bool {
        guard let date = segment.wallTime, let wanted = other.wallTime else { return segment.sequence < other.sequence }
        return date.nanoseconds(since: wanted) < -(other.duration / 4)
    }

    private static func isSame(_ segment: MediaSegment, _ other: MediaSegment) -> Bool {
        guard let date = segment.wallTime, let wanted = other.wallTime else {
            return segment.sequence == other.sequence
        }
        return date.nanoseconds(since: wanted).magnitude <= (other.duration / 4).magnitude
    }
}

extension StreamHistory {
    /// The latest playlists of the other renditions with pictures or sound.
    func siblings(of name: String) -> [MediaPlaylistVersion] {
        guard isMedia(name) else { return [] }
        return renditions.filter { $0.name != name && isMedia($0.name) }.compactMap(\.current).filter {
            !$0.playlist.isIFramesOnly
        }
    }
}

extension MediaPlaylistVersion {
    /// Whether both were fetched at about the same time, so that their live edges can be compared.
    func isFetched(with other: MediaPlaylistVersion) -> Bool {
        let apart = fetched.instant.duration(to: other.fetched.instant).nanoseconds.magnitude
        return apart <= max(playlist.targetDuration / 2, 500_000_000).magnitude
    }
}
