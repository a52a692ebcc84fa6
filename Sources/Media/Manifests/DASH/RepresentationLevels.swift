internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// A representation with the elements from which it inherits: period, adaptation set, representation.
struct RepresentationLevels: Hashable, Sendable {
    var period: MarkupElement
    var set: MarkupElement
    var representation: MarkupElement
    /// The base of addresses, from the `BaseURL` elements of all levels.
    var base: HTTPURL
    /// When segments are available, from the `BaseURL` elements of all levels.
    var baseAvailability: EarlyAvailability

    private var inner: [MarkupElement] { [representation, set, period] }

    /// An attribute that representations share with their set (section 5.3.7, common attributes).
    func common(_ name: String) -> String? { representation.word(name) ?? set.word(name) }

    /// The description of the segments, of the innermost level that has one (section 5.3.9.1).
    var kind: String? {
        for level in inner {
            if let name = ["SegmentTemplate", "SegmentList", "SegmentBase"].first(where: { level.first($0) != nil }) {
                return name
            }
        }
        return nil
    }

    /// An attribute of the segment information; the innermost wins.
    func information(_ kind: String, _ attribute: String) -> String? {
        inner.lazy.compactMap { $0.first(kind)?[attribute] }.first
    }

    /// A child of the segment information; the innermost wins.
    func child(_ kind: String, _ name: String) -> MarkupElement? {
        inner.lazy.compactMap { $0.first(kind)?.first(name) }.first
    }

    /// The innermost segment information that has such children.
    func children(_ kind: String, _ name: String) -> NamedElements {
        inner.lazy.compactMap { $0.first(kind)?.all(name) }.first { !$0.isEmpty } ?? NamedElements()
    }

    func integer(_ kind: String, _ attribute: String) -> Int64? {
        information(kind, attribute).flatMap {
            $0.utf8.count <= MarkupElement.longestWord ? MarkupElement.integer(of: $0) : nil
        }
    }

    /// When segments are available, from the `BaseURL` elements and the segment information.
    func availability(_ kind: String) -> EarlyAvailability {
        baseAvailability.adding(
            EarlyAvailability(
                offset: information(kind, "availabilityTimeOffset"),
                isComplete: information(kind, "availabilityTimeComplete")
            )
        )
    }

    var id: String { representation["id"] ?? "" }
    var bandwidth: Int64 { representation.integer("bandwidth") ?? 0 }
    var codecs: [String] { CodecList.split(common("codecs")) }
    var isProtected: Bool { [representation, set].contains { $0.first("ContentProtection") != nil } }

    /// The scheme of Common Encryption (`cenc`, `cbcs` …; ISO/IEC 23009-1 section 5.8.5.2); nil if not declared.
    var protectionScheme: String? {
        let descriptors = [representation, set].flatMap { $0.all("ContentProtection") }
        let common = descriptors.first { $0["schemeIdUri"]?.lowercased() == "urn:mpeg:dash:mp4protection:2011" }
        return common?["value"].map { $0.excerpt() }
    }

    /// Whether segments are encrypted as a whole (ISO/IEC 23009-4).
    var hasSegmentEncryption: Bool {
        [representation, set].contains { level in
            level.all("ContentProtection").contains { $0["schemeIdUri"]?.lowercased() == "urn:mpeg:dash:sea:2012" }
        }
    }

    var resolution: Resolution? {
        guard let width = common("width").flatMap({ DecimalText.integer($0) }), width <= 1 << 20,
            let height = common("height").flatMap({ DecimalText.integer($0) }), height <= 1 << 20
        else { return nil }
        return Resolution(width: Int(width), height: Int(height))
    }

    /// `25` or `30000/1001`.
    var frameRate: Double? {
        let parts = (common("frameRate") ?? "").split(separator: "/").compactMap { DecimalText.double($0) }
        guard let first = parts.first, first > 0 else { return nil }
        guard parts.count == 2 else { return first }
        return parts[1] > 0 ? first / parts[1] : nil
    }

    var container: Rendition.Container {
        let type = common("mimeType") ?? ""
        if type.hasSuffix("/mp4") { return .fragmentedMP4 }
        if type.hasSuffix("/webm") { return .webM }
        if type == "text/vtt" { return .webVTT }
        return type == "video/mp2t" ? .transportStream : .other
    }

    /// The kind of media; nil for media that is not played (images, unknown).
    var mediaKind: Rendition.Kind? {
        let type = common("mimeType") ?? ""
        let declared = set.word("contentType") ?? String(type.prefix { $0 != "/" })
        let hasText = codecs.contains(where: CodecList.isText)
        if type.hasPrefix("image/") { return nil }
        switch declared {
        case "video": return codecs.contains(where: CodecList.isAudio) ? .muxed : .video
        case "audio": return .audio
        case "image": return nil
        case "text": return .subtitles
        case "application": return hasText || type == "application/ttml+xml" ? .subtitles : nil
        default: return codecs.isEmpty || hasText ? nil : codecs.contains(where: CodecList.isVideo) ? .video : .audio
        }
    }
}
