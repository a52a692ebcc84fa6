internal import Instrument
internal import InstrumentAds
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentTransport

/// The validation of a VAST or VMAP document: findings, and the calls of each ad.
struct AdReport {
    /// The ads of a break, or of a whole VAST response.
    struct Part {
        var adBreak: AdBreak?
        var selection: AdSelection
    }

    private(set) var title = ""
    private(set) var findings: [AdFinding] = []
    private(set) var parts: [Part] = []
    /// Whether the document is a valid response without an ad, which ad servers send when they have none.
    private var isWithoutAds = false
    private let macros: MacroValues
    private let call: MacroValues

    init(_ bytes: [UInt8], at url: HTTPURL?, _ fetcher: any AdFetching, _ macros: MacroValues) async {
        self.macros = macros
        call = MacroValues.perCall(now: SystemClock().wallTime, randomness: RandomSource()).merging(macros)
        do throws(VASTError) {
            switch try AdDocumentKind(parsing: bytes) {
            case .vast(let response):
                title = "VAST \(response.version)"
                isWithoutAds = response.ads.isEmpty
                let selection = await AdResolver(fetcher).ads(of: response, at: url, macros: macros)
                findings = selection.findings
                parts = [Part(adBreak: nil, selection: selection)]
            case .vmap(let document):
                title = "VMAP 1.0"
                findings = document.findings
                for adBreak in document.breaks {
                    let selection = await AdResolver(fetcher).ads(of: adBreak, at: url, macros: macros)
                    findings += selection.findings
                    parts.append(Part(adBreak: adBreak, selection: selection))
                }
            }
            findings += refusals
        } catch {
            title = "unreadable document"
            let rule = "VAST, section 2.3.6"
            findings = [
                AdFinding(.error, rule: rule, code: error.code.rawValue, message: error.message, line: error.line)
            ]
        }
    }

    /// What keeps players from playing ads of the document, unless the response's own findings say so.
    private var refusals: [AdFinding] {
        let known = Set(findings.compactMap { $0.severity == .error ? $0.code : nil })
        let ads = parts.filter { $0.adBreak?.kinds.contains(.linear) ?? true }
            .flatMap { $0.selection.ads + $0.selection.fallbacks }
        var seen: Set<AdFinding> = []
        return ads.compactMap { $0.refusal(by: MediaProfile()) }.filter { finding in
            !(finding.code.map(known.contains) ?? false) && seen.insert(finding).inserted
        }
    }

    /// Whether the document has errors, or a response that it refers to has. What `--offline`
    /// leaves out is no error.
    var hasErrors: Bool {
        let failures = parts.flatMap(\.selection.failures).filter { $0.message != OfflineFetcher.message }
        return findings.contains { $0.severity == .error } || !isWithoutAds && !failures.isEmpty
    }
}

// MARK: Text
extension AdReport {
    var text: TerminalText {
        let errors = findings.count { $0.severity == .error }
        let counts = [
            String(counting: errors, "error"), String(counting: findings.count - errors, "warning"),
            String(counting: parts.reduce(0) { $0 + $1.selection.failures.count }, "failure"),
        ]
        var text: TerminalText = "\(title): \(counts.joined(separator: ", "))\n"
        for finding in findings { text += TerminalText(finding.description) + "\n" }
        for part in parts { text += self.text(of: part) }
        return text
    }

    private func text(of part: Part) -> TerminalText {
        var text: TerminalText = ""
        if let adBreak = part.adBreak {
            let names = adBreak.kinds.map(\.rawValue).joined(separator: ", ")
            text += "break \(adBreak.time.text) \(names)\(adBreak.id.map { " " + $0 } ?? "")\n"
            for url in adBreak.startURLs { text += row("breakStart", "breakStart", call.expand(url)) }
        }
        for (index, ad) in part.selection.ads.enumerated() { text += self.text(of: ad, "ad \(index + 1)") }
        for (index, ad) in part.selection.fallbacks.enumerated() { text += self.text(of: ad, "fallback \(index + 1)") }
        for failure in part.selection.failures {
            text += "failure \(failure.code): \(failure.message)\n"
            var values = call
            values["ERRORCODE"] = .text(failure.code.description)
            for url in failure.urls { text += row("on failure", "error", values.expand(url)) }
        }
        for url in part.adBreak?.endURLs ?? [] { text += row("breakEnd", "breakEnd", call.expand(url)) }
        return text
    }

    private func text(of ad: ResolvedAd, _ name: String) -> TerminalText {
        let media = ad.linear?.mediaFile(for: MediaProfile())
        var text: TerminalText = "\(name): \(ad.ad.inLine?.title ?? "without title")"
        if let id = ad.ad.id { text += ", id \(id)" }
        if let sequence = ad.sequence { text += ", position \(sequence) of the pod" }
        if let duration = ad.linear?.duration { text += ", \(AdCall.text(ofTime: duration))" }
        if let offset = ad.linear?.skipOffset { text += ", can be skipped from \(offset.text)" }
        if !ad.wrappers.isEmpty { text += ", through \(String(counting: ad.wrappers.count, "wrapper"))" }
        text += "\n"
        if let media {
            text += row("media", media.delivery.rawValue, call.expand(media.url))
        } else {
            text += "  no media file can be played\n"
        }
        for part in ad.accessories { text += "  \(part.kind)  \(part.description)\n" }
        let plan = AdCallPlan(ad, media: media, macros: call)
        for item in plan.timed + plan.conditional { text += row(item.trigger.text, item.name, item.url) }
        return text
    }

    private func row(_ when: String, _ name: String, _ url: AdURL) -> TerminalText {
        let (when, name) = (TerminalText(when).padded(toColumns: 14), TerminalText(name).padded(toColumns: 16))
        return "  \(when)  \(name)  \(url.secretText)\n"
    }
}

extension AdCall.Trigger {
    fileprivate var text: String {
        switch self {
        case .position(let nanoseconds): AdCall.text(ofTime: nanoseconds)
        case .action(let name): "on " + name
        }
    }
}

// MARK: JSON
extension AdReport {
    var json: JSONValue {
        [
            "document": .string(title), "valid": .bool(!hasErrors), "findings": .array(findings.map(\.json)),
            "parts": .array(parts.map(json)),
        ]
    }

    private func json(_ part: Part) -> JSONValue {
        var members: [String: JSONValue] = [
            "ads": .array(part.selection.ads.map(json)), "fallbacks": .array(part.selection.fallbacks.map(json)),
            "failures": .array(part.selection.failures.map(json)),
        ]
        if let adBreak = part.adBreak {
            members["timeOffset"] = .string(adBreak.time.text)
            members["breakType"] = .array(adBreak.kinds.map { .string($0.rawValue) })
            members["breakId"] = adBreak.id.map { .string($0) }
            members["breakStart"] = .array(adBreak.startURLs.map { .string(call.expand($0).secretText) })
            members["breakEnd"] = .array(adBreak.endURLs.map { .string(call.expand($0).secretText) })
        }
        return .object(members)
    }

    private func json(_ failure: AdFailure) -> JSONValue {
        var values = call
        values["ERRORCODE"] = .text(failure.code.description)
        let urls = failure.urls.map { JSONValue.string(values.expand($0).secretText) }
        return ["code": .int(failure.code.rawValue), "message": .string(failure.message), "urls": .array(urls)]
    }

    private func json(_ ad: ResolvedAd) -> JSONValue {
        let media = ad.linear?.mediaFile(for: MediaProfile())
        let plan = AdCallPlan(ad, media: media, macros: call)
        var members: [String: JSONValue] = [
            "calls": .array((plan.timed + plan.conditional).map(json)), "wrappers": .int(ad.wrappers.count),
        ]
        members["id"] = ad.ad.id.map { .string($0) }
        members["title"] = ad.ad.inLine?.title.map { .string($0) }
        members["sequence"] = ad.sequence.map { .int($0) }
        members["media"] = media.map { .string(call.expand($0.url).secretText) }
        members["duration_ms"] = ad.linear?.duration.map { .int(Int($0 / 1_000_000)) }
        for kind in AdAccessory.Kind.allCases {
            let accessories = ad.accessories.filter { $0.kind == kind }
            if !accessories.isEmpty { members[kind.plural] = .array(accessories.map(\.json)) }
        }
        members["skipoffset"] = ad.linear?.skipOffset.map { .string($0.text) }
        return .object(members)
    }

    private func json(_ call: AdCall) -> JSONValue {
        var members: [String: JSONValue] = ["event": .string(call.name), "url": .string(call.url.secretText)]
        switch call.trigger {
        case .position(let nanoseconds): members["position_ms"] = .int(Int(nanoseconds / 1_000_000))
        case .action(let name): members["on"] = .string(name)
        }
        return .object(members)
    }
}
