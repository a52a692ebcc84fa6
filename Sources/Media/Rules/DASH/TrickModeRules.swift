internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// A set of pictures for fast forward belongs to no set.
    package static let trickModeWrong = Rule(
        "trick-mode-wrong",
        .warning,
        "A set of pictures for fast forward names no set that it belongs to",
        explanation: "Players show no pictures during fast forward and rewind.",
        source: "ISO/IEC 23009-1 clause 5.8.5.15; DASH-IF Interoperability Points 4.3 section 3.2.9",
        checks: [
            .manifest { manifest, _ in
                var problems: [Problem] = []
                for period in manifest.periods {
                    let ids = Set(period.sets.compactMap { $0["id"] })
                    for set in period.sets {
                        for property in set.all("EssentialProperty") where property.isTrickMode {
                            guard problems.count < mostProblems else { return problems }
                            let value = property["value"] ?? ""
                            let names = value.split(whereSeparator: \.isWhitespace).map { String($0) }
                            guard names.isEmpty || !names.allSatisfy(ids.contains) else { continue }
                            problems.append(
                                Problem(
                                    found: names.isEmpty
                                        ? "a trick mode without a value"
                                        : "a trick mode of `\(value.excerpt())`",
                                    expected: "the @id of an AdaptationSet of the period",
                                    advice: "Write the @id of the set with the pictures into @value.",
                                    line: property.line
                                )
                            )
                        }
                    }
                }
                return problems
            }
        ]
    )
}

extension MarkupElement {
    /// Whether a property says that the pictures are for fast forward and rewind.
    fileprivate var isTrickMode: Bool {
        self["schemeIdUri"]?.trimmingWhitespace == "http://dashif.org/guidelines/trickmode"
    }
}
