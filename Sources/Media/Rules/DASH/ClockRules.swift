internal import Instrument
internal import InstrumentManifests
internal import InstrumentXML

extension Rule {
    /// `UTCTiming` disagrees with the server's clock, or has no answer.
    package static let utcTimingWrong = Rule(
        "utc-timing-wrong",
        .warning,
        "UTCTiming disagrees with the server's clock",
        explanation:
            "Players that follow UTCTiming compute the wrong live edge: too early, or segments that do not exist.",
        source: "ISO/IEC 23009-1 clause 5.8.4.11",
        checks: [
            .manifest { manifest, _ in
                if let direct = manifest.directTime { return directProblem(direct, manifest) }
                switch manifest.clock?.answer {
                case .failure(let reason):
                    return [problem(reason, "the time from the clock of UTCTiming", "Check its address.", manifest)]
                case .time: return clockProblem(manifest)
                case nil: return []
                }
            }
        ]
    )

    /// The largest difference of two clocks, in nanoseconds: `Date` has whole seconds, and a cached MPD is a little
    /// old.
    private static let tolerance: Int64 = 5_000_000_000

    private static func directProblem(_ direct: WallTime, _ manifest: ManifestVersion) -> [Problem] {
        let difference = direct.nanoseconds(since: manifest.serverTime ?? manifest.fetched.wallTime)
        guard difference.magnitude > tolerance.magnitude else { return [] }
        return [
            problem(
                difference,
                manifest.serverTime == nil ? "this machine" : "the server",
                "Synchronise the clocks by NTP; do not cache an MPD with a direct UTCTiming.",
                manifest
            )
        ]
    }

    /// A clock is wrong if it disagrees with this machine and with the server: one of these may be wrong as well, and
    /// the server's time is old where a cache has kept it.
    private static func clockProblem(_ manifest: ManifestVersion) -> [Problem] {
        guard let time = manifest.clockTime else { return [] }
        let difference = time.nanoseconds(since: manifest.fetched.wallTime)
        let fromServer = manifest.serverTime.map { time.nanoseconds(since: $0) } ?? difference
        guard min(difference.magnitude, fromServer.magnitude) > tolerance.magnitude else { return [] }
        return [problem(difference, "this machine", "Synchronise the clocks by NTP.", manifest)]
    }

    private static func problem(
        _ difference: Int64,
        _ reference: String,
        _ advice: String,
        _ manifest: ManifestVersion
    ) -> Problem {
        let distance = Int64(clamping: difference.magnitude).shownSeconds
        let found = "a UTCTiming value \(distance) \(difference > 0 ? "ahead of" : "behind") the clock of \(reference)"
        return problem(found, "at most 5 s of difference", advice, manifest)
    }

    private static func problem(
        _ found: String,
        _ expected: String,
        _ advice: String,
        _ manifest: ManifestVersion
    ) -> Problem {
        Problem(found: found, expected: expected, advice: advice, line: manifest.root.first("UTCTiming")?.line)
    }
}
