internal import InstrumentText

/// A small ad server under `ads/`: VAST, VMAP, wrappers, lists of assets, and an address for beacons.
///
/// A pure function of the path, the query and the address under which the client reached the origin. Every request is
/// in the origin's log, so that `ads/beacon` records beacons with their queries.
///
/// | path | response |
/// |---|---|
/// | `ads/vast.xml` | an ad; `?ads=3` a pod, `?alone=2` stand-alone ads, `?version=3.0`, `?duration=8`, `?skip=5` |
/// | `ads/wrapper.xml` | a wrapper of `ads/vast.xml`; `?depth=3` a chain |
/// | `ads/loop.xml` | a wrapper of itself |
/// | `ads/empty.xml`, `ads/broken.xml`, `ads/missing.xml` | no ad, malformed XML, status 404 |
/// | `ads/unplayable.xml` | an ad whose only file needs an API framework |
/// | `ads/vmap.xml` | pre-, mid- and post-roll |
/// | `ads/assets.json` | a list of assets; `?count=2`, `?duration=4` |
/// | `ads/beacon` | an empty image |
struct AdServer: Sendable {
    /// The media of every ad, as a path of the fixtures.
    static let mediaPath = "vod/ts/master.m3u8"
    private static let mostAds = 1_000

    /// `http://host:port/` and the session, as the client reached the origin.
    let base: String
    let query: [String: String]

    init(base: String, query: String) {
        self.base = base
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
        self.query = values
    }

    func resource(_ name: String) -> Resource? {
        switch name {
        case "vast.xml": xml(vast(pod: number("ads", 1), alone: number("alone", 0)))
        case "wrapper.xml": xml(wrapper(to: nextWrapper))
        case "loop.xml": xml(wrapper(to: "ads/loop.xml"))
        case "empty.xml": xml("<VAST version=\"\(version)\"><Error>\(beacon("noAd", "[ERRORCODE]"))</Error></VAST>")
        case "broken.xml": xml("<VAST version=\"\(version)\"><Ad>")
        case "unplayable.xml":
            xml(document(ad(1, nil, media: mediaFile("video/mp4", framework: " apiFramework=\"VPAID\""))))
        case "vmap.xml": xml(vmap)
        case "assets.json": Resource("application/json", Body(assetList))
        case "beacon": Resource("image/gif", Body(Self.image))
        default: nil
        }
    }

    /// The paths for players and testers.
    static let catalogue = [
        CatalogueEntry("ads/vast.xml", "VAST, one ad; ?ads=3 gives a pod"),
        CatalogueEntry("ads/wrapper.xml", "VAST, a wrapper; ?depth=3 gives a chain"),
        CatalogueEntry("ads/loop.xml", "VAST, a wrapper of itself"),
        CatalogueEntry("ads/empty.xml", "VAST without an ad"),
        CatalogueEntry("ads/broken.xml", "VAST that is not well-formed"),
        CatalogueEntry("ads/unplayable.xml", "VAST without a playable file"),
        CatalogueEntry("ads/vmap.xml", "VMAP with pre-, mid- and post-roll"),
    ]

    /// A transparent pixel (GIF 89a).
    private static let image: [UInt8] = [
        0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x21, 0xF9, 4, 1, 0, 0,
        0,
        0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 0x44, 0, 0x3B,
    ]
}

// MARK: Documents
extension AdServer {
    private func number(_ name: String, _ usual: Int) -> Int {
        min(max(0, query[name].flatMap { Int($0) } ?? usual), Self.mostAds)
    }

    /// A version from the query, if it has the form of one.
    private var version: String {
        let text = query["version"] ?? "4.2"
        return text.utf8.allSatisfy { 48...57 ~= $0 || $0 == 46 } && text.utf8.count < 8 ? text : "4.2"
    }

    private func xml(_ text: String) -> Resource {
        Resource("application/xml", Body("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + text + "\n"))
    }

    private func document(_ ads: String) -> String { "<VAST version=\"\(version)\">\n\(ads)</VAST>" }

    private func beacon(_ event: String, _ value: String = "[CACHEBUSTING]") -> String {
        "<![CDATA[\(base)ads/beacon?event=\(event)&value=\(value)]]>"
    }

    private func vast(pod: Int, alone: Int) -> String {
        let sequenced = (0..<pod).map { ad($0 + 1, pod > 1 ? $0 + 1 : nil) }
        return document((sequenced + (0..<alone).map { ad(pod + $0 + 1, nil) }).joined())
    }

    private func ad(_ number: Int, _ sequence: Int?, media: String? = nil) -> String {
        let names = [
            "creativeView", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "pause", "resume",
            "skip",
        ]
        let events = names.map { "<Tracking event=\"\($0)\">\(beacon("\($0)-\(number)", "[ADPLAYHEAD]"))</Tracking>" }
        let skip = query["skip"].flatMap { Int($0) }.map { " skipoffset=\"\(time($0))\"" } ?? ""
        let attributes = sequence.map { " sequence=\"\($0)\"" } ?? ""
        return """
            <Ad id="ad-\(number)"\(attributes)><InLine><AdSystem>test-origin</AdSystem><AdTitle>Ad \(number)</AdTitle>
            <AdServingId>serving-\(number)</AdServingId><Impression>\(beacon("impression-\(number)"))</Impression>
            <Error>\(beacon("error-\(number)", "[ERRORCODE]"))</Error><Creatives><Creative id="creative-\(number)">
            <UniversalAdId idRegistry="test">universal-\(number)</UniversalAdId><Linear\(skip)>
            <Duration>\(time(self.number("duration", 8)))</Duration><TrackingEvents>\(events.joined())</TrackingEvents>
            <MediaFiles>\(media ?? mediaFile("application/vnd.apple.mpegurl"))</MediaFiles></Linear></Creative></Creatives></InLine></Ad>\n
            """
    }

    private func mediaFile(_ type: String, framework: String = "") -> String {
        "<MediaFile delivery=\"streaming\" type=\"\(type)\" width=\"640\" height=\"360\"\(framework)>"
            + "<![CDATA[\(base)\(Self.mediaPath)]]></MediaFile>"
    }

    private func time(_ seconds: Int) -> String {
        [seconds / 3_600, seconds / 60 % 60, seconds % 60].map { $0.padded(2) }.joined(separator: ":")
    }

    /// The next wrapper of a chain, or the ad at its end.
    private var nextWrapper: String {
        let depth = number("depth", 1)
        return depth > 1 ? "ads/wrapper.xml?depth=\(depth - 1)" : "ads/vast.xml"
    }

    private func wrapper(to path: String) -> String {
        document(
            """
            <Ad id="wrapper"><Wrapper><AdSystem>test-origin</AdSystem><VASTAdTagURI><![CDATA[\(base)\(path)]]></VASTAdTagURI>
            <Error>\(beacon("wrapperError", "[ERRORCODE]"))</Error><Impression>\(beacon("wrapperImpression"))</Impression>
            <Creatives><Creative><Linear><TrackingEvents><Tracking event="start">\(beacon("wrapperStart"))</Tracking>
            </TrackingEvents></Linear></Creative></Creatives></Wrapper></Ad>\n
            """
        )
    }

    private var vmap: String {
        let breaks = [("start", "pre"), ("00:00:04", "mid"), ("end", "post")].map { time, name in
            """
            <vmap:AdBreak timeOffset="\(time)" breakType="linear" breakId="\(name)"><vmap:AdSource id="\(name)">
            <vmap:AdTagURI templateType="vast3"><![CDATA[\(base)ads/vast.xml]]></vmap:AdTagURI></vmap:AdSource>
            <vmap:TrackingEvents><vmap:Tracking event="breakStart">\(beacon("breakStart-\(name)"))</vmap:Tracking>
            <vmap:Tracking event="breakEnd">\(beacon("breakEnd-\(name)"))</vmap:Tracking>
            <vmap:Tracking event="error">\(beacon("breakError-\(name)", "[ERRORCODE]"))</vmap:Tracking></vmap:TrackingEvents>
            </vmap:AdBreak>\n
            """
        }
        return "<vmap:VMAP xmlns:vmap=\"http://www.iab.net/vmap-1.0\" version=\"1.0\">\n\(breaks.joined())</vmap:VMAP>"
    }

    private var assetList: String {
        let asset = "{\"URI\":\"\(base)\(Self.mediaPath)\",\"DURATION\":\(number("duration", 4))}"
        return "{\"ASSETS\":[" + Array(repeating: asset, count: number("count", 1)).joined(separator: ",") + "]}"
    }
}
