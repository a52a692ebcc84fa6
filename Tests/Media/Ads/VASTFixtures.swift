import InstrumentHTTP

@testable import InstrumentAds

/// VAST documents for tests.
enum VAST {
    static func document(_ ads: String, version: String = "4.2") -> [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VAST version=\"\(version)\">\(ads)</VAST>".utf8)
    }

    static let mediaFiles = """
        <MediaFiles>
          <MediaFile delivery="progressive" type="video/mp4" width="640" height="360" bitrate="600"><![CDATA[https://m.test/low.mp4]]></MediaFile>
          <MediaFile delivery="progressive" type="video/mp4" width="1280" height="720" bitrate="2400"> https://m.test/high.mp4 </MediaFile>
        </MediaFiles>
        """

    static func inLine(
        id: String = "a",
        sequence: Int? = nil,
        duration: String = "00:00:20",
        skip: String? = nil,
        events: String = "",
        media: String = mediaFiles,
        extra: String = "",
        clicks: String = ""
    ) -> String {
        """
        <Ad id="\(id)"\(sequence.map { " sequence=\"\($0)\"" } ?? "")><InLine>
        <AdSystem>test</AdSystem><AdTitle>Title \(id)</AdTitle><AdServingId>srv-\(id)</AdServingId>
        <Impression><![CDATA[https://t.test/imp?ad=\(id)&cb=[CACHEBUSTING]]]></Impression>
        <Error>https://t.test/err?ad=\(id)&amp;code=[ERRORCODE]</Error>\(extra)
        <Creatives><Creative id="c-\(id)"><UniversalAdId idRegistry="ad-id.org">CNPA0484000H</UniversalAdId>
        <Linear\(skip.map { " skipoffset=\"\($0)\"" } ?? "")><Duration>\(duration)</Duration>
        <TrackingEvents>\(events)</TrackingEvents>\(clicks)\(media)</Linear></Creative></Creatives>
        </InLine></Ad>
        """
    }

    static func wrapper(
        _ tag: String,
        id: String = "w",
        sequence: Int? = nil,
        attributes: String = "",
        events: String = "",
        extra: String = ""
    ) -> String {
        """
        <Ad id="\(id)"\(sequence.map { " sequence=\"\($0)\"" } ?? "")><Wrapper \(attributes)>
        <AdSystem>outer</AdSystem><VASTAdTagURI><![CDATA[\(tag)]]></VASTAdTagURI>
        <Impression>https://w.test/imp?\(id)</Impression><Error>https://w.test/err?\(id)=[ERRORCODE]</Error>\(extra)
        <Creatives><Creative><Linear><TrackingEvents>\(events)</TrackingEvents></Linear></Creative></Creatives>
        </Wrapper></Ad>
        """
    }

    static func event(_ name: String, _ url: String? = nil, offset: String? = nil) -> String {
        let place = offset.map { " offset=\"\($0)\"" } ?? ""
        return "<Tracking event=\"\(name)\"\(place)>\(url ?? "https://t.test/\(name)")</Tracking>"
    }

    /// Events of a whole playback and of persons.
    static let allEvents =
        [
            "creativeView", "loaded", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute",
            "unmute",
            "pause", "resume", "rewind", "skip", "playerExpand", "playerCollapse", "closeLinear",
        ].map { event($0) }.joined() + event("progress", "https://t.test/p5", offset: "00:00:05")
        + event("progress", "https://t.test/p50", offset: "50%")
}

/// Answers with documents by address, and counts.
actor ScriptedAds {
    private let documents: [String: [UInt8]]
    private(set) var requests: [String] = []

    init(_ documents: [String: [UInt8]]) { self.documents = documents }

    func document(_ url: HTTPURL) -> [UInt8]? {
        requests.append(url.secretText)
        return documents[url.secretText.split(separator: "?").first.map(String.init) ?? ""]
    }
}

struct ScriptedFetcher: AdFetching {
    let script: ScriptedAds

    init(_ documents: [String: [UInt8]]) { script = ScriptedAds(documents) }

    func fetch(_ url: HTTPURL, timeout: Duration) async throws(AdFetchError) -> AdDocument {
        guard let bytes = await script.document(url) else { throw AdFetchError("HTTP 404") }
        return AdDocument(bytes: bytes, url: url)
    }
}
