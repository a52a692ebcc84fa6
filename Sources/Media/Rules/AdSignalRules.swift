internal import Instrument
internal import InstrumentAds
internal import InstrumentManifests

extension Rule {
    /// A signal of an ad break is malformed or contradicts others.
    package static let adSignalWrong = Rule(
        "ad-signal-wrong",
        .warning,
        "A signal of an ad break is malformed or contradicts others",
        explanation: "Players and ad servers start an ad break at the wrong moment, never end it, or miss it.",
        source: "SCTE 35; RFC 8216bis section 4.4.5.1 and appendix D.2; ISO/IEC 23009-1 clause 5.10.2",
        checks: [
            .media { playlist, _ in
                let list = playlist.playlist
                guard !list.adTags.isEmpty || list.dateRanges.contains(where: \.isAdvertising) else { return [] }
                return problems(AdSignals(list).findings)
            },
            .media { playlist, _ in
                // What each date range may have has another rule.
                let findings = Interstitials(playlist.playlist).findings.filter { $0.rule == Interstitials.rule }
                return problems(
                    findings,
                    as: "an interstitial",
                    expected: "interstitials that players can play",
                    advice: "Correct the EXT-X-DATERANGE."
                )
            },
            .manifest { _, history in
                guard let presentation = history.presentation, !presentation.events.isEmpty else { return [] }
                return problems(AdSignals(presentation.events, upTo: presentation.duration).findings)
            },
            .segment { facts, _, _ in
                guard facts.failure == nil else { return [] }
                return problems(
                    facts.signalFindings,
                    as: "a signal of segment \(facts.sequence)",
                    expected: "signals that are well-formed",
                    advice: "Compare the section with what the encoder or the packager received."
                )
            },
        ]
    )

    private static func problems(
        _ findings: [AdFinding],
        as noun: String = "a signal",
        expected: String = "signals that are well-formed and agree",
        advice: String = "Correct the signal; `player-monitor scte35` shows each field of a section."
    ) -> [Problem] {
        findings.map { finding in
            let place = finding.path.isEmpty ? "" : " in \(finding.path)"
            var problem = Problem(
                found: "\(noun)\(place) that breaks \(finding.rule): \(finding.message)",
                expected: expected,
                advice: advice,
                line: finding.line
            )
            problem.fault = "\(finding.rule) \(finding.path) \(withoutNumbers(finding.message))"
            return problem
        }
    }

    /// A message without identifiers and times, which differ from break to break.
    private static func withoutNumbers(_ message: String) -> String {
        message.split(separator: " ").filter { !$0.utf8.contains { $0.isDigit } }.joined(separator: " ")
    }
}
