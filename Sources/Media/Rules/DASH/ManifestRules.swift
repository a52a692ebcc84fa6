internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// The MPD cannot be parsed.
    package static let mpdMalformed = Rule(
        "mpd-malformed",
        .error,
        "The MPD cannot be parsed",
        explanation: "A player must refuse an MPD that is no valid XML or lacks what playback needs.",
        source: "ISO/IEC 23009-1 clause 5.2",
        checks: [
            .text { text, history in
                guard text.format == .dash, let failure = text.failure else { return [] }
                // An MPD that lacks what a remote element should have brought has another rule.
                guard !text.notices.contains(where: { $0.subject == .remoteElement }) else { return [] }
                // So have a beginning that cannot be read, and periods that all last 0 s.
                if let manifest = history.manifest, manifest.isDynamic, manifest.root["availabilityStartTime"] != nil,
                    manifest.availabilityStart == nil
                {
                    return []
                }
                if failure.line == nil, failure.code == .malformed, let manifest = history.manifest,
                    lastNoTime(manifest)
                {
                    return []
                }
                return failure.problems(of: "an MPD", expecting: "an MPD, whose root element is `MPD`")
            }
        ]
    )

    /// A required attribute is missing.
    package static let mpdAttributeMissing = Rule(
        "mpd-attribute-missing",
        .warning,
        "A required attribute of the MPD is missing",
        explanation: "Players guess the value of the attribute, and each guesses something else.",
        source: "ISO/IEC 23009-1 clauses 5.3.1.2, 5.3.5.2, 5.8.2 and 5.10.2.2",
        checks: [
            .manifest { manifest, _ in
                var required = ["profiles", "minBufferTime"]
                // Without availabilityStartTime, a live MPD cannot be used at all.
                if manifest.isDynamic { required.append("publishTime") }
                var problems = required.filter { manifest.root[$0] == nil }.map { missing($0, manifest.root) }
                if let problem = namespaceProblem(manifest.root) { problems.append(problem) }
                if manifest.lacksDuration { problems.append(missing("mediaPresentationDuration", manifest.root)) }
                problems += namelessDescriptors(in: manifest.root)
                for period in manifest.periods {
                    problems += namelessDescriptors(in: period.element)
                    for set in period.element.all("AdaptationSet") {
                        problems += namelessDescriptors(in: set)
                        for representation in set.all("Representation") {
                            problems += namelessDescriptors(in: representation)
                            problems += ["id", "bandwidth"].filter { representation[$0] == nil }
                                .map { missing($0, representation) }
                            if representation["mimeType"] == nil, set["mimeType"] == nil {
                                problems.append(missing("mimeType", representation))
                            }
                        }
                    }
                }
                return Array(problems.prefix(8))
            }
        ]
    )

    /// The root's own namespace; elements of others may be in any.
    private static func namespaceProblem(_ root: MarkupElement) -> Problem? {
        let expected = "urn:mpeg:dash:schema:mpd:2011"
        let names = root.attributes.filter { $0.key == "xmlns" || $0.key.hasPrefix("xmlns:") }
        guard !names.values.contains(expected) else { return nil }
        return Problem(
            found: names["xmlns"].map { "the namespace `\($0.excerpt())`" } ?? "`MPD` without a namespace",
            expected: "the namespace `\(expected)`",
            advice: "Correct xmlns; validators and some players take the document for another one.",
            line: root.line
        )
    }

    /// The elements whose meaning is that of their scheme.
    private static let descriptors: Set<String> = [
        "Accessibility", "AudioChannelConfiguration", "ContentProtection", "EssentialProperty", "EventStream",
        "FramePacking", "InbandEventStream", "OutputProtection", "Rating", "Role", "SupplementalProperty", "UTCTiming",
        "Viewpoint",
    ]

    private static func namelessDescriptors(in element: MarkupElement) -> [Problem] {
        element.children.filter { child in
            // A remote element brings its scheme.
            descriptors.contains(child.name) && child["schemeIdUri"] == nil && child["xlink:href"] == nil
        }.map { missing("schemeIdUri", $0) }
    }

    private static func missing(_ name: String, _ element: MarkupElement) -> Problem {
        Problem(
            found: "`\(element.name)` without `\(name)`",
            expected: "the attribute `\(name)`",
            advice: "Add the attribute.",
            line: element.line
        )
    }

    /// An attribute contradicts the type of the MPD.
    package static let mpdTypeContradicted = Rule(
        "mpd-type-contradicted",
        .warning,
        "An attribute contradicts the type of the MPD",
        explanation: "Some players request the MPD of a recording again and again, others take it for a live stream.",
        source: "ISO/IEC 23009-1 clause 5.3.1.2",
        checks: [
            .manifest { manifest, _ in
                // A type that cannot be read has another rule.
                guard ["static", nil].contains(manifest.root.word("type")),
                    let period = manifest.root["minimumUpdatePeriod"]
                else { return [] }
                let type =
                    manifest.root["type"] == nil ? "in an MPD without a type, which is static" : "of type `static`"
                return [
                    Problem(
                        found: "`minimumUpdatePeriod=\"\(period.excerpt())\"` \(type)",
                        expected: "minimumUpdatePeriod in live MPDs alone",
                        advice: "Remove the attribute when the presentation has ended, or write type=\"dynamic\".",
                        line: manifest.root.line
                    )
                ]
            }
        ]
    )

    /// `@publishTime` goes back.
    package static let publishTimeBackwards = Rule(
        "publish-time-backwards",
        .error,
        "The publishTime goes back",
        explanation: "An old version of the MPD is served again; players lose the segments at the live edge.",
        source: "ISO/IEC 23009-1 clause 5.3.1.2",
        checks: [
            .manifest { manifest, history in
                guard let old = history.previousManifest?.publishTime, let new = manifest.publishTime, new < old else {
                    return []
                }
                return [
                    Problem(
                        found: "a publishTime that is \(old.nanoseconds(since: new).shownSeconds) earlier than before",
                        expected: "a publishTime that never goes back",
                        advice: "Check that all servers and caches serve the same version.",
                        line: manifest.root.line
                    )
                ]
            }
        ]
    )

    /// The MPD changes faster than `@minimumUpdatePeriod` says.
    package static let updatePeriodNotKept = Rule(
        "update-period-not-kept",
        .warning,
        "The MPD changes faster than minimumUpdatePeriod",
        explanation: "Players that keep to the period play by an MPD that is no longer valid.",
        source: "ISO/IEC 23009-1 clause 5.4.1",
        checks: [
            .manifest { manifest, history in
                guard let period = history.previousManifest?.updatePeriod, period > 0,
                    let old = history.previousManifest?.publishTime, let new = manifest.publishTime, new > old
                else { return [] }
                let interval = new.nanoseconds(since: old)
                // Packagers publish on their own timers; a tenth early is no fault.
                guard interval < period / 10 * 9 else { return [] }
                let (found, expected) = interval.shownSeconds(besides: period)
                return [
                    Problem(
                        found: "versions that were published \(found) apart",
                        expected: "at least minimumUpdatePeriod, \(expected)",
                        advice: "Lower minimumUpdatePeriod, or publish less often.",
                        line: manifest.root.line
                    )
                ]
            }
        ]
    )

    /// A live MPD gets no new segments.
    package static let mpdStale = Rule(
        "mpd-stale",
        .error,
        "The live MPD is stale",
        explanation: "A player that gets no new segments drains its buffer and stalls.",
        source: "ISO/IEC 23009-1 clause 5.4.1",
        checks: [
            .manifest { manifest, history in
                for edge in manifest.edges {
                    guard let since = history.edgeInstants[edge.id] else { continue }
                    let age = since.duration(to: manifest.fetched.instant).nanoseconds
                    let limit = edge.patience.saturatingMultiply(3) / 2
                    guard limit > 0, age > limit else { continue }
                    let (found, expected) = age.shownSeconds(besides: limit)
                    return [
                        Problem(
                            found: "the same last segment for \(found)",
                            expected: "a new segment within \(expected)",
                            advice: "Check the encoder and the packager, then the caches in front of them.",
                            line: edge.line
                        )
                    ]
                }
                return []
            }
        ]
    )
}
