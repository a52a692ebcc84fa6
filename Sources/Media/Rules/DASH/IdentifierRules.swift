internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// Two elements of an MPD have one identifier.
    package static let identifierDuplicate = Rule(
        "identifier-duplicate",
        .error,
        "Two elements of the MPD have one identifier",
        explanation:
            "Players that follow a period or a representation by its identifier over reloads continue with the wrong one.",
        source: "ISO/IEC 23009-1 clauses 5.3.2.2, 5.3.3.2 and 5.3.5.2",
        checks: [
            .manifest { manifest, _ in
                let periods = manifest.root.all("Period")
                var problems = repeated(periods, "in one MPD")
                for period in periods where problems.count < mostProblems {
                    let sets = period.all("AdaptationSet")
                    problems += repeated(sets, "in one Period")
                    problems += repeated(sets.flatMap { $0.all("Representation") }, "in one Period")
                }
                return Array(problems.prefix(mostProblems))
            }
        ]
    )

    /// The number of problems of one MPD that a rule reports.
    static var mostProblems: Int { 8 }

    /// The elements whose identifier an earlier element has. Elements with the same attributes are one: a period may
    /// have functionally identical representations.
    private static func repeated(_ elements: some Sequence<MarkupElement>, _ scope: String) -> [Problem] {
        var known: [String: MarkupElement] = [:]
        var problems: [Problem] = []
        for element in elements {
            guard let id = element["id"], let first = known.updateValue(element, forKey: id) else { continue }
            guard element.name != "Representation" || first.attributes != element.attributes else { continue }
            problems.append(
                Problem(
                    found: "a second `\(element.name)` with the id `\(id.excerpt())`",
                    expected: "a `\(element.name)` with an id that occurs once \(scope)",
                    advice: "Give each element its own @id.",
                    line: element.line
                )
            )
        }
        return problems
    }

    /// Segments have a timeline and one duration.
    package static let segmentDurationAmbiguous = Rule(
        "segment-duration-ambiguous",
        .error,
        "Segments have both a timeline and one duration",
        explanation: "Some players use the timeline and others the duration, and request different segments.",
        source: "ISO/IEC 23009-1 clause 5.3.9.2.2",
        checks: [
            .manifest { manifest, _ in
                Array(
                    manifest.segmentElements.filter { $0["duration"] != nil && $0.first("SegmentTimeline") != nil }
                        .prefix(mostProblems)
                ).map { element in
                    Problem(
                        found: "`\(element.name)` with @duration and a SegmentTimeline",
                        expected: "one of the two",
                        advice: "Remove @duration, or the SegmentTimeline.",
                        line: element.line
                    )
                }
            }
        ]
    )
}
