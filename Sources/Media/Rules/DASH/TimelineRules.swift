internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension Rule {
    /// The largest difference that rounding to ticks explains, in nanoseconds.
    private static let rounding: Int64 = 10_000_000

    /// A timeline has a gap.
    package static let timelineGap = Rule(
        "timeline-gap",
        .warning,
        "A SegmentTimeline has a gap",
        explanation: "Players stall at the gap, or skip it with a jump in the picture.",
        source: "ISO/IEC 23009-1 clause 5.3.9.6",
        checks: [.manifest { manifest, _ in seams(manifest, isGap: true) }]
    )

    /// Entries of a timeline overlap.
    package static let timelineOverlap = Rule(
        "timeline-overlap",
        .error,
        "Segments of a SegmentTimeline overlap",
        explanation: "Players play the overlap twice, or reject the segment.",
        source: "ISO/IEC 23009-1 clause 5.3.9.6",
        checks: [.manifest { manifest, _ in seams(manifest, isGap: false) }]
    )

    private static func seams(_ manifest: ManifestVersion, isGap: Bool) -> [Problem] {
        manifest.timelines.lazy.filter(\.isMedia).compactMap { timeline -> Problem? in
            for (entry, next) in zip(timeline.entries, timeline.entries.dropFirst()) where next.hasStart {
                guard let end = entry.end else { continue }
                let step = next.start.saturatingSubtract(end).nanoseconds(timescale: timeline.timescale)
                guard isGap ? step > rounding : step < -rounding else { continue }
                return Problem(
                    found: "\(isGap ? "a gap" : "an overlap") of \(Int64(clamping: step.magnitude).shownSeconds)",
                    expected: "an `S` element that starts where the one before it ends",
                    advice: "Check the packager's input; start a new Period at a real gap.",
                    line: next.line
                )
            }
            return nil
        }.prefix(8).map { $0 }
    }

    /// Periods do not follow one another.
    package static let periodBoundary = Rule(
        "period-boundary",
        .error,
        "Periods do not follow one another",
        explanation: "Players stall at the boundary, cut the end of a period, or show a black picture.",
        source: "ISO/IEC 23009-1 clause 5.3.2.1",
        checks: [.manifest { manifest, _ in boundaries(manifest) + contents(manifest) + emptiness(manifest) }]
    )

    /// Whether no period lasts, which is a fault of their boundaries.
    static func lastNoTime(_ manifest: ManifestVersion) -> Bool {
        manifest.periods.allSatisfy { $0.end ?? .max <= $0.start }
            && !boundaries(manifest).isEmpty
    }

    private static func boundaries(_ manifest: ManifestVersion) -> [Problem] {
        var problems: [Problem] = []
        for (period, next) in zip(manifest.periods, manifest.periods.dropFirst()) {
            guard next.start >= period.start else {
                problems.append(
                    boundary(
                        "a start at \(next.start.shownSeconds)",
                        "a start after that of the period before, \(period.start.shownSeconds)",
                        next.element
                    )
                )
                continue
            }
            let end = period.element.duration("duration").map { period.start.saturatingAdd($0) } ?? next.start
            let step = next.start.saturatingSubtract(end)
            guard step.magnitude > rounding.magnitude else { continue }
            problems.append(
                boundary(
                    "a start at \(next.start.shownSeconds)",
                    "a start at \(end.shownSeconds), where the period before ends",
                    next.element
                )
            )
        }
        guard !manifest.isDynamic, let total = manifest.root.duration("mediaPresentationDuration"),
            let last = manifest.periods.last, let end = last.end
        else { return problems }
        if last.start >= total {
            problems.append(
                boundary(
                    "a last period that starts at \(last.start.shownSeconds)",
                    "a start before the end of the presentation, \(total.shownSeconds)",
                    last.element
                )
            )
        } else if end.saturatingSubtract(total).magnitude > 500_000_000 {
            problems.append(
                boundary(
                    "an end at \(end.shownSeconds)",
                    "an end at \(total.shownSeconds), the mediaPresentationDuration",
                    last.element
                )
            )
        }
        return problems
    }

    /// Periods that last and have no media. One that is elsewhere and is missing has another rule.
    private static func emptiness(_ manifest: ManifestVersion) -> [Problem] {
        guard !manifest.isDynamic else { return [] }
        return manifest.periods.lazy.filter { period in
            period.sets.isEmpty && period.element.first("EmptyAdaptationSet") == nil
                && period.element["xlink:href"] == nil && (period.element.duration("duration") ?? 0) > 0
        }.prefix(mostProblems).map { period in
            var problem = boundary(
                "a period without an AdaptationSet",
                "media in each period that lasts",
                period.element
            )
            problem.advice = "Write the media into the period, or leave the period out."
            return problem
        }
    }

    /// Timelines that do not fill their period, by more than a segment.
    private static func contents(_ manifest: ManifestVersion) -> [Problem] {
        manifest.timelines.compactMap { content(of: $0, in: manifest) }
    }

    /// Whether the timeline of a rendition does not fill the last period, which says where the rendition ends.
    static func missesEnd(_ manifest: ManifestVersion, _ rendition: String) -> Bool {
        manifest.timelines.contains { timeline in
            timeline.period == manifest.periods.count - 1
                && timeline.representations.contains { rendition.hasSuffix("/\($0)") }
                && content(of: timeline, in: manifest) != nil
        }
    }

    private static func content(of timeline: ManifestVersion.Timeline, in manifest: ManifestVersion) -> Problem? {
        let period = manifest.periods[timeline.period]
        guard !manifest.isDynamic, timeline.isMedia, let first = timeline.entries.first else { return nil }
        let slack = timeline.longest.saturatingAdd(rounding)
        let lead = first.start.saturatingSubtract(timeline.offset).nanoseconds(timescale: timeline.timescale)
        if lead.magnitude > slack.magnitude {
            return boundary(
                "media that start \(Int64(clamping: lead.magnitude).shownSeconds) \(lead > 0 ? "after" : "before") the period",
                "media that start with the period: check presentationTimeOffset",
                period.element
            )
        }
        // A period without a length has another problem.
        guard let end = timeline.end, let length = period.end?.saturatingSubtract(period.start), length > 0 else {
            return nil
        }
        if lead >= length {
            return boundary(
                "media that start \(lead.shownSeconds) after the period, which is \(length.shownSeconds) long",
                "media that start with the period: check presentationTimeOffset",
                period.element
            )
        }
        let media = end.saturatingSubtract(timeline.offset).nanoseconds(timescale: timeline.timescale)
        // A period may end inside a segment. What is missing is time without media: tracks end apart, and players
        // spare a second, or a fiftieth of a long period.
        let missing = length.saturatingSubtract(media)
        guard missing > 0 ? missing > min(slack, max(1_000_000_000, length / 50)) : missing < -slack else {
            return nil
        }
        return boundary(
            "media of \(media.shownSeconds)",
            "media that fill the period of \(length.shownSeconds)",
            period.element
        )
    }

    private static func boundary(_ found: String, _ expected: String, _ element: MarkupElement) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Correct @start and @duration of the periods.",
            line: element.line
        )
    }
}
