internal import InstrumentManifests

/// The protocol version that the tags of a playlist need (RFC 8216bis section 8).
enum CompatibilityVersion {
    struct Need: Hashable {
        var version: Int64
        var feature: String
        var line: Int
    }

    /// The first of the needs of the highest version; nil if the tags need none.
    static func need(of playlist: MediaPlaylistVersion) -> Need? {
        let isIFramesOnly = playlist.playlist.isIFramesOnly
        return highest(in: playlist.entries) { need(of: $0, isIFramesOnly) }
    }

    /// The first of the needs of the highest version; nil if the tags need none.
    static func need(of playlist: MultivariantVersion) -> Need? { highest(in: playlist.entries) { need(of: $0) } }

    private static func highest(
        in entries: PlaylistEntries,
        _ need: (PlaylistTag) -> (Int64, String)?
    ) -> Need? {
        var highest: Need?
        for tag in entries.tags(where: { $0 != "EXT-X-PROGRAM-DATE-TIME" }) {
            guard let (version, feature) = need(tag), version > highest?.version ?? 0 else { continue }
            highest = Need(version: version, feature: feature, line: tag.line)
        }
        return highest
    }

    private static func need(of tag: PlaylistTag, _ isIFramesOnly: Bool) -> (Int64, String)? {
        switch tag.name {
        case "EXTINF": tag.value.prefix { $0 != "," }.contains(".") ? (3, "durations with a fraction") : nil
        case "EXT-X-BYTERANGE", "EXT-X-I-FRAMES-ONLY": (4, tag.name)
        case "EXT-X-KEY": need(ofKey: tag.attributes)
        case "EXT-X-MAP": isIFramesOnly ? (5, tag.name) : (6, "\(tag.name) in a playlist of whole segments")
        case "EXT-X-DEFINE": need(ofDefinition: tag.attributes)
        case "EXT-X-SKIP": need(ofSkip: tag.attributes)
        default: nil
        }
    }

    private static func need(of tag: PlaylistTag) -> (Int64, String)? {
        let attributes = tag.attributes
        if tag.name == "EXT-X-DEFINE" { return need(ofDefinition: attributes) }
        if tag.name == "EXT-X-MEDIA", let stream = attributes["INSTREAM-ID"] {
            guard attributes["TYPE"] == "CLOSED-CAPTIONS" else { return (13, "INSTREAM-ID without closed captions") }
            if stream.hasPrefix("SERVICE") { return (7, "INSTREAM-ID with a SERVICE value") }
        }
        return attributes.keys.contains { $0.hasPrefix("REQ-") } ? (12, "an attribute that begins with REQ-") : nil
    }

    private static func need(ofKey attributes: [String: String]) -> (Int64, String)? {
        if attributes["METHOD"] == "SAMPLE-AES" { return (5, "METHOD=SAMPLE-AES") }
        if attributes["KEYFORMAT"] != nil || attributes["KEYFORMATVERSIONS"] != nil { return (5, "KEYFORMAT") }
        return attributes["IV"] != nil ? (2, "IV of EXT-X-KEY") : nil
    }

    private static func need(ofSkip attributes: [String: String]) -> (Int64, String) {
        attributes["RECENTLY-REMOVED-DATERANGES"] != nil ? (10, "EXT-X-SKIP for date ranges") : (9, "EXT-X-SKIP")
    }

    private static func need(ofDefinition attributes: [String: String]) -> (Int64, String)? {
        attributes["QUERYPARAM"] != nil ? (11, "QUERYPARAM of EXT-X-DEFINE") : (8, "EXT-X-DEFINE")
    }
}
