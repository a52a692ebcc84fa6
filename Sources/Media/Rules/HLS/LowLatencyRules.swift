internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentText

extension Rule {
    /// A part is longer than `PART-TARGET`.
    package static let partTargetExceeded = Rule(
        "part-target-exceeded",
        .error,
        "A part is longer than PART-TARGET",
        explanation:
            "Players size their buffer by the part target; a longer part makes them stall, and some refuse it.",
        source: "RFC 8216bis section 4.4.4.9",
        checks: [
            .media { playlist, _ in
                guard let target = playlist.playlist.control.partTarget else { return [] }
                let parts = playlist.parts
                let longer = parts.filter { $0.part.duration > target.saturatingAdd(roundingOfParts) }
                guard let first = longer.first else { return [] }
                let (found, expected) = first.part.duration.shownSeconds(besides: target)
                return [
                    partProblem(
                        "\(found) in \(longer.count) of \(parts.count) parts",
                        "parts of at most PART-TARGET, \(expected)",
                        "Raise PART-TARGET, or cut shorter parts.",
                        first.line
                    )
                ]
            }
        ]
    )

    /// A part is shorter than 85 % of `PART-TARGET`.
    package static let partTooShort = Rule(
        "part-too-short",
        .warning,
        "A part is shorter than 85 % of PART-TARGET",
        explanation: "Each part costs a request and a reload of the playlist; short parts multiply both.",
        source: "RFC 8216bis section 4.4.4.9",
        checks: [
            .media { playlist, _ in
                guard let target = playlist.playlist.control.partTarget else { return [] }
                let least = target.scaled(by: 85, over: 100).saturatingSubtract(roundingOfParts)
                // The last part of a segment may be shorter; whether a part is the last one of the open segment is
                // not known yet.
                let short = playlist.parts.filter { !$0.isLast && !$0.part.isGap && $0.part.duration < least }
                guard let first = short.first else { return [] }
                let (found, expected) = first.part.duration.shownSeconds(besides: target.scaled(by: 85, over: 100))
                return [
                    partProblem(
                        "\(found) in \(short.count) of \(playlist.parts.count) parts",
                        "parts of at least \(expected), except the last one of a segment",
                        "Lower PART-TARGET, or cut parts of one duration.",
                        first.line
                    )
                ]
            }
        ]
    )

    /// Parts are listed without `EXT-X-PART-INF`.
    package static let partTargetMissing = Rule(
        "part-target-missing",
        .error,
        "Parts are listed without EXT-X-PART-INF",
        explanation: "Players that do not know the part target ignore the parts.",
        source: "RFC 8216bis section 4.4.3.7",
        checks: [
            .media { playlist, _ in
                guard playlist.tags("EXT-X-PART-INF").isEmpty, let part = playlist.tags("EXT-X-PART").first else {
                    return []
                }
                return [
                    partProblem(
                        "EXT-X-PART without EXT-X-PART-INF",
                        "EXT-X-PART-INF with PART-TARGET",
                        "Add EXT-X-PART-INF with the longest duration of a part.",
                        part.line
                    )
                ]
            }
            .explained(by: .partInformation)
        ]
    )

    /// The parts of a segment do not have its duration.
    package static let partDurationsDiffer = Rule(
        "part-durations-differ",
        .error,
        "The parts of a segment are shorter or longer than the segment",
        explanation: "Players that fetch parts play other media than those that fetch segments, or at another time.",
        source: "RFC 8216bis section 4.4.4.9",
        checks: [
            .media { playlist, _ in
                // A part that is left out has another rule.
                guard !playlist.playlist.notices.contains(where: { $0.subject == .incompletePart }) else { return [] }
                let divided = playlist.segments.filter { !$0.segment.parts.isEmpty }
                for (place, listed) in divided.enumerated() {
                    let sum = listed.segment.parts.reduce(Int64(0)) { $0.saturatingAdd($1.duration) }
                    let difference = sum.saturatingSubtract(listed.segment.duration)
                    // Each number is rounded, and the first parts of the oldest segment may be removed already.
                    let tolerance = roundingOfParts.saturatingMultiply(Int64(listed.segment.parts.count) + 1)
                    guard difference.magnitude > tolerance.magnitude, difference > 0 || place > 0 else { continue }
                    let (found, expected) = sum.shownSeconds(besides: listed.segment.duration)
                    return [
                        partProblem(
                            "\(listed.segment.parts.count) parts of \(found) in segment \(listed.segment.sequence)",
                            "parts of \(expected) together, the duration of the segment",
                            "Write the durations of the parts and of the segment from the same media.",
                            listed.line
                        )
                    ]
                }
                return []
            }
        ]
    )

    /// Parts are listed that are no longer near the live edge.
    package static let partsKeptTooLong = Rule(
        "parts-kept-too-long",
        .warning,
        "Parts are listed that are no longer near the live edge",
        explanation: "Each reload of the playlist costs the more, and no player needs these parts.",
        source: "RFC 8216bis section 6.2.2",
        checks: [
            .media { playlist, _ in
                guard playlist.isLive, playlist.playlist.control.partTarget != nil,
                    let end = playlist.playlist.openSegment?.end ?? playlist.segments.last?.segment.end
                else { return [] }
                let longest = playlist.playlist.targetDuration.saturatingMultiply(3)
                // A segment may keep all of its parts until the last of them is too old.
                let old = playlist.segments.prefix { listed in
                    end.saturatingSubtract(listed.segment.end) > longest.saturatingAdd(roundingOfParts)
                }
                guard let first = old.first(where: { !$0.segment.parts.isEmpty }) else { return [] }
                let count = old.reduce(0) { $0 + $1.segment.parts.count }
                let age = end.saturatingSubtract(first.segment.end)
                return [
                    partProblem(
                        "\(count) parts that end up to \(age.shownSeconds) before the end of the playlist",
                        "parts within three target durations, \(longest.shownSeconds)",
                        "Remove EXT-X-PART of older segments.",
                        first.line
                    )
                ]
            }
        ]
    )

    /// `PART-TARGET` changes at a reload.
    package static let partTargetChanged = Rule(
        "part-target-changed",
        .error,
        "PART-TARGET changes at a reload",
        explanation: "Players compute their reloads and their latency from the part target, which must not change.",
        source: "RFC 8216bis sections 4.4.3.7 and 6.2.1",
        checks: [
            .media { playlist, rendition, _ in
                guard let old = rendition.replaced?.playlist.control.partTarget,
                    let new = playlist.playlist.control.partTarget, old != new
                else { return [] }
                let (found, expected) = new.shownSeconds(besides: old)
                return [
                    partProblem(
                        "a PART-TARGET of \(found)",
                        "the PART-TARGET of the playlist before, \(expected)",
                        "Keep one PART-TARGET for the whole stream.",
                        playlist.tags("EXT-X-PART-INF").first?.line
                    )
                ]
            }
        ]
    )

    /// The rounding of durations in playlists that is no fault, in nanoseconds.
    private static let roundingOfParts: Int64 = 1_000_000

    private static func partProblem(_ found: String, _ expected: String, _ advice: String, _ line: Int?) -> Problem {
        Problem(found: found, expected: expected, advice: advice, line: line)
    }

    /// `HOLD-BACK` or `PART-HOLD-BACK` is missing or too short.
    package static let holdBackTooShort = Rule(
        "hold-back-too-short",
        .error,
        "HOLD-BACK or PART-HOLD-BACK is missing or too short",
        explanation: "Players start so near to the live edge that each delay of a reload or of a part stalls them.",
        source: "RFC 8216bis section 4.4.3.8",
        checks: [
            .media { playlist, _ in
                let control = playlist.playlist.control
                let tag = playlist.tags("EXT-X-SERVER-CONTROL").first
                var problems: [Problem] = []
                if let part = control.partTarget, tag == nil {
                    let least = part.saturatingMultiply(2).shownSeconds
                    problems.append(
                        Problem(
                            found: "parts without EXT-X-SERVER-CONTROL",
                            expected:
                                "an EXT-X-SERVER-CONTROL with CAN-BLOCK-RELOAD=YES and a PART-HOLD-BACK of at least \(least)",
                            advice: "Add the tag.",
                            line: playlist.tags("EXT-X-PART-INF").first?.line
                        )
                    )
                } else if let part = control.partTarget {
                    problems += [distance("PART-HOLD-BACK", tag, atLeast: part.saturatingMultiply(2), isRequired: true)]
                        .compactMap(\.self)
                }
                let target = playlist.playlist.targetDuration
                problems += [distance("HOLD-BACK", tag, atLeast: target.saturatingMultiply(3), isRequired: false)]
                    .compactMap(\.self)
                return problems
            }
        ]
    )

    /// Delta updates leave out too much.
    package static let skipUntilTooShort = Rule(
        "skip-until-too-short",
        .error,
        "CAN-SKIP-UNTIL is too short",
        explanation: "A player that was late by a reload misses segments that the delta update leaves out.",
        source: "RFC 8216bis section 4.4.3.8",
        checks: [
            .media { playlist, _ in
                guard let tag = playlist.tags("EXT-X-SERVER-CONTROL").first else { return [] }
                let attributes = tag.attributes
                if attributes["CAN-SKIP-DATERANGES"] == "YES", attributes["CAN-SKIP-UNTIL"] == nil {
                    return [
                        control(
                            "CAN-SKIP-DATERANGES without CAN-SKIP-UNTIL",
                            "CAN-SKIP-UNTIL beside CAN-SKIP-DATERANGES",
                            tag
                        )
                    ]
                }
                let least = playlist.playlist.targetDuration.saturatingMultiply(6)
                return [distance("CAN-SKIP-UNTIL", tag, atLeast: least, isRequired: false)].compactMap(\.self)
            }
        ]
    )

    /// A distance from the live edge that the server declares; a problem if it is missing, unreadable or too short.
    private static func distance(
        _ name: String,
        _ tag: PlaylistTag?,
        atLeast least: Int64,
        isRequired: Bool
    ) -> Problem? {
        guard let text = tag?.attributes[name] else {
            guard isRequired else { return nil }
            return control("no \(name)", "a \(name) of at least \(least.shownSeconds)", tag)
        }
        guard let value = DecimalText.nanoseconds(text) else {
            return control("\(name)=\(text.excerpt())", "a number of seconds", tag)
        }
        guard value < least.saturatingSubtract(roundingOfParts) else { return nil }
        let (found, expected) = value.shownSeconds(besides: least)
        return control("a \(name) of \(found)", "a \(name) of at least \(expected)", tag)
    }

    private static func control(_ found: String, _ expected: String, _ tag: PlaylistTag?) -> Problem {
        Problem(found: found, expected: expected, advice: "Correct EXT-X-SERVER-CONTROL.", line: tag?.line)
    }

    /// A low-latency server does not hold reloads.
    package static let blockingReloadMissing = Rule(
        "blocking-reload-missing",
        .warning,
        "A playlist with parts does not offer blocking reloads",
        explanation: "Players have to poll for each part, and add the time between two reloads to the latency.",
        source: "RFC 8216bis appendix B.1, section 4.4.3.8; RFC 8216bis section 6.2.5.2",
        checks: [
            .media { playlist, _ in
                // Without the tag, its absence is the fault, which `hold-back-too-short` reports.
                guard playlist.isLive, playlist.playlist.control.partTarget != nil,
                    !playlist.playlist.control.canBlockReload,
                    let tag = playlist.tags("EXT-X-SERVER-CONTROL").first
                else { return [] }
                return [control("parts without CAN-BLOCK-RELOAD=YES", "CAN-BLOCK-RELOAD=YES", tag)]
            }
        ]
    )

    /// The stream continues with another part than the one that the playlist announced.
    package static let preloadHintNotKept = Rule(
        "preload-hint-not-kept",
        .warning,
        "The stream continues with another part than the hinted one",
        explanation: "Players have fetched the hinted part in advance without use, and fetch the next one too late.",
        source: "RFC 8216bis section 4.4.5.3",
        checks: [
            .media { playlist, rendition, _ in
                guard let old = rendition.replaced, let hint = old.playlist.preloadHint,
                    let open = old.playlist.openSegment, playlist.hasParts(after: open)
                else { return [] }
                let path = hint.url.path
                let isKept =
                    playlist.parts.contains { $0.part.url.path == path }
                    || playlist.playlist.segments.contains { $0.url.path == path }
                    || playlist.playlist.preloadHint?.url.path == path
                guard !isKept else { return [] }
                return [
                    partProblem(
                        "no part with the address of the hint, `\(path.excerpt())`",
                        "the hinted part in the next playlist",
                        "Hint only at the part that the packager writes next.",
                        old.tags("EXT-X-PRELOAD-HINT").first?.line
                    )
                ]
            }
        ]
    )

    /// A rendition report contradicts the playlist of the rendition.
    package static let renditionReportWrong = Rule(
        "rendition-report-wrong",
        .error,
        "A rendition report is invalid, or contradicts the playlist of the rendition",
        explanation: "A player that switches requests a segment that does not exist, or one that is long over.",
        source: "RFC 8216bis section 4.4.5.4",
        checks: [
            .media { playlist, _ in
                for tag in playlist.tags("EXT-X-RENDITION-REPORT") {
                    let address = tag.attributes["URI"]
                    if let address, !HTTPURL.hasScheme(address) { continue }
                    return [
                        partProblem(
                            address == nil ? "a rendition report without URI" : "an absolute URI",
                            "a URI that is relative to that of the playlist",
                            "Write the path from this playlist to the other one.",
                            tag.line
                        )
                    ]
                }
                return []
            },
            .media { playlist, rendition, history in
                guard playlist.isLive else { return [] }
                for report in playlist.playlist.renditionReports {
                    let other = history.renditions.first { $0.current?.url.path == report.url.path }?.current
                    guard let other, other.isLive, let last = other.lastSequence else { continue }
                    // Both were not fetched at one instant, and a server need not report the newest part.
                    let apart = other.fetched.instant.duration(to: playlist.fetched.instant).nanoseconds.magnitude
                    let target = max(other.playlist.targetDuration, 1_000_000_000)
                    let tolerance = Int64(clamping: apart) / target + 2
                    guard report.lastSequence.saturatingSubtract(last).magnitude > tolerance.magnitude else { continue }
                    return [
                        partProblem(
                            "LAST-MSN=\(report.lastSequence) for \(report.url.path.excerpt())",
                            "about \(last), the last segment of that playlist",
                            "Write the reports from the playlists that the server sends.",
                            playlist.tags("EXT-X-RENDITION-REPORT").first?.line
                        )
                    ]
                }
                return []
            },
        ]
    )
}

/// A part of a playlist with its line.
struct ListedPart {
    var part: PartialSegment
    var line: Int?
    /// Whether no part of the same segment is known to follow.
    var isLast: Bool
}

extension MediaPlaylistVersion {
    /// All parts, in the order of the playlist.
    var parts: [ListedPart] {
        let segments = playlist.segments.map(\.parts) + [playlist.openSegment?.parts ?? []]
        let all = segments.flatMap { parts in
            parts.indices.map { ListedPart(part: parts[$0], line: nil, isLast: $0 == parts.count - 1) }
        }
        let lines = tags("EXT-X-PART").map(\.line)
        // Tags that the parser leaves out would shift the lines.
        guard lines.count == all.count else { return all }
        return zip(all, lines).map { ListedPart(part: $0.part, line: $1, isLast: $0.isLast) }
    }

    /// The number of the last segment, complete or not.
    var lastSequence: Int64? {
        let open = playlist.openSegment.flatMap { $0.parts.isEmpty ? nil : $0.sequence }
        return open ?? playlist.segments.last?.sequence
    }

    /// Whether the playlist lists the part that follows those of a segment of an earlier version.
    func hasParts(after open: MediaSegment) -> Bool {
        let count = open.parts.count
        func parts(_ sequence: Int64) -> [PartialSegment] {
            playlist.segments.last { $0.sequence == sequence }?.parts
                ?? (playlist.openSegment?.sequence == sequence ? playlist.openSegment?.parts ?? [] : [])
        }
        let continued = parts(open.sequence)
        if continued.count > count { return true }
        return continued.count == count && count > 0 && !parts(open.sequence.saturatingAdd(1)).isEmpty
    }
}
