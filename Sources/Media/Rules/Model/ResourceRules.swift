internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A playlist or manifest cannot be fetched.
    package static let manifestUnavailable = Rule(
        "manifest-unavailable",
        .error,
        "A playlist or manifest cannot be fetched",
        explanation: "A player that cannot fetch the playlist of a rendition cannot play the rendition.",
        source: "RFC 8216bis section 6.2.1; ISO/IEC 23009-1 clause 5.3.1",
        checks: [
            .failure { failure, _ in
                guard failure.kind == .manifest else { return [] }
                if failure.isOfServer { return [server(failure.reason)] }
                if failure.isCoding { return [coding(failure.reason)] }
                return [
                    Problem(
                        found: failure.reason,
                        expected: "a response with status 200 within the time and size limits",
                        advice: failure.status.map { StatusAdvice.sentence(for: $0) }
                            ?? "Check the address, the server and the network."
                    )
                ]
            }
        ]
    )

    /// A segment, an initialization segment or a key cannot be fetched.
    package static let segmentUnavailable = Rule(
        "segment-unavailable",
        .error,
        "A listed segment cannot be fetched",
        explanation: "The playback of every viewer stops or skips at a segment that no player can fetch.",
        source: "RFC 8216bis section 6.2.1; ISO/IEC 23009-1 clause 5.3.9.1",
        checks: [
            .failure { failure, _ in
                guard failure.kind == .segment else { return [] }
                if failure.isOfServer { return [server(failure.reason)] }
                return [failure.isCoding ? coding(failure.reason) : unavailable(failure.reason, failure.status)]
            },
            .segment { facts, _, history in
                switch facts.failure {
                case .status(let status):
                    // An expired segment and one that is announced too early have a rule that says so.
                    let isTimely = facts.isMissing && (facts.place == .oldest || history.manifest != nil)
                    // The number of a segment follows from values that have a rule.
                    if history.manifest?.hasUnreadableTimes == true, [404, 410].contains(status) { return [] }
                    if facts.isRemainder, [404, 410].contains(status) { return [remainder(status, facts)] }
                    return isTimely ? [] : [unavailable("status \(status)", status)]
                case .connection(let reason): return [unavailable(reason, nil)]
                case .coding(let found): return [coding(found)]
                case .unreadable, .undecipherable, .otherRange, nil: return []
                }
            },
        ]
    )

    private static func coding(_ found: String) -> Problem {
        Problem(
            found: found,
            expected: "a body in the content coding that its head names: gzip, deflate, br, or none",
            advice: "Correct Content-Encoding on the server, or the copy in the cache."
        )
    }

    /// A server that lacks what the other servers of the manifest have, or that delivers nothing.
    private static func server(_ reason: String) -> Problem {
        Problem(
            found: reason,
            expected: "all of the stream at each server that the manifest names",
            advice: "Check the server and the upload to it, or remove the server from the manifest."
        )
    }

    private static func unavailable(_ reason: String, _ status: Int?) -> Problem {
        Problem(
            found: reason,
            expected: "a response with status 200 or 206 for each listed resource",
            advice: status.map { StatusAdvice.sentence(for: $0) }
                ?? "Check the server and the path to it, then the packager's upload."
        )
    }

    /// The segment that the duration of a presentation implies, and that the packager did not write.
    private static func remainder(_ status: Int, _ facts: SegmentFacts) -> Problem {
        let rest = facts.declaredDuration.shownSeconds
        return Problem(
            found: "status \(status) for segment \(facts.sequence), which the MPD implies for the last \(rest)",
            expected: "as many segments as follow from @duration and the duration of the period",
            advice: "Write @endNumber or a SegmentTimeline, or let the period end with its last segment."
        )
    }

    /// A segment is no media.
    package static let segmentUnreadable = Rule(
        "segment-unreadable",
        .error,
        "A segment is no media of a known kind",
        explanation:
            "A decoder cannot play the segment: the server sent an error page, or the packager wrote a damaged file.",
        source: "RFC 8216bis section 3.1; ISO/IEC 23009-1 clause 6",
        checks: [
            .failure { failure, _ in
                guard failure.kind == .initialization else { return [] }
                return [
                    Problem(
                        found: "\(failure.reason) as an initialization segment",
                        expected:
                            "an initialization segment: `ftyp` and a `moov` whose tracks have a time scale, or the head of WebM",
                        advice: "Compare the body with what the packager wrote; check the address and its access."
                    )
                ]
            },
            .failure { failure, _ in
                guard failure.kind == .index else { return [] }
                return [
                    Problem(
                        found: failure.reason,
                        expected: "an index (`sidx`) in the index range of the file",
                        advice: "Compare the body with what the packager wrote, and the index range with the file."
                    )
                ]
            },
            .segment { facts, _, history in
                guard history.manifest != nil, facts.isBareFragment, facts.failure == nil, facts.tracks.isEmpty else {
                    return []
                }
                return [
                    Problem(
                        found: "MP4 without an initialization segment in segment \(facts.sequence)",
                        expected: "an initialization segment in the MPD or in each segment",
                        advice: "Write the address of the initialization segment into the MPD (@initialization)."
                    )
                ]
            },
            .segment { facts, _, _ in
                guard case .unreadable(let reason) = facts.failure else { return [] }
                let isCompressed = reason == "\(ManifestContent.compressed)"
                return [
                    Problem(
                        found: reason,
                        expected: "MPEG-2 TS, fragmented MP4, WebM, packed audio or WebVTT",
                        advice: isCompressed
                            ? "Send Content-Encoding with compressed bodies, or media as it is."
                            : "Compare the body with what the packager wrote."
                    )
                ]
            }
            .explained(by: .key),
        ]
    )

    /// The content type contradicts the content.
    package static let contentTypeWrong = Rule(
        "content-type-wrong",
        .warning,
        "The content type contradicts the content",
        explanation: "Browsers and some players refuse a playlist that the server declares to be something else.",
        source: "RFC 8216bis section 4; ISO/IEC 23009-1 annex C",
        checks: [
            .text { text, _ in
                guard text.failure == nil, let type = text.contentType.map(essence) else { return [] }
                let known = text.format == .hls ? playlistTypes : manifestTypes
                let ending = text.format == .hls ? [".m3u8", ".m3u"] : [".mpd"]
                let isNamed = ending.contains { text.url.path.lowercased().hasSuffix($0) }
                if known.contains(type) || isNamed && neutralTypes.contains(type) { return [] }
                return [
                    Problem(
                        found: "`\(type.excerpt())`",
                        expected: "the content type `\(known[0])`",
                        advice: "Configure the content type on the server."
                    )
                ]
            }
        ]
    )

    private static let playlistTypes = [
        "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl",
    ]
    private static let manifestTypes = [
        "application/dash+xml", "video/vnd.mpeg.dash.mpd", "application/xml", "text/xml",
    ]
    /// Types that say nothing: the name's ending then decides.
    private static let neutralTypes = ["application/octet-stream", "binary/octet-stream", "text/plain", ""]

    /// A media type without its parameters.
    private static func essence(_ type: String) -> String {
        type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    }
}
