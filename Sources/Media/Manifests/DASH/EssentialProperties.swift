internal import InstrumentXML

/// The `EssentialProperty` descriptors of an adaptation set or a representation: a client that does not know their
/// scheme leaves the element out; of descriptors with one `@id`, the client has to know one (ISO/IEC 23009-1 section
/// 5.8.4.8).
struct EssentialProperties {
    enum Verdict: Hashable {
        case met
        /// The element has another use than playback: pictures for fast forward, thumbnails.
        case otherUse
        case unknown
    }

    let verdict: Verdict

    init(_ element: MarkupElement) {
        var schemes: [[String]] = []
        var places: [String: Int] = [:]
        for property in element.all("EssentialProperty") {
            let scheme = property["schemeIdUri"] ?? ""
            let id = property["id"]
            if let place = id.flatMap({ places[$0] }) {
                schemes[place].append(scheme)
            } else {
                if let id { places[id] = schemes.count }
                schemes.append([scheme])
            }
        }
        if schemes.joined().contains(where: Self.otherUses.contains) {
            verdict = .otherUse
        } else {
            verdict = schemes.allSatisfy { $0.contains(where: Self.isKnown) } ? .met : .unknown
        }
    }

    static let trickMode = "http://dashif.org/guidelines/trickmode"

    private static let otherUses: Set = [
        trickMode, "http://dashif.org/guidelines/thumbnail_tile",
        "http://dashif.org/thumbnail_tile",
    ]

    /// Colours (ISO/IEC 23091-2), and fonts to download (ETSI TS 103 285 section 7.2.1): neither changes times.
    private static func isKnown(_ scheme: String) -> Bool {
        scheme.hasPrefix("urn:mpeg:mpegB:cicp:") || scheme == "urn:dvb:dash:fontdownload:2014"
    }
}
