internal import InstrumentCheck
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentRules
internal import InstrumentTerminal

/// The report of a check for people.
struct CheckText {
    let isStrict: Bool
    /// Whether the stream is shown as the check understood it.
    let showsStream: Bool
    private let style = TerminalStyle()

    init(isStrict: Bool, showsStream: Bool = false) { (self.isStrict, self.showsStream) = (isStrict, showsStream) }

    func text(of report: StreamCheckReport) -> TerminalText {
        var lines: [TerminalText] = [style.bold("\(report.url)") + summary(of: report)]
        if showsStream, let stream = report.stream { lines += DescriptionText.lines(of: stream) }
        for group in FindingGroup.groups(of: report.findings) { lines += self.lines(of: group) }
        for finding in report.media {
            lines.append("  \(style.error("error")) \(style.bold("\(finding.kind.rawValue)")) \(finding.rendition)")
            lines.append("    \(finding.message)")
        }
        if let loudness = report.loudness { lines.append("  " + Self.text(of: loudness)) }
        if report.omittedFindings > 0 { lines.append("  \(report.omittedFindings) further findings are left out.") }
        lines.append("  " + result(of: report))
        return lines.joined(separator: "\n") + "\n"
    }

    private func summary(of report: StreamCheckReport) -> TerminalText {
        guard let format = report.format else { return "" }
        let segments = Self.count(report.segmentCount, "segment")
        var parts: [TerminalText] = [
            "\(format)", Self.count(report.renditionCount, "rendition"),
            Self.count(report.playlistCount, "playlist"),
            report.segmentCount > 0 ? "\(segments) (\(report.readSegmentCount) read)" : segments,
        ]
        if report.keyframeRenditionCount > 0 {
            parts.insert("\(Self.count(report.keyframeRenditionCount, "rendition")) of keyframes", at: 2)
        }
        if report.skippedRenditionCount > 0 { parts.append("\(report.skippedRenditionCount) renditions left out") }
        return style.faint("  " + parts.joined(separator: ", "))
    }

    private func lines(of group: FindingGroup) -> [TerminalText] {
        let finding = group.first
        let word = finding.severity == .error ? style.error("error") : style.warning("warning")
        let place = finding.problem.line.map { ":\($0)" } ?? ""
        let again: TerminalText = finding.count > 1 ? style.faint(" (\(finding.count) times)") : ""
        return [
            "  \(word) \(style.bold("\(finding.rule)")) \(finding.resource)\(place)\(again)\(others(group))",
            "    \(finding.title). \(finding.message)",
            "    " + style.faint("\(finding.source)"),
        ]
    }

    private func others(_ group: FindingGroup) -> TerminalText {
        guard group.otherCount > 0 else { return "" }
        return style.faint(" and \(String(counting: group.otherCount, "other resource"))")
    }

    private func result(of report: StreamCheckReport) -> TerminalText {
        let errors = report.findings.count { $0.severity == .error } + report.media.count
        let warnings = report.findings.count { $0.severity == .warning }
        let counts: TerminalText = "\(Self.count(errors, "error")), \(Self.count(warnings, "warning"))"
        if let reason = report.emptiness { return "nothing to check: \("\(reason)"); \(counts)" }
        return errors + warnings == 0 ? "no rule is broken" : counts
    }

    private static func count(_ number: Int, _ word: String) -> TerminalText {
        TerminalText(String(counting: number, word))
    }

    private static func text(of loudness: LoudnessSummary) -> TerminalText {
        func shown(_ value: Double?) -> String { value.map { "\(($0 * 10).rounded() / 10)" } ?? "-" }
        return """
            loudness \(shown(loudness.integrated)) LUFS, short-term \(shown(loudness.minimumShortTerm)) to \
            \(shown(loudness.maximumShortTerm)) LUFS
            """
    }

    /// All rules, as a table or as JSON.
    static func list(format: CheckCommand.Format) -> TerminalText {
        if format == .json {
            return Rule.all.map { rule -> TerminalText in
                let value: JSONValue = [
                    "rule": .string(rule.id.description), "severity": .string(rule.severity.rawValue),
                    "title": .string(rule.title), "explanation": .string(rule.explanation),
                    "source": .string(rule.source),
                ]
                return TerminalText(json: value.bytes) + "\n"
            }.joined()
        }
        let table = ColumnTable(
            Rule.all.map { ["\($0.id)", "\($0.severity.rawValue)", "\($0.title)", "\($0.source)"] }
        )
        return table.lines.joined(separator: "\n") + "\n"
    }
}
