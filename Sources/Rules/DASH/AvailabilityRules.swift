internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension Rule {
    /// `@availabilityStartTime` changes.
    public static let availabilityStartChanged = Rule(
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
    public static let availabilityTimeWrong = Rule(
        "availability-time-wrong",
        .error,
        "Segments are not there at their availability time",
        explanation: "Players request segments at the live edge that do not exist yet, get errors and stall.",
        source: "ISO/IEC 23009-1 clause 5.3.9.5.3",
        checks: [
            .manifest { manifest, _ in
                guard manifest.isDynamic, let start = manifest.availabilityStart, let edge = manifest.edge,
                    let longest = manifest.timelines.map(\.longest).max()
                else { return [] }
                let elapsed = manifest.utcTime.nanoseconds(since: start)
                let lead = edge.saturatingSubtract(elapsed)
                // A segment may be listed while it is made (availabilityTimeOffset), but not before.
                guard lead > longest.saturatingAdd(1_000_000_000) else { return [] }
                return [
                    problem(
                        "segments up to \(lead.shownSeconds) after now",
                        "no segment that ends later than one segment after now",
                        manifest.root.line
                    )
                ]
            },
            .segment { facts, _, history in
                guard history.manifest != nil, facts.isLive, facts.place != .oldest,
                    case .status(let status) = facts.failure, [404, 410].contains(status)
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

    /// `UTCTiming` disagrees with the server's clock.
    public static let utcTimingWrong = Rule(
        "utc-timing-wrong",
        .warning,
        "UTCTiming disagrees with the server's clock",
        explanation:
            "Players that follow UTCTiming compute the wrong live edge: too early, or segments that do not exist.",
        source: "ISO/IEC 23009-1 clause 5.8.4.11",
        checks: [
            .manifest { manifest, _ in
                guard let direct = manifest.directTime else { return [] }
                let difference = direct.nanoseconds(since: manifest.serverTime ?? manifest.fetched.wallTime)
                // `Date` has whole seconds, and a cached MPD is a little old.
                guard difference.magnitude > 5_000_000_000 else { return [] }
                let reference = manifest.serverTime == nil ? "this machine" : "the server"
                return [
                    Problem(
                        found:
                            "a UTCTiming value \(Int64(clamping: difference.magnitude).shownSeconds) \(difference > 0 ? "ahead of" : "behind") the clock of \(reference)",
                        expected: "at most 5 s of difference",
                        advice: "Synchronise the clocks by NTP; do not cache an MPD with a direct UTCTiming.",
                        line: manifest.root.first("UTCTiming")?.line
                    )
                ]
            }
        ]
    )
}
