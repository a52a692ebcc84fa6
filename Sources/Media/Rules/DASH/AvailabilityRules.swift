internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension Rule {
    /// `@availabilityStartTime` changes.
    package static let availabilityStartChanged = Rule(
        "availability-start-changed",
        .error,
        "The availabilityStartTime changes at a reload",
        explanation: "The whole timeline shifts under the player, which requests segments that do not exist.",
        source: "ISO/IEC 23009-1 clause 5.3.1.2",
        checks: [
            .manifest { manifest, history in
                guard let old = history.previousManifest?.availabilityStart, let new = manifest.availabilityStart,
                    old != new
                else { return [] }
                let shift = new.nanoseconds(since: old)
                return [
                    Problem(
                        found:
                            "a start that is \(Int64(clamping: shift.magnitude).shownSeconds) \(shift > 0 ? "later" : "earlier")",
                        expected: "the availabilityStartTime of the MPD before",
                        advice:
                            "Keep one availabilityStartTime for the whole stream, also over restarts of the packager.",
                        line: manifest.root.line
                    )
                ]
            }
        ]
    )

    /// Segments are announced before they exist.
    package static let availabilityTimeWrong = Rule(
        "availability-time-wrong",
        .error,
        "Segments are not there at their availability time",
        explanation: "Players request segments at the live edge that do not exist yet, get errors and stall.",
        source: "ISO/IEC 23009-1 clause 5.3.9.5.3",
        checks: [
            .manifest { manifest, _ in
                guard manifest.isDynamic, let elapsed = manifest.elapsed else { return [] }
                for timeline in manifest.timelines {
                    let period = manifest.periods[timeline.period]
                    // Periods that are made in advance, such as ads, are listed in advance, and as a whole.
                    guard timeline.isMedia, period.end == nil, period.start <= elapsed,
                        let end = timeline.presentationEnd(in: period)
                    else { continue }
                    let lead = end.saturatingSubtract(elapsed)
                    // A segment may be listed while it is made (availabilityTimeOffset), but not before.
                    guard lead > timeline.longest.saturatingAdd(1_000_000_000) else { continue }
                    var found = problem(
                        "segments up to \(lead.shownSeconds) after now",
                        "no segment that ends later than one segment after now",
                        timeline.line
                    )
                    // No clock is wrong by a day.
                    if lead > 86_400_000_000_000 {
                        found.advice =
                            "Write presentationTimeOffset, the time of the timeline at which the period begins, or "
                            + "correct availabilityStartTime."
                    }
                    return [found]
                }
                return []
            },
            .segment { facts, _, history in
                guard history.manifest != nil, facts.isMissing, facts.place != .oldest,
                    case .status(let status) = facts.failure
                else { return [] }
                return [
                    problem(
                        "status \(status) for segment \(facts.sequence)",
                        "a segment that is there at its availability time",
                        nil
                    )
                ]
            },
        ]
    )

    private static func problem(_ found: String, _ expected: String, _ line: Int?) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Correct availabilityStartTime, or the clocks of encoder and packager.",
            line: line
        )
    }
}
