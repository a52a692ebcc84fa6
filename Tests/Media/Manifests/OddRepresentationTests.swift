internal import InstrumentHTTP
internal import InstrumentManifests
internal import Testing

@Suite("Representations that cannot be played")
struct OddRepresentationTests {
    private static let usual = "<SegmentTemplate media=\"$RepresentationID$-$Number$\" duration=\"4\"/>"
    private static let live =
        "type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" minimumUpdatePeriod=\"PT2S\""

    private func set(_ content: String, _ attributes: String = "mimeType=\"video/mp4\"") -> String {
        "<AdaptationSet \(attributes)>\(content)</AdaptationSet>"
    }

    private func representation(_ id: String, _ content: String = usual, _ attributes: String = "") -> String {
        "<Representation id=\"\(id)\" bandwidth=\"1000\" \(attributes)>\(content)</Representation>"
    }

    private func essential(_ scheme: String, id: String = "") -> String {
        "<EssentialProperty schemeIdUri=\"\(scheme)\" value=\"1\"\(id)/>"
    }

    private func videos(_ show: Presentation) -> [String] {
        show.renditions.indices.map { place in
            guard case .segments(let index) = show.renditions[place].source else { return "index" }
            return index.first?.url.path ?? ""
        }
    }

    @Test(
        "A representation that cannot be played is left out with a notice, and the others stay",
        arguments: [
            (
                "<SegmentTemplate media=\"$Number$-$SubNumber$\" duration=\"4\"/>", "",
                ManifestNotice.Code.unsupportedFeature,
                ManifestError.Code.unsupported
            ), ("<SegmentTemplate duration=\"4\"/>", "", .oddity, .malformed),
            ("<SegmentTemplate media=\"$Number\" duration=\"4\"/>", "", .oddity, .malformed),
            ("<SegmentTemplate media=\"$Number$\" duration=\"4\" timescale=\"0\"/>", "", .oddity, .malformed),
            (
                "<SegmentTemplate media=\"file:///etc/$Number$\" duration=\"4\"/>", "", .referenceRefused,
                .referenceRefused
            ),
            ("<BaseURL>concat:a|b</BaseURL>\(usual)", "", .referenceRefused, .referenceRefused),
            ("<SegmentTemplate media=\"$Number$\"/>", live, .oddity, .malformed),
            (
                "<SegmentBase indexRange=\"5-90\"/>", "mimeType=\"video/webm\"", .unsupportedFeature, .unsupported
            ),
        ]
    )
    func odd(content: String, attributes: String, notice: ManifestNotice.Code, error: ManifestError.Code) throws {
        let isLive = attributes == Self.live
        let document = isLive ? Self.live : "type=\"static\" mediaPresentationDuration=\"PT8S\""
        let odd = representation("odd", content, isLive ? "" : attributes)
        let show = try presentation(mpd("<Period>\(set(odd + representation("good")))</Period>", document))
        #expect(show.variants.count == 1 && show.renditions.map(\.id.description) == ["video//good"])
        #expect(
            show.notices.map(\.code) == [notice] && show.notices[0].message.contains("is left out")
        )
        #expect(show.notices[0].line != nil)
        let alone = manifestError { _ = try presentation(mpd("<Period>\(set(odd))</Period>", document)) }
        #expect(alone?.code == error, "\(String(describing: alone))")
    }

    @Test("Limits hold for representations that are left out, too")
    func limits() {
        var limits = ManifestLimits()
        limits.addressBytes = 3_000
        let odd = representation("odd", "<SegmentTemplate media=\"\(String(repeating: "x", count: 500))$\"/>")
        let body = "<Period>\(set(String(repeating: odd, count: 40) + representation("good")))</Period>"
        let error = manifestError { _ = try presentation(mpd(body), limits: limits) }
        #expect(error?.code == .limitExceeded, "\(String(describing: error))")
    }

    @Test(
        "A representation with an essential property of an unknown scheme is left out",
        arguments: [
            ("urn:unknown", ManifestNotice.Code.unsupportedFeature), ("urn:mpeg:mpegB:cicp:ColourPrimaries", nil),
            ("http://dashif.org/guidelines/trickmode", nil),
        ]
    )
    func essentialProperties(scheme: String, notice: ManifestNotice.Code?) throws {
        let odd = representation("odd", essential(scheme) + Self.usual)
        let show = try presentation(mpd("<Period>\(set(representation("good") + odd))</Period>"))
        let isKept = scheme.contains("cicp")
        #expect(videos(show) == ["/show/good-1"] + (isKept ? ["/show/odd-1"] : []))
        #expect(show.notices.map(\.code) == [notice].compactMap(\.self))
    }

    @Test("An MPD of which nothing else is left names the unknown essential property")
    func essentialAlone() {
        let odd = essential("urn:unknown") + representation("odd")
        let error = manifestError { _ = try presentation(mpd("<Period>\(set(odd))</Period>")) }
        #expect(error?.message.contains("only elements with an unknown EssentialProperty") == true)
    }

    @Test(
        "A representation without segments is the file of its BaseURL, and not the MPD",
        arguments: [("", false), ("<BaseURL>v.mp4</BaseURL>", true)]
    )
    func withoutSegments(content: String, isKept: Bool) throws {
        let bare = "<Representation id=\"bare\" bandwidth=\"9\">\(content)</Representation>"
        let show = try presentation(mpd("<Period>\(set(representation("good") + bare))</Period>"))
        #expect(show.renditions.count == (isKept ? 2 : 1))
        #expect(show.notices.map(\.subject) == (isKept ? [] : [.malformedRepresentation]))
        #expect(isKept || show.notices.first?.message.contains("its address is the MPD's") == true)
    }

    @Test("Of essential properties with one identifier, one known scheme is enough")
    func alternatives() throws {
        let pair = ["urn:unknown", "urn:mpeg:mpegB:cicp:MatrixCoefficients"].map { essential($0, id: " id=\"1\"") }
        let show = try presentation(mpd("<Period>\(set(pair.joined() + representation("good")))</Period>"))
        #expect(show.renditions.count == 1 && show.notices.isEmpty)
        let apart = pair[0] + pair[1].replacing("id=\"1\"", with: "id=\"2\"")
        let text = mpd("<Period>\(set(apart + representation("odd")) + set(representation("good")))</Period>")
        #expect(videos(try presentation(text)) == ["/show/good-1"])
    }

    @Test(
        "Thumbnails are no video",
        arguments: [
            "contentType=\"image\" codecs=\"jpeg\"", "mimeType=\"image/jpeg\" codecs=\"mjpg\"",
            "contentType=\"image\" mimeType=\"video/mp4\" codecs=\"mjpg\"",
            "contentType=\"video\" mimeType=\"image/png\"",
        ]
    )
    func thumbnails(attributes: String) throws {
        for property in ["", essential("http://dashif.org/guidelines/thumbnail_tile")] {
            let tiles = set(representation("tiles", property + Self.usual), attributes)
            let show = try presentation(mpd("<Period>\(tiles)\(set(representation("good")))</Period>"))
            #expect(videos(show) == ["/show/good-1"] && show.variants.count == 1 && show.notices.isEmpty)
        }
    }
}
