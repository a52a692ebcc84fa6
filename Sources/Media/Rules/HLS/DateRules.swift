internal import Instrument
internal import InstrumentManifests

extension Rule {
    /// A programme date jumps.
    package static let programDateTimeJump = Rule(
        "program-date-time-jump",
        .error,
        "EXT-X-PROGRAM-DATE-TIME jumps",
        explanation:
            "Players that seek by date, insert advertisements or synchronise renditions go to the wrong place.",
        source: "RFC 8216bis section 4.4.4.6",
        checks: [
            .media { playlist, rendition, _ in
                inside(playlist) + betweenVersions(playlist, rendition)
            }
        ]
    )

    private static func inside(_ playlist: MediaPlaylistVersion) -> [Problem] {
        // The latest date, and the sum of the durations since.
        var anchor: (date: WallTime, sum: Int64)?
        for listed in playlist.segments {
            if listed.isAfterDiscontinuity { anchor = nil }
            if let date = listed.date {
                if let anchor {
                    let jump = date.nanoseconds(since: anchor.date).saturatingSubtract(anchor.sum)
                    if jump.magnitude > DateDeviation.tolerance(listed.segment.duration).magnitude {
                        return [dateProblem(jump, listed, "the date that follows from the segment before")]
                    }
                }
                anchor = (date, 0)
            }
            if let (date, sum) = anchor { anchor = (date, sum.saturatingAdd(listed.segment.duration)) }
        }
        return []
    }

    private static func betweenVersions(_ playlist: MediaPlaylistVersion, _ rendition: RenditionHistory) -> [Problem] {
        guard let old = rendition.replaced, playlist.playlist.mediaSequence >= old.playlist.mediaSequence else {
            return []
        }
        let known = Dictionary(old.segments.map { ($0.identity, $0) }) { first, _ in first }
        for listed in playlist.segments {
            guard let date = listed.date, let match = known[listed.identity], let before = match.date,
                match.segment.sequence == listed.segment.sequence
            else { continue }
            let jump = date.nanoseconds(since: before)
            if jump.magnitude > DateDeviation.tolerance(listed.segment.duration).magnitude {
                return [dateProblem(jump, listed, "the date that the segment had in the playlist before")]
            }
        }
        return []
    }

    private static func dateProblem(_ jump: Int64, _ listed: ListedSegment, _ expected: String) -> Problem {
        Problem(
            found:
                "a date that is \(Int64(clamping: jump.magnitude).shownSeconds) too \(jump > 0 ? "late" : "early") at segment \(listed.segment.sequence)",
            expected: expected,
            advice: "Mark a real jump with EXT-X-DISCONTINUITY; otherwise correct the encoder's clock.",
            line: listed.line
        )
    }

    /// Programme dates drift against the media.
    package static let programDateTimeDrift = Rule(
        "program-date-time-drift",
        .warning,
        "EXT-X-PROGRAM-DATE-TIME drifts against the media",
        explanation:
            "The dates move away from the media a little with each segment, until seeking by date and latency are wrong.",
        source: "RFC 8216bis section 4.4.4.6",
        checks: [
            .media { _, rendition, _ in
                guard rendition.dates.deviation.magnitude > DateDeviation.largest.magnitude else { return [] }
                return [
                    driftProblem(
                        rendition.dates.deviation,
                        "\(rendition.dates.segmentCount) segments",
                        "EXTINF durations"
                    )
                ]
            },
            .segment { facts, rendition, history in
                guard history.manifest == nil, let drift = timestampDrift(facts, rendition.facts),
                    drift.magnitude > DateDeviation.largest.magnitude
                else {
                    return []
                }
                return [driftProblem(drift, "the fetched segments", "timestamps of the media")]
            },
        ]
    )

    private static func driftProblem(_ drift: Int64, _ span: String, _ reference: String) -> Problem {
        Problem(
            found:
                "dates that are \(Int64(clamping: drift.magnitude).shownSeconds) too \(drift > 0 ? "late" : "early") after \(span)",
            expected: "dates that keep to the \(reference)",
            advice: "Derive the dates from the media's timestamps, or correct the encoder's clock."
        )
    }

    /// How far dates and timestamps are apart since the first of the known segments that follow one another up to this
    /// one; nil without two such segments.
    private static func timestampDrift(_ facts: SegmentFacts, _ earlier: [SegmentFacts]) -> Int64? {
        guard facts.hasTimeline, let date = facts.date, let main = facts.main else { return nil }
        var (first, next): (SegmentFacts?, SegmentFacts) = (nil, facts)
        for known in earlier.reversed() where known.sequence < facts.sequence {
            guard known.sequence == next.sequence - 1, known.discontinuity == facts.discontinuity, known.hasTimeline,
                let track = known.main, let following = next.main,
                next.distance(from: track.end, to: following.start).magnitude < 500_000_000, let before = known.date,
                let after = next.date
            else { break }
            // A jump of the dates has a rule of its name.
            let jump = after.nanoseconds(since: before)
                .saturatingSubtract(next.distance(from: track.start, to: following.start))
            if jump.magnitude > DateDeviation.tolerance(known.declaredDuration).magnitude { break }
            (first, next) = (known, known)
        }
        guard let first, let start = first.main?.start, let firstDate = first.date else { return nil }
        return date.nanoseconds(since: firstDate).saturatingSubtract(facts.distance(from: start, to: main.start))
    }

    /// Date ranges contradict themselves.
    package static let dateRangeContradiction = Rule(
        "daterange-contradiction",
        .error,
        "EXT-X-DATERANGE tags contradict themselves or one another",
        explanation: "Players start and end advertisements and metadata at the wrong moment, or never.",
        source: "RFC 8216bis section 4.4.5.1",
        checks: [
            .media { playlist, rendition, _ in
                let tags = DateRangeTag.all(in: playlist)
                guard let first = tags.first else { return [] }
                if !playlist.segments.isEmpty, playlist.tags("EXT-X-PROGRAM-DATE-TIME").isEmpty {
                    return [first.problem("no EXT-X-PROGRAM-DATE-TIME", "at least one programme date in the playlist")]
                }
                var known = rendition.dateRanges
                return tags.compactMap { tag in
                    defer { known[tag.id, default: [:]].merge(tag.attributes) { first, _ in first } }
                    return tag.contradiction(with: known[tag.id] ?? [:])
                }
            }
        ]
    )
}
