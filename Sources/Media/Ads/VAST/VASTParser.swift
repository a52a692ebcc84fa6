internal import Instrument
internal import InstrumentText
internal import InstrumentXML

/// Reads ads from the elements of a VAST response, and collects what breaks the standard.
struct VASTParser {
    let version: VASTVersion
    let limits: AdLimits
    var findings: FindingList
    /// The ads that cannot be used.
    private(set) var refused: [RefusedAd] = []
    /// Addresses that the current ad may still have.
    private var addressBudget = 0

    init(_ version: VASTVersion, _ limits: AdLimits) {
        (self.version, self.limits) = (version, limits)
        findings = FindingList(standard: "VAST \(version)", limit: limits.findings)
        addressBudget = limits.addresses
    }

    /// Allows as many addresses again: the next ad, or the next break.
    mutating func resetBudget() { addressBudget = limits.addresses }

    mutating func response(_ root: MarkupElement) -> (ads: [VASTAd], errors: [AdURL]) {
        resetBudget()
        if !version.isPublished {
            let message = "VAST \(version) was never published; declare 2.0, 3.0, 4.0, 4.1, 4.2 or 4.3"
            findings.warn("", "VAST", message, line: root.line)
        }
        let errors = urls(root.all("Error"), "VAST/Error", "3.2.1")
        let elements = root.all("Ad")
        if elements.count > limits.ads {
            let message = "the response has \(elements.count) ads; the first \(limits.ads) are used"
            findings.error("3.3.1", "VAST/Ad", message, code: .trafficking, line: root.line)
        }
        var ads: [VASTAd] = []
        for element in elements.prefix(limits.ads) {
            resetBudget()
            if let ad = ad(element) { ads.append(ad) }
        }
        checkSequences(ads, root.line)
        if elements.isEmpty { findings.warn("3.2.1", "VAST", "the response has no ad", line: root.line) }
        return (ads, errors)
    }

    private mutating func checkSequences(_ ads: [VASTAd], _ line: Int) {
        var known: Set<Int> = []
        for sequence in ads.compactMap(\.sequence) where !known.insert(sequence).inserted {
            findings.error("3.3.1", "VAST/Ad", "`sequence` \(sequence) occurs more than once", line: line)
        }
    }

    private mutating func ad(_ element: MarkupElement) -> VASTAd? {
        let (inLine, wrapper) = (element.first("InLine"), element.first("Wrapper"))
        guard (inLine == nil) != (wrapper == nil), let body = inLine ?? wrapper else {
            let message = "an `Ad` must have one of `InLine` and `Wrapper`"
            findings.error("3.3", "VAST/Ad", message, line: element.line)
            refuse(element, inLine ?? element, message)
            return nil
        }
        let path = "VAST/Ad/" + body.name
        guard let kind = inLine != nil ? .inLine(self.inLine(body, path)) : self.wrapper(body, path) else {
            refuse(element, body, "a wrapper must have an address")
            return nil
        }
        var sequence = element.number("sequence")
        if element["sequence"] != nil, sequence ?? 0 < 1 {
            findings.error("3.3", "VAST/Ad", "`sequence` must be a number above 0", line: element.line)
            sequence = nil
        }
        var ad = VASTAd(id: element["id"], sequence: sequence, type: type(of: element), kind: kind)
        ad.system = body.content(of: "AdSystem")
        if ad.system == nil { require("AdSystem", "3.4.1", path, body, isError: inLine != nil) }
        ad.impressions = urls(body.all("Impression"), path + "/Impression", "3.4.4")
        if ad.impressions.isEmpty { require("Impression", "3.4.4", path, body, isError: true) }
        ad.errors = urls(body.all("Error"), path + "/Error", "3.4.11")
        ad.viewability = viewability(body, path)
        ad.verifications = verifications(body, path)
        ad.extensionTypes = body.first("Extensions")?.all("Extension").prefix(100).map { $0["type"] ?? "" } ?? []
        ad.creatives = creatives(body, path, isInLine: inLine != nil)
        return ad
    }

    /// - Parameter body: the element that has the addresses of `Error`.
    private mutating func refuse(_ element: MarkupElement, _ body: MarkupElement, _ message: String) {
        let errors = urls(body.all("Error"), "VAST/Ad/" + body.name + "/Error", "3.4.11")
        refused.append(RefusedAd(sequence: element.number("sequence"), message: message, errors: errors))
    }

    private mutating func type(of element: MarkupElement) -> String {
        let type = element.token("adType") ?? "video"
        if !["video", "audio", "hybrid"].contains(type) {
            findings.warn("3.3", "VAST/Ad", "`adType` must be video, audio or hybrid", line: element.line)
            return "video"
        }
        return type
    }

    private mutating func require(
        _ name: String,
        _ section: String,
        _ path: String,
        _ element: MarkupElement,
        isError: Bool
    ) {
        let message = "`\(name)` must be present and not empty (found none)"
        if isError {
            findings.error(section, path + "/" + name, message, line: element.line)
        } else {
            findings.warn(section, path + "/" + name, message, line: element.line)
        }
    }

    private mutating func inLine(_ element: MarkupElement, _ path: String) -> VASTAd.InLine {
        var inLine = VASTAd.InLine()
        inLine.title = element.content(of: "AdTitle")
        if inLine.title == nil { require("AdTitle", "3.4.2", path, element, isError: true) }
        inLine.adServingID = element.content(of: "AdServingId")
        if version >= .v41, inLine.adServingID == nil { require("AdServingId", "3.4.3", path, element, isError: true) }
        inLine.advertiser = element.content(of: "Advertiser")
        inLine.description = element.content(of: "Description")
        inLine.categories = element.all("Category").prefix(100).compactMap(\.content)
        if let expires = element.first("Expires") {
            inLine.expires = expires.content.flatMap { $0.utf8.count <= 9 ? Int($0) : nil }.flatMap {
                $0 > 0 ? $0 : nil
            }
            if inLine.expires == nil {
                let message = "`Expires` must be a number of seconds above 0"
                findings.warn("3.4.10", path + "/Expires", message, line: expires.line)
            }
        }
        return inLine
    }

    private mutating func wrapper(_ element: MarkupElement, _ path: String) -> VASTAd.Kind? {
        guard let tag = element.content(of: "VASTAdTagURI") else {
            findings.error(
                "3.19.1",
                path + "/VASTAdTagURI",
                "a wrapper must have an address (found none)",
                line: element.line
            )
            return nil
        }
        for name in ["followAdditionalWrappers", "allowMultipleAds", "fallbackOnNoAd"]
        where element[name] != nil && element.truth(name) == nil {
            findings.warn("3.19", path, "`\(name)` must be true or false", line: element.line)
        }
        let blocked = element.all("BlockedAdCategories").prefix(100).compactMap(\.content)
        return .wrapper(
            VASTAd.Wrapper(
                tag: AdURL(tag),
                followsWrappers: element.truth("followAdditionalWrappers") ?? true,
                allowsMultipleAds: element.truth("allowMultipleAds") ?? (version < .v30),
                fallsBack: element.truth("fallbackOnNoAd"),
                blockedCategories: blocked.flatMap { $0.split(separator: ",").map { String($0.trimmingWhitespace) } }
            )
        )
    }

    private mutating func viewability(_ element: MarkupElement, _ path: String) -> VASTAd.Viewability {
        guard let impression = element.first("ViewableImpression") else { return VASTAd.Viewability() }
        let path = path + "/ViewableImpression/"
        return VASTAd.Viewability(
            viewable: urls(impression.all("Viewable"), path + "Viewable", "3.5.1"),
            notViewable: urls(impression.all("NotViewable"), path + "NotViewable", "3.5.2"),
            undetermined: urls(impression.all("ViewUndetermined"), path + "ViewUndetermined", "3.5.3")
        )
    }

    private mutating func verifications(_ element: MarkupElement, _ path: String) -> [VASTAd.Verification] {
        // Before 4.1 the element is an extension.
        let extensions = element.first("Extensions")?.all("Extension").first { $0["type"] == "AdVerifications" }
        guard let parent = element.first("AdVerifications") ?? extensions?.first("AdVerifications") else { return [] }
        return parent.all("Verification").prefix(50).map { verification in
            let events = events(verification, path + "/AdVerifications/Verification", "3.17.3")
            let notExecuted = events.filter { $0.name.rawValue == "verificationNotExecuted" }.map(\.url)
            return VASTAd.Verification(vendor: verification["vendor"], notExecuted: notExecuted)
        }
    }
}

// MARK: Addresses and events
extension VASTParser {
    /// The addresses of elements, without empty ones.
    mutating func urls(_ elements: NamedElements, _ path: String, _ section: String) -> [AdURL] {
        elements.compactMap { url($0, path, section) }
    }

    mutating func url(_ element: MarkupElement, _ path: String, _ section: String) -> AdURL? {
        guard let text = element.content else {
            let message = element.isTextIncomplete ? "the address is too long" : "the address must not be empty"
            findings.warn(section, path, message, line: element.line)
            return nil
        }
        guard addressBudget > 0 else {
            if addressBudget == 0 {
                let message = "an ad has more than \(limits.addresses) addresses; the others are left out"
                findings.error(section, path, message, code: .trafficking, line: element.line)
                addressBudget = -1
            }
            return nil
        }
        addressBudget -= 1
        let url = AdURL(text)
        if !url.isOfServer {
            findings.warn(section, path, "the address must be http or https", line: element.line)
        } else if text.utf8.contains(where: { $0 <= 0x20 }) {
            findings.warn(section, path, "the address must not contain white space", line: element.line)
        }
        return url
    }

    mutating func events(_ parent: MarkupElement, _ path: String, _ section: String) -> [TrackingEvent] {
        guard let list = parent.first("TrackingEvents") else { return [] }
        let path = path + "/TrackingEvents/Tracking"
        return list.all("Tracking").compactMap { element in
            guard let name = element.token("event"), !name.isEmpty else {
                findings.error(section, path, "`Tracking` must have an `event`", line: element.line)
                return nil
            }
            guard let url = url(element, path, section) else { return nil }
            return event(TrackingEventName(name), url, element, path, section)
        }
    }

    private mutating func event(
        _ name: TrackingEventName,
        _ url: AdURL,
        _ element: MarkupElement,
        _ path: String,
        _ section: String
    ) -> TrackingEvent? {
        let shown = name.rawValue.prefix(40)
        if !name.isDefined(in: version), name.rawValue != "verificationNotExecuted" {
            let message =
                name.isKnown
                ? "the event `\(shown)` is of a later version"
                : "the event `\(shown)` is unknown" + (name.correctSpelling.map { "; write `\($0)`" } ?? "")
            findings.warn(section, path, message, line: element.line)
        }
        guard name == .progress else { return TrackingEvent(name, url: url) }
        guard let offset = element["offset"].flatMap({ AdOffset($0.trimmingWhitespace) }) else {
            let found = element["offset"].map { "`\($0.prefix(40))`" } ?? "none"
            let message = "`progress` must have an `offset` such as 00:00:10 or 25% (found \(found))"
            findings.error(section, path, message, line: element.line)
            return nil
        }
        return TrackingEvent(name, offset: offset, url: url)
    }
}
