internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// Variants have different target durations.
    package static let variantTargetDurationDiffers = Rule(
        "variant-target-duration-differs",
        .error,
        "Variants have different target durations",
        explanation: "A player that switches between the variants reloads at the wrong time and stalls.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .media { playlist, rendition, history in
                let others = history.siblings(of: rendition.name).compactMap(\.current)
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

    /// The newest segment of a variant is older than that of another one.
    package static let variantLags = Rule(
        "variant-lags",
        .warning,
        "Variants drift apart",
        explanation: "One encoder or packager lags behind the others, so that a switch repeats or skips media.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .media { playlist, rendition, history in
                guard playlist.isLive, history.isMedia(rendition.name) else { return [] }
                for other in history.siblings(of: rendition.name) {
                    guard let theirs = other.current, theirs.isLive, theirs.isFetched(with: playlist),
                        let lead = lead(of: rendition, over: other)
                    else { continue }
                    // Variants are not published at one instant, and their segments need not have one length.
                    let target = max(playlist.playlist.targetDuration, theirs.playlist.targetDuration)
                    guard lead.magnitude > target.saturatingMultiply(5).magnitude / 2 else { continue }
                    let distance = Int64(clamping: lead.magnitude).shownSeconds
                    return [
                        Problem(
                            found:
                                "media that end \(distance) \(lead > 0 ? "after" : "before") those of another variant",
                            expected: "about the same end as in \(theirs.url.path.excerpt())",
                            advice: "Start the encoders of all variants together, and check the one that lags."
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// How far the media of a rendition reach beyond those of another one, in nanoseconds: by their dates, else by what
    /// both have published since they were first observed together. Sequence numbers of two playlists cannot be
    /// compared (section 4.4.3.2). Nil where nothing says it.
    private static func lead(of rendition: RenditionHistory, over other: RenditionHistory) -> Int64? {
        guard let mine = rendition.current, let theirs = other.current else { return nil }
        if let end = mine.endDate, let otherEnd = theirs.endDate { return end.nanoseconds(since: otherEnd) }
        guard let growth = rendition.growth, let otherGrowth = other.growth,
            growth.start.duration(to: otherGrowth.start).nanoseconds.magnitude <= mine.simultaneity.magnitude
        else { return nil }
        return growth.published.saturatingSubtract(otherGrowth.published)
    }

    /// The same media have different discontinuity numbers in variants.
    package static let variantDiscontinuitiesDiffer = Rule(
        "variant-discontinuities-differ",
        .error,
        "Variants have different discontinuity sequence numbers for the same media",
        explanation: "Players align variants by the discontinuity sequence; a switch goes to the wrong place.",
        source: "RFC 8216bis section 6.2.4",
        checks: [
            .media { playlist, rendition, history in
                for other in history.siblings(of: rendition.name).compactMap(\.current)
                where other.isFetched(with: playlist) {
                    guard let (mine, theirs) = DiscontinuityAxis.mismatch(playlist, other) else { continue }
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
}
