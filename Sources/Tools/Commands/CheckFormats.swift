internal import Instrument
internal import InstrumentCheck
internal import InstrumentJSON
internal import InstrumentRules
internal import InstrumentTerminal

/// The report of a check as JSON.
enum CheckJSON {
    static func value(of report: StreamCheckReport, isStrict: Bool) -> JSONValue {
        var value: [String: JSONValue] = [
            "url": .string(report.url),
            "failed": .bool(report.isFailed(isStrict: isStrict)),
            "renditions": .int(report.renditionCount),
            "keyframeRenditions": .int(report.keyframeRenditionCount),
            "skippedRenditions": .int(report.skippedRenditionCount),
            "playlists": .int(report.playlistCount),
            "segments": .int(report.segmentCount),
            "readSegments": .int(report.readSegmentCount),
            "segmentBytes": .int(report.segmentBytes),
            "outcome": .string(report.outcome.rawValue),
            "reason": report.emptiness.map { .string($0) } ?? .null,
            "unappliedRules": .array(report.unappliedRules.map { .string($0.description) }),
            "omittedFindings": .int(report.omittedFindings),
            "findings": .array(report.findings.map(finding)),
            "media": .array(report.media.map(media)),
        ]
        value["stream"] = report.stream.map(DescriptionJSON.value) ?? .null
        value["format"] = report.format.map { .string($0) } ?? .null
        if let loudness = report.loudness {
            value["loudness"] = [
                "integrated": number(loudness.integrated), "minimumShortTerm": number(loudness.minimumShortTerm),
                "maximumShortTerm": number(loudness.maximumShortTerm),
            ]
        }
        return .object(value)
    }

    private static func finding(_ finding: Finding) -> JSONValue {
        [
            "rule": .string(finding.rule.description), "severity": .string(finding.severity.rawValue),
            "title": .string(finding.title), "source": .string(finding.source), "resource": .string(finding.resource),
            "line": finding.problem.line.map { .int($0) } ?? .null, "found": .string(finding.problem.found),
            "expected": .string(finding.problem.expected), "advice": .string(finding.problem.advice),
            "count": .int(finding.count),
        ]
    }

    private static func media(_ finding: MediaFinding) -> JSONValue {
        [
            "kind": .string(finding.kind.rawValue), "rendition": .string(finding.rendition),
            "start": .double(Double(finding.start) / 1e9), "duration": .double(Double(finding.length) / 1e9),
        ]
    }

    private static func number(_ value: Double?) -> JSONValue { value.map { .double($0) } ?? .null }
}

/// The reports of checks as JUnit XML: a suite for each stream, a case for each rule.
struct CheckXML {
    let rules: [Rule]
    let isStrict: Bool

    func text(of reports: [StreamCheckReport]) -> TerminalText {
        let suites = reports.map(suite)
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + suites.joined() + "</testsuites>\n"
    }

    private func suite(_ report: StreamCheckReport) -> TerminalText {
        let findings = Dictionary(grouping: report.findings, by: \.rule)
        let media = Dictionary(grouping: report.media, by: \.kind)
        let cases =
            rules.map { testCase($0, findings[$0.id] ?? []) }
            + MediaFinding.Kind.allCases.compactMap { kind in media[kind].map { testCase(kind, $0) } }
            + [outcome(report)]
        let failures = cases.count { $0.isFailure }
        let name = Self.escaped(report.url)
        return "  <testsuite name=\"\(name)\" tests=\"\(cases.count)\" failures=\"\(failures)\">\n"
            + cases.map(\.text).joined() + "  </testsuite>\n"
    }

    private struct Case {
        var text: TerminalText
        var isFailure: Bool
    }

    private func testCase(_ rule: Rule, _ findings: [Finding]) -> Case {
        let name = Self.escaped(rule.id.description)
        guard !findings.isEmpty else {
            return Case(text: "    <testcase classname=\"rules\" name=\"\(name)\"/>\n", isFailure: false)
        }
        let isFailure = isStrict || rule.severity == .error
        let lines = findings.map { finding in
            Self.escaped("\(finding.resource)\(finding.problem.line.map { ":\($0)" } ?? ""): \(finding.message)")
        }
        let body = lines.joined(separator: "\n")
        let content: TerminalText =
            isFailure
            ? "<failure type=\"\(rule.severity.rawValue)\" message=\"\(Self.escaped(rule.title))\">\(body)</failure>"
            : "<system-out>\(body)</system-out>"
        return Case(
            text: "    <testcase classname=\"rules\" name=\"\(name)\">\(content)</testcase>\n",
            isFailure: isFailure
        )
    }

    /// The case that fails if nothing could be checked.
    private func outcome(_ report: StreamCheckReport) -> Case {
        let start: TerminalText = "    <testcase classname=\"check\" name=\"outcome\""
        guard let reason = report.emptiness else { return Case(text: start + "/>\n", isFailure: false) }
        let failure: TerminalText =
            "<failure type=\"error\" message=\"nothing to check\">\(Self.escaped(reason))</failure>"
        return Case(text: start + ">\(failure)</testcase>\n", isFailure: true)
    }

    private func testCase(_ kind: MediaFinding.Kind, _ findings: [MediaFinding]) -> Case {
        let body = findings.map { Self.escaped("\($0.rendition): \($0.message)") }.joined(separator: "\n")
        let failure: TerminalText = "<failure type=\"error\" message=\"\(kind.rawValue)\">\(body)</failure>"
        return Case(
            text: "    <testcase classname=\"media\" name=\"\(kind.rawValue)\">\(failure)</testcase>\n",
            isFailure: true
        )
    }

    /// Markup as references; characters that XML 1.0 or a terminal must not get become visible escapes.
    private static func escaped(_ text: String) -> TerminalText { TerminalText(Markup.escaped(text)) }
}
