internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// `@availabilityTimeOffset` contradicts the segments.
    package static let availabilityOffsetWrong = Rule(
        "availability-offset-wrong",
        .error,
        "availabilityTimeOffset contradicts the duration of the segments",
        explanation:
            "Players request segments before their first chunk exists, or so late that the latency of whole segments remains.",
        source: "ISO/IEC 23009-1 clause 5.3.9.5.3; ETSI TS 103 285 clause 10.20.4",
        checks: [
            .manifest { manifest, _ in
                guard manifest.isDynamic else { return [] }
                return Array(manifest.chunkedSegments.compactMap(\.problem).prefix(mostProblems))
            },
            .segment { facts, _, history in
                guard let manifest = history.manifest, manifest.isDynamic, facts.failure == nil,
                    let levels = manifest.levels(of: facts),
                    let chunked = ChunkedSegments([levels.representation, levels.set, levels.period], in: manifest)
                else { return [] }
                return chunked.problem(of: facts).map { [$0] } ?? []
            },
        ]
    )

    /// The description of the service contradicts itself, or is missing in low latency.
    package static let serviceDescriptionWrong = Rule(
        "service-description-wrong",
        .warning,
        "The description of the service contradicts itself or is missing",
        explanation: "Each player chooses another latency, so that viewers of one stream are seconds apart.",
        source: "ISO/IEC 23009-1 annex K.3; ETSI TS 103 285 clause 10.20.2",
        checks: [
            .manifest { manifest, _ in
                let descriptions = manifest.root.all("ServiceDescription")
                let isChunked = manifest.isDynamic && manifest.chunkedSegments.contains { $0.isComplete == false }
                if isChunked, !descriptions.contains(where: { $0.first("Latency")?["target"] != nil }) {
                    return [
                        service("no ServiceDescription with Latency@target", "a target latency", manifest.root)
                    ]
                }
                if isChunked, manifest.root.first("UTCTiming") == nil {
                    return [
                        service("no UTCTiming", "a clock, by which players compute the latency", manifest.root)
                    ]
                }
                return Array(
                    descriptions.flatMap { latencies(of: $0, manifest) + rates(of: $0) + limits(of: $0) }
                        .prefix(mostProblems)
                )
            }
        ]
    )

    private static func service(_ found: String, _ expected: String, _ element: MarkupElement) -> Problem {
        Problem(found: found, expected: expected, advice: "Correct the ServiceDescription.", line: element.line)
    }

    private static func latencies(of description: MarkupElement, _ manifest: ManifestVersion) -> [Problem] {
        guard let latency = description.first("Latency") else { return [] }
        var values: [String: Int64] = [:]
        for name in ["min", "target", "max"] {
            guard let text = latency[name] else { continue }
            guard let value = DecimalText.integer(text.trimmingWhitespace), value > 0 else {
                return [service("Latency@\(name) of `\(text.excerpt())`", "milliseconds above 0", latency)]
            }
            values[name] = value
        }
        if let problem = disorder(in: latency, "Latency", unit: " ms", values) { return [problem] }
        // The window of a recording means nothing (clause 5.3.1.2).
        if let target = values["target"], manifest.isDynamic,
            let window = manifest.root.duration("timeShiftBufferDepth"), window > 0,
            target.saturatingMultiply(1_000_000) > window
        {
            return [
                service(
                    "Latency@target of \(target) ms in a window of \(window.shownSeconds)",
                    "a target latency inside timeShiftBufferDepth",
                    latency
                )
            ]
        }
        return []
    }

    private static func rates(of description: MarkupElement) -> [Problem] {
        guard let rate = description.first("PlaybackRate") else { return [] }
        let (slowest, fastest) = (
            rate["min"].map { DecimalText.double($0.trimmingWhitespace) ?? -1 },
            rate["max"].map { DecimalText.double($0.trimmingWhitespace) ?? -1 }
        )
        if let slowest, slowest <= 0 || slowest > 1 {
            return [
                service("PlaybackRate@min of `\((rate["min"] ?? "").excerpt())`", "a rate above 0, at most 1", rate)
            ]
        }
        if let fastest, fastest < 1 {
            return [service("PlaybackRate@max of `\((rate["max"] ?? "").excerpt())`", "a rate of at least 1", rate)]
        }
        return []
    }

    /// The limits of bit rates and qualities (annexes K.3.4 and K.3.5).
    private static func limits(of description: MarkupElement) -> [Problem] {
        ["OperatingBandwidth", "OperatingQuality"].compactMap { name in
            guard let element = description.first(name) else { return nil }
            var values: [String: Int64] = [:]
            for name in ["min", "target", "max"] { values[name] = element.integer(name) }
            return disorder(in: element, name, unit: "", values)
        }
    }

    /// The first two of the smallest, the wanted and the largest value that are not in this order.
    private static func disorder(
        in element: MarkupElement,
        _ name: String,
        unit: String,
        _ values: [String: Int64]
    ) -> Problem? {
        for (lower, upper) in [("min", "target"), ("target", "max"), ("min", "max")] {
            guard let first = values[lower], let second = values[upper], first > second else { continue }
            let found = "\(name)@\(lower) of \(first)\(unit) above \(name)@\(upper) of \(second)\(unit)"
            return service(found, "min, target and max in this order", element)
        }
        return nil
    }

    /// A `ProducerReferenceTime` cannot be used.
    package static let producerReferenceWrong = Rule(
        "producer-reference-wrong",
        .warning,
        "A ProducerReferenceTime cannot be used",
        explanation: "Players cannot measure the latency from the camera, and correct it by a wrong time.",
        source: "ISO/IEC 23009-1 clause 5.12",
        checks: [
            .manifest { manifest, _ in
                var identifiers: Set<String> = []
                var problems: [Problem] = []
                for period in manifest.root.all("Period") {
                    for set in period.all("AdaptationSet") {
                        let levels = [set] + set.all("Representation")
                        for element in levels.flatMap({ $0.all("ProducerReferenceTime") }) {
                            if let id = element["id"] { identifiers.insert(id) }
                            if let problem = referenceProblem(element), problems.count < mostProblems {
                                problems.append(problem)
                            }
                        }
                    }
                }
                for description in manifest.root.all("ServiceDescription") {
                    guard let latency = description.first("Latency"), let id = latency["referenceId"],
                        !identifiers.contains(id)
                    else { continue }
                    problems.append(
                        reference(
                            "Latency@referenceId of `\(id.excerpt())`, which no ProducerReferenceTime has",
                            "the id of a ProducerReferenceTime",
                            latency
                        )
                    )
                }
                return problems
            },
            .manifest { manifest, _ in
                guard manifest.isDynamic, let start = manifest.availabilityStart else { return [] }
                for period in manifest.periods {
                    let begin = start.advanced(nanoseconds: period.start)
                    for set in period.sets {
                        let described =
                            [([set, period.element], set)]
                            + set.all("Representation").map { ([$0, set, period.element], $0) }
                        for (levels, carrier) in described {
                            for element in carrier.all("ProducerReferenceTime") {
                                if let problem = clockProblem(element, levels, begin) { return [problem] }
                            }
                        }
                    }
                }
                return []
            },
        ]
    )

    /// The largest difference of the clock of an encoder to that of the presentation, in nanoseconds. The delay of an
    /// encoder is a few seconds; the time of a capture may be that of a recording, and is not judged.
    private static let largestReferenceOffset: Int64 = 3_600_000_000_000

    private static func clockProblem(
        _ element: MarkupElement,
        _ levels: [MarkupElement],
        _ periodStart: WallTime
    ) -> Problem? {
        guard (element["type"] ?? "encoder").trimmingWhitespace == "encoder",
            let ticks = element["presentationTime"].flatMap({ DecimalText.integer($0.trimmingWhitespace) }),
            let wallTime = element["wallClockTime"].flatMap({ CalendarText.wallTime($0.trimmingWhitespace) })
        else { return nil }
        let described = levels.segmentDescriptions
        func number(_ name: String) -> Int64? {
            described.inherited(name).flatMap { DecimalText.integer($0.trimmingWhitespace) }
        }
        let timescale = max(1, number("timescale") ?? 1)
        let media = ticks.saturatingSubtract(number("presentationTimeOffset") ?? 0).nanoseconds(timescale: timescale)
        let difference = wallTime.nanoseconds(since: periodStart.advanced(nanoseconds: media))
        guard difference.magnitude > largestReferenceOffset.magnitude else { return nil }
        let place = difference < 0 ? "before" : "after"
        return reference(
            "a wallClockTime \(Int64(clamping: difference.magnitude).shownSeconds) \(place) the time of its media",
            "about the time at which @availabilityStartTime and the start of the period place its presentationTime",
            element
        )
    }

    private static func referenceProblem(_ element: MarkupElement) -> Problem? {
        for name in ["id", "wallClockTime", "presentationTime"] where element[name] == nil {
            return reference("a ProducerReferenceTime without @\(name)", "the attribute @\(name)", element)
        }
        if let text = element["presentationTime"], DecimalText.integer(text.trimmingWhitespace) == nil {
            return reference("a presentationTime of `\(text.excerpt())`", "a number of ticks", element)
        }
        let kind = element.first("UTCTiming")?["schemeIdUri"] ?? ""
        guard let text = element["wallClockTime"], !kind.contains(":ntp") else { return nil }
        guard CalendarText.wallTime(text.trimmingWhitespace) == nil else { return nil }
        return reference("a wallClockTime of `\(text.excerpt())`", "a date of XML Schema", element)
    }

    private static func reference(_ found: String, _ expected: String, _ element: MarkupElement) -> Problem {
        Problem(found: found, expected: expected, advice: "Correct the ProducerReferenceTime.", line: element.line)
    }
}

/// The names of the elements that describe segments.
private let segmentDescriptionNames = ["SegmentTemplate", "SegmentList", "SegmentBase"]

/// A representation with what it inherits from, the representation first.
extension [MarkupElement] {
    /// The elements that describe the segments of these levels.
    fileprivate var segmentDescriptions: [MarkupElement] {
        flatMap { level in segmentDescriptionNames.compactMap { level.first($0) } }
    }

    /// The value of an attribute, of the first element that has it.
    fileprivate func inherited(_ name: String) -> String? { lazy.compactMap { $0[name] }.first }
}

/// Segments with an early availability, as one element describes it.
struct ChunkedSegments {
    /// `@availabilityTimeOffset` in nanoseconds; nil without one that can be read, and for `INF`.
    let offset: Int64?
    /// `@availabilityTimeComplete`; nil if not declared.
    let isComplete: Bool?
    /// The duration of the shortest segment, in nanoseconds; nil where it is not known.
    let shortest: Int64?
    private let hasOffset: Bool
    private let element: MarkupElement

    fileprivate init?(_ levels: [MarkupElement], in manifest: ManifestVersion) {
        let described = levels.segmentDescriptions
        let carriers =
            described + levels.compactMap { $0.first("BaseURL") } + [manifest.root.first("BaseURL")].compactMap(\.self)
        guard let element = described.first else { return nil }
        let texts = carriers.compactMap { $0["availabilityTimeOffset"] }
        isComplete = carriers.inherited("availabilityTimeComplete").map {
            !["false", "0"].contains($0.trimmingWhitespace)
        }
        guard !texts.isEmpty || isComplete == false else { return nil }
        self.element = element
        hasOffset = !texts.isEmpty
        let values = texts.map { DecimalText.nanoseconds($0.trimmingWhitespace) }
        // The offsets of all levels add up; one that is endless makes the sum endless.
        offset = values.reduce(Int64?(0)) { sum, value in sum.flatMap { sum in value.map { sum.saturatingAdd($0) } } }
        let timescale = max(1, described.inherited("timescale").flatMap { DecimalText.integer($0) } ?? 1)
        let entries = described.lazy.compactMap { $0.first("SegmentTimeline") }.first?.all("S").compactMap {
            $0.integer("d")
        }
        let ticks =
            entries?.filter { $0 > 0 }.min() ?? described.inherited("duration").flatMap { DecimalText.integer($0) }
        shortest = ticks.flatMap { $0 > 0 ? $0.nanoseconds(timescale: timescale) : nil }
    }

    /// The contradiction; nil without one.
    fileprivate var problem: Problem? {
        var found = contradiction
        found?.line = element.line
        return found
    }

    private var contradiction: Problem? {
        if isComplete == false, !hasOffset {
            return problem(
                "availabilityTimeComplete=false without availabilityTimeOffset",
                "an availabilityTimeOffset above 0"
            )
        }
        guard let offset else { return nil }
        if offset < 0 {
            return problem("an availabilityTimeOffset of \(offset.shownSeconds)", "an offset of 0 s or more")
        }
        if isComplete == false, offset == 0 {
            return problem(
                "availabilityTimeComplete=false with an availabilityTimeOffset of 0 s",
                "an offset above 0 s"
            )
        }
        guard isComplete == false, let shortest, offset >= shortest else { return nil }
        return problem(
            "an availabilityTimeOffset of \(offset.shownSeconds)",
            "an offset below the duration of a segment, \(shortest.shownSeconds): the first chunk takes time"
        )
    }

    /// The contradiction of a segment: it is available before its first chunk can be complete. Chunks may differ, so
    /// that only their mean counts, and half of it more.
    fileprivate func problem(of facts: SegmentFacts) -> Problem? {
        guard isComplete == false, let offset, offset > 0, facts.chunkCount > 0 else { return nil }
        let longest = facts.declaredDuration.saturatingSubtract(offset)
        let mean = facts.declaredDuration / Int64(facts.chunkCount)
        guard longest > 0, mean > longest.saturatingMultiply(3) / 2 else { return nil }
        let chunks = facts.chunkCount == 1 ? "one chunk" : "\(facts.chunkCount) chunks"
        return problem(
            "\(chunks) of about \(mean.shownSeconds) in segment \(facts.sequence)",
            "chunks of \(longest.shownSeconds), the duration of the segment less its availabilityTimeOffset"
        )
    }

    private func problem(_ found: String, _ expected: String) -> Problem {
        Problem(
            found: found,
            expected: expected,
            advice: "Set the offset to the duration of a segment less that of a chunk."
        )
    }
}

extension ManifestVersion {
    /// The segments that the MPD makes available early, once for each adaptation set and each representation with a
    /// separate description.
    var chunkedSegments: [ChunkedSegments] {
        let names = segmentDescriptionNames + ["BaseURL"]
        return periods.flatMap { period in
            period.sets.flatMap { set -> [ChunkedSegments] in
                let own = set.all("Representation").filter { representation in
                    names.contains { representation.first($0) != nil }
                }
                let shared = own.count < set.all("Representation").count
                return own.compactMap { ChunkedSegments([$0, set, period.element], in: self) }
                    + (shared ? [ChunkedSegments([set, period.element], in: self)].compactMap(\.self) : [])
            }
        }
    }
}
