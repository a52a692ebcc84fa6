internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A server does not hold the reload of a playlist.
    package static let blockingReloadIgnored = Rule(
        "blocking-reload-ignored",
        .error,
        "A blocking reload is answered before the playlist has the segment",
        explanation: "Players ask again at once, so that the server gets many requests and the latency grows.",
        source: "RFC 8216bis section 6.2.5.2",
        checks: [
            .directive { answer, _ in
                guard case .block(let sequence) = answer.directive, !answer.playlist.hasEnded else { return [] }
                let last = answer.playlist.segments.last?.sequence
                // A playlist that is longer, or has begun again, is another fault.
                guard let last, last < sequence else { return [] }
                return [
                    Problem(
                        found: "a playlist that ends with segment \(last)",
                        expected: "a playlist that has segment \(sequence), as `_HLS_msn=\(sequence)` asks",
                        advice:
                            "Hold the request until the segment exists; forward the query to the origin, and let caches key by it."
                    )
                ]
            }
        ]
    )

    /// A delta update says something else than the whole playlist.
    package static let deltaUpdateDiffers = Rule(
        "delta-update-differs",
        .error,
        "A delta update differs from the whole playlist",
        explanation: "Players that use delta updates play other segments than the others, or fail.",
        source: "RFC 8216bis section 6.2.5.1",
        checks: [
            .media { playlist, _ in
                guard let tag = playlist.tags("EXT-X-SKIP").first, !playlist.url.requestText.contains("_HLS_skip")
                else { return [] }
                var problem = delta("EXT-X-SKIP in a response to a request without _HLS_skip", "all segments")
                problem.line = tag.line
                return [problem]
            },
            .directive { answer, rendition in
                guard case .skip = answer.directive, let whole = rendition.current else { return [] }
                let known = Dictionary(whole.playlist.segments.map { ($0.sequence, $0) }) { first, _ in first }
                for segment in answer.playlist.segments {
                    guard let other = known[segment.sequence] else { continue }
                    if segment.url.path != other.url.path {
                        return [
                            delta(
                                "`\(segment.url.path.excerpt())` as segment \(segment.sequence)",
                                "`\(other.url.path.excerpt())` as in the whole playlist"
                            )
                        ]
                    }
                    if segment.duration != other.duration {
                        let (found, expected) = segment.duration.shownSeconds(besides: other.duration)
                        return [
                            delta(
                                "a duration of \(found) for segment \(segment.sequence)",
                                "\(expected) as in the whole playlist"
                            )
                        ]
                    }
                    if segment.discontinuity != other.discontinuity, answer.playlist.skippedCount == 0 {
                        return [
                            delta(
                                "discontinuity \(segment.discontinuity) for segment \(segment.sequence)",
                                "discontinuity \(other.discontinuity) as in the whole playlist"
                            )
                        ]
                    }
                }
                let first = answer.playlist.segments.first?.sequence
                let last = whole.playlist.segments.last?.sequence
                guard answer.playlist.skippedCount > 0, let first, let last, first > last.saturatingAdd(1) else {
                    return []
                }
                return [
                    delta(
                        "SKIPPED-SEGMENTS that leads to segment \(first)",
                        "segments that continue the whole playlist, which ends with segment \(last)"
                    )
                ]
            },
        ]
    )

    private static func delta(_ found: String, _ expected: String) -> Problem {
        Problem(found: found, expected: expected, advice: "Make delta updates from the playlist that the server sends.")
    }
}
