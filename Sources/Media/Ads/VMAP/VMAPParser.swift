internal import InstrumentText
internal import InstrumentXML

/// Reads the breaks of a VMAP document, and collects what breaks the standard.
struct VMAPParser {
    private let limits: AdLimits
    var findings: FindingList
    /// Reads addresses; its findings are those of VMAP.
    private var addresses: VASTParser

    init(_ limits: AdLimits) {
        self.limits = limits
        findings = FindingList(standard: "VMAP 1.0", limit: limits.findings)
        addresses = VASTParser(.v30, limits)
        addresses.findings.standard = "VMAP 1.0"
    }

    mutating func breaks(_ root: MarkupElement) -> [AdBreak] {
        let namespace = root.attributes.contains {
            $0.value == "http://www.iab.net/vmap-1.0" || $0.value.contains("iab.net/videosuite/vmap")
        }
        if !namespace {
            findings.warn("2.2", "VMAP", "the namespace must be http://www.iab.net/vmap-1.0", line: root.line)
        }
        let elements = root.children.filter { $0.localName == "AdBreak" }
        if elements.count > limits.breaks {
            let message = "the document has \(elements.count) breaks; the first \(limits.breaks) are used"
            findings.error("2.3.3", "VMAP/AdBreak", message, code: .trafficking, line: root.line)
        }
        if elements.isEmpty { findings.warn("2.3.2", "VMAP", "the document has no `AdBreak`", line: root.line) }
        return elements.prefix(limits.breaks).compactMap { adBreak($0) }
    }

    /// The defects of the breaks and of their addresses.
    var allFindings: [AdFinding] { findings.findings + addresses.findings.findings }

    private mutating func adBreak(_ element: MarkupElement) -> AdBreak? {
        addresses.resetBudget()
        let path = "VMAP/AdBreak"
        guard let time = element["timeOffset"].flatMap({ AdBreak.Time($0.trimmingWhitespace) }) else {
            let found = element["timeOffset"].map { "`\($0.prefix(40))`" } ?? "none"
            let message = "`timeOffset` must be start, end, HH:MM:SS, HH:MM:SS.mmm, n% or #n (found \(found))"
            findings.error("2.3.3", path, message, line: element.line)
            return nil
        }
        let names = (element["breakType"] ?? "").split(separator: ",").map {
            String($0.trimmingWhitespace).lowercased()
        }
        let kinds = names.compactMap { AdBreak.Kind(rawValue: $0) }
        if kinds.isEmpty || kinds.count != names.count {
            let message = "`breakType` must be a list of linear, nonlinear and display"
            findings.error("2.3.3", path, message, line: element.line)
        }
        var result = AdBreak(time: time, kinds: kinds.isEmpty ? [.linear] : kinds, id: element["breakId"])
        if let text = element["repeatAfter"] {
            result.repeatAfter = AdTime.nanoseconds(text.trimmingWhitespace).flatMap { $0 > 0 ? $0 : nil }
            if result.repeatAfter == nil {
                let message = "`repeatAfter` must have the form HH:MM:SS, and be above 0 (found `\(text.prefix(40))`)"
                findings.error("2.3.3", path, message, line: element.line)
            }
        }
        if let source = element.children.first(where: { $0.localName == "AdSource" }) {
            read(source, path + "/AdSource", &result)
        }
        readEvents(element, path, &result)
        return result
    }

    private mutating func read(_ element: MarkupElement, _ path: String, _ result: inout AdBreak) {
        result.allowsMultipleAds = element.truth("allowMultipleAds") ?? true
        result.followsRedirects = element.truth("followRedirects") ?? true
        for child in element.children {
            switch child.localName {
            case "VASTAdData", "VASTData": readResponse(child, path + "/VASTAdData", &result)
            case "AdTagURI":
                result.source = addresses.url(child, path + "/AdTagURI", "2.3.4").map(AdBreak.Source.tag)
                if result.source == nil {
                    findings.error("2.3.4.2", path + "/AdTagURI", "the address must be present", line: child.line)
                }
                if child["templateType"] == nil {
                    findings.warn("2.3.4.2", path + "/AdTagURI", "`templateType` must be present", line: child.line)
                }
            case "CustomAdData": result.source = .custom(template: child["templateType"] ?? "")
            default: break
            }
        }
        let names: Set = ["VASTAdData", "VASTData", "AdTagURI", "CustomAdData"]
        if !element.children.contains(where: { names.contains(String($0.localName)) }) {
            let message = "an `AdSource` must have `VASTAdData`, `AdTagURI` or `CustomAdData`"
            findings.error("2.3.4", path, message, line: element.line)
        }
    }

    private mutating func readResponse(_ element: MarkupElement, _ path: String, _ result: inout AdBreak) {
        do throws(VASTError) {
            if let root = element.children.first(where: { $0.localName == "VAST" }) {
                result.source = .response(try VASTResponse(root, limits))
            } else if let text = element.content {
                result.source = .response(try VASTResponse(parsing: Array(text.utf8), limits: limits))
                let message = "`VASTAdData` must have the element `VAST`, not its text"
                findings.warn("2.3.4.1", path, message, line: element.line)
            } else {
                findings.error("2.3.4.1", path, "`VASTAdData` must have a `VAST` element", line: element.line)
            }
        } catch {
            findings.error("2.3.4.1", path, error.message, code: error.code, line: error.line)
        }
    }

    private mutating func readEvents(_ element: MarkupElement, _ path: String, _ result: inout AdBreak) {
        guard let list = element.children.first(where: { $0.localName == "TrackingEvents" }) else { return }
        let path = path + "/TrackingEvents/Tracking"
        for event in list.children.prefix(limits.addresses) where event.localName == "Tracking" {
            let url = addresses.vmapURL(event, path)
            switch event["event"] {
            case "breakStart": result.startURLs += url
            case "breakEnd": result.endURLs += url
            case "error": result.errorURLs += url
            default:
                let message = "`event` must be breakStart, breakEnd or error"
                findings.warn("2.3.6", path, message, line: event.line)
            }
        }
    }
}

extension VASTParser {
    /// The address of a break's event; empty for an empty element.
    fileprivate mutating func vmapURL(_ element: MarkupElement, _ path: String) -> [AdURL] {
        return url(element, path, "2.3.6").map { [$0] } ?? []
    }
}
