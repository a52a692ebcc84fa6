internal import Instrument
internal import InstrumentText
internal import InstrumentXML

extension VASTParser {
    mutating func creatives(_ body: MarkupElement, _ path: String, isInLine: Bool) -> [Creative] {
        let path = path + "/Creatives"
        guard let list = body.first("Creatives") else {
            if isInLine { findings.error("3.6", path, "an `InLine` ad must have `Creatives`", line: body.line) }
            return []
        }
        let elements = list.all("Creative")
        if isInLine, elements.isEmpty {
            findings.error("3.6", path, "`Creatives` must have a `Creative` (found none)", line: list.line)
        }
        if elements.count > limits.creatives {
            let message = "an ad has \(elements.count) creatives; the first \(limits.creatives) are used"
            findings.error("3.6", path, message, code: .trafficking, line: list.line)
        }
        return elements.prefix(limits.creatives).flatMap { creative($0, path + "/Creative", isInLine: isInLine) }
    }

    /// One element gives up to three creatives: the schema forbids two forms in one, and ad servers send them.
    private mutating func creative(_ element: MarkupElement, _ path: String, isInLine: Bool) -> [Creative] {
        let universalIDs = element.all("UniversalAdId").prefix(20).compactMap { identifier -> Creative.UniversalAdID? in
            // VAST 4.0 has the identifier in an attribute.
            guard let value = identifier.content ?? identifier["idValue"] else { return nil }
            return Creative.UniversalAdID(registry: identifier["idRegistry"] ?? "unknown", value: value)
        }
        if isInLine, version >= .v40, universalIDs.isEmpty, element.first("CompanionAds") == nil {
            findings.error("3.7.1", path + "/UniversalAdId", "`UniversalAdId` must be present", line: element.line)
        }
        var kinds: [Creative.Kind] = []
        if let linear = element.first("Linear") {
            kinds.append(.linear(self.linear(linear, path + "/Linear", isInLine)))
        }
        if let nonLinear = element.first("NonLinearAds") {
            kinds.append(.nonLinear(self.nonLinear(nonLinear, path + "/NonLinearAds", isInLine)))
        }
        if let companions = element.first("CompanionAds") {
            kinds.append(.companions(self.companions(companions, path + "/CompanionAds")))
        }
        if kinds.isEmpty, isInLine {
            let message = "a `Creative` must have `Linear`, `NonLinearAds` or `CompanionAds`"
            findings.error("3.7", path, message, line: element.line)
        } else if kinds.count > 1 {
            findings.warn("3.7", path, "a `Creative` must have one form (found \(kinds.count))", line: element.line)
        }
        // Before VAST 3 the attribute is `AdID`.
        let adID = element["adId"] ?? element["AdID"]
        return kinds.map {
            Creative(
                id: element["id"],
                adID: adID,
                sequence: element.number("sequence"),
                universalIDs: universalIDs,
                kind: $0
            )
        }
    }

    private mutating func linear(_ element: MarkupElement, _ path: String, _ isInLine: Bool) -> LinearCreative {
        var linear = LinearCreative()
        if let duration = element.first("Duration") {
            linear.duration = duration.content.flatMap { AdTime.nanoseconds($0) }
            if linear.duration == nil {
                let found = (duration.content ?? "").prefix(40)
                let message = "`Duration` must have the form HH:MM:SS or HH:MM:SS.mmm (found `\(found)`)"
                findings.error("3.8.1", path + "/Duration", message, line: duration.line)
            }
        } else if isInLine {
            findings.error("3.8.1", path + "/Duration", "`Duration` must be present", line: element.line)
        }
        if let text = element["skipoffset"] {
            linear.skipOffset = AdOffset(text.trimmingWhitespace)
            if linear.skipOffset == nil {
                let found = text.prefix(40)
                let message = "`skipoffset` must have the form HH:MM:SS, HH:MM:SS.mmm or n% (found `\(found)`)"
                findings.error("3.8", path, message, line: element.line)
            }
        }
        linear.events = events(element, path, "3.14.1")
        checkOffsets(linear, path, element.line)
        if let clicks = element.first("VideoClicks") {
            let path = path + "/VideoClicks/"
            linear.clickThrough = urls(clicks.all("ClickThrough"), path + "ClickThrough", "3.10.1").first
            linear.clickTracking = urls(clicks.all("ClickTracking"), path + "ClickTracking", "3.10.2")
            linear.customClicks = urls(clicks.all("CustomClick"), path + "CustomClick", "3.10.3")
        }
        if let icons = element.first("Icons") { linear.icons = self.icons(icons, path + "/Icons/Icon") }
        if isInLine { linear.mediaFiles = mediaFiles(element, path + "/MediaFiles") }
        return linear
    }

    private mutating func icons(_ element: MarkupElement, _ path: String) -> [AdIcon] {
        element.all("Icon").prefix(limits.creatives).map { icon in
            let clicks = icon.first("IconClicks")
            let click = path + "/IconClicks/"
            return AdIcon(
                program: icon["program"],
                width: icon.number("width"),
                height: icon.number("height"),
                offset: icon["offset"].flatMap { AdTime.nanoseconds($0.trimmingWhitespace) },
                duration: icon["duration"].flatMap { AdTime.nanoseconds($0.trimmingWhitespace) },
                resources: resources(icon, path),
                clickThrough: clicks.flatMap {
                    urls($0.all("IconClickThrough"), click + "IconClickThrough", "3.11.3").first
                },
                clickTracking: clicks.map {
                    urls($0.all("IconClickTracking"), click + "IconClickTracking", "3.11.4")
                } ?? [],
                viewTracking: urls(icon.all("IconViewTracking"), path + "/IconViewTracking", "3.11.5")
            )
        }
    }

    private mutating func checkOffsets(_ linear: LinearCreative, _ path: String, _ line: Int) {
        guard let duration = linear.duration else { return }
        if let offset = linear.skipOffset?.nanoseconds(of: duration), offset > duration {
            findings.warn("3.8", path, "`skipoffset` is beyond the duration; the ad cannot be skipped", line: line)
        }
        for event in linear.events where event.offset?.nanoseconds(of: duration) ?? 0 > duration {
            let place = path + "/TrackingEvents/Tracking"
            findings.warn("3.14.1", place, "`offset` of `progress` is beyond the duration; it never fires", line: line)
        }
    }

    private mutating func mediaFiles(_ linear: MarkupElement, _ path: String) -> [MediaFile] {
        guard let list = linear.first("MediaFiles") else {
            findings.error("3.9", path, "`MediaFiles` must be present", line: linear.line)
            return []
        }
        let files = list.all("MediaFile").compactMap { mediaFile($0, path + "/MediaFile") }
        let interactive = list.first("InteractiveCreativeFile")
        if files.isEmpty, interactive == nil {
            findings.error("3.9", path, "`MediaFiles` must have a `MediaFile` (found none)", line: list.line)
        } else if !files.contains(where: { $0.apiFramework == nil }) {
            let message = "every media file needs an API framework, which this player does not execute"
            findings.error("3.9.1", path, message, code: .noSupportedFile, line: list.line)
        }
        return files
    }

    private mutating func mediaFile(_ element: MarkupElement, _ path: String) -> MediaFile? {
        guard let url = url(element, path, "3.9.1") else { return nil }
        let delivery = element.token("delivery").flatMap { MediaFile.Delivery(rawValue: $0) }
        let type = element.token("type") ?? ""
        if delivery == nil {
            findings.error("3.9.1", path, "`delivery` must be progressive or streaming", line: element.line)
        }
        if type.isEmpty {
            findings.error("3.9.1", path, "`type` must be a MIME type (found none)", line: element.line)
        }
        for name in ["width", "height"] where element.number(name) == nil {
            findings.error("3.9.1", path, "`\(name)` must be a number of pixels", line: element.line)
        }
        let framework = element["apiFramework"].flatMap { $0.trimmingWhitespace.isEmpty ? nil : $0 }
        return MediaFile(
            url: url,
            delivery: delivery ?? .progressive,
            type: type.lowercased(),
            width: element.number("width"),
            height: element.number("height"),
            bitrate: element.number("bitrate"),
            maxBitrate: element.number("maxBitrate"),
            codec: element["codec"],
            apiFramework: framework
        )
    }

    private mutating func nonLinear(_ element: MarkupElement, _ path: String, _ isInLine: Bool) -> NonLinearCreative {
        let events = events(element, path, "3.14.1")
        let path = path + "/NonLinear"
        let elements = element.all("NonLinear")
        if isInLine, elements.isEmpty {
            findings.error("3.12.1", path, "`NonLinearAds` must have a `NonLinear` (found none)", line: element.line)
        }
        let variants = elements.prefix(limits.creatives).map { variant -> NonLinearCreative.Variant in
            let resource = resources(variant, path).first
            if isInLine, resource == nil {
                findings.error("3.15", path, "a `NonLinear` must have a resource (found none)", line: variant.line)
            }
            return NonLinearCreative.Variant(
                width: variant.number("width"),
                height: variant.number("height"),
                minimumDuration: variant["minSuggestedDuration"].flatMap { AdTime.nanoseconds($0) },
                resource: resource,
                clickThrough: urls(variant.all("NonLinearClickThrough"), path + "/NonLinearClickThrough", "3.12.2")
                    .first,
                clickTracking: urls(variant.all("NonLinearClickTracking"), path + "/NonLinearClickTracking", "3.12.3")
            )
        }
        return NonLinearCreative(variants: Array(variants), events: events)
    }

    private mutating func companions(_ element: MarkupElement, _ path: String) -> [Companion] {
        let path = path + "/Companion"
        return element.all("Companion").prefix(limits.creatives).map { companion in
            let resources = resources(companion, path)
            if resources.isEmpty {
                findings.error("3.15", path, "a `Companion` must have a resource (found none)", line: companion.line)
            }
            for name in ["width", "height"] where companion.number(name) == nil {
                findings.error("3.13.1", path, "`\(name)` must be a number of pixels", line: companion.line)
            }
            return Companion(
                id: companion["id"],
                width: companion.number("width"),
                height: companion.number("height"),
                resources: resources,
                clickThrough: urls(companion.all("CompanionClickThrough"), path + "/CompanionClickThrough", "3.13.3")
                    .first,
                clickTracking: urls(
                    companion.all("CompanionClickTracking"),
                    path + "/CompanionClickTracking",
                    "3.13.4"
                ),
                events: events(companion, path, "3.14.1")
            )
        }
    }

    private mutating func resources(_ element: MarkupElement, _ path: String) -> [CreativeResource] {
        var resources: [CreativeResource] = []
        for resource in element.all("StaticResource").prefix(20) {
            let type = resource["creativeType"]
            if type == nil {
                findings.error(
                    "3.15.1",
                    path + "/StaticResource",
                    "`creativeType` must be a MIME type",
                    line: resource.line
                )
            }
            if let url = url(resource, path + "/StaticResource", "3.15.1") {
                resources.append(.static(url, type: type))
            }
        }
        for resource in element.all("IFrameResource").prefix(20) {
            if let url = url(resource, path + "/IFrameResource", "3.15.2") { resources.append(.frame(url)) }
        }
        for resource in element.all("HTMLResource").prefix(20) {
            resources.append(.html(byteCount: resource.text.utf8.count))
        }
        return resources
    }
}
