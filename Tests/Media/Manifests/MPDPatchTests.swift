import Instrument
import InstrumentHTTP
import Testing

@testable import InstrumentManifests

@Suite("Patches of MPDs")
struct MPDPatchTests {
    private static let first = "2026-11-21T09:59:50Z"
    private static let next = "2026-11-21T09:59:52Z"

    private static let body = """
        <PatchLocation ttl="30">patch.mpp?n=1</PatchLocation>
        <Period id="p" start="PT0S">
        <AdaptationSet id="1" mimeType="video/mp4">
        <SegmentTemplate timescale="1" startNumber="5" media="$RepresentationID$/$Number$.m4s">
        <SegmentTimeline><S t="3580" d="2"/><S t="3582" d="2"/><S t="3584" d="4"/></SegmentTimeline></SegmentTemplate>
        <Representation id="a" bandwidth="100000"/><Representation id="b" bandwidth="200000"/></AdaptationSet>
        <AdaptationSet id="2" mimeType="audio/mp4" lang="en"><SegmentTemplate timescale="1" duration="2" media="$Number$"/>
        <Representation id="c" bandwidth="10"/></AdaptationSet></Period>
        """

    private static func live(_ body: String = body, _ attributes: String = "id=\"show\"") -> String {
        mpd(
            body,
            "\(attributes) type=\"dynamic\" availabilityStartTime=\"2026-11-21T09:00:00Z\" publishTime=\"\(first)\" "
                + "minimumUpdatePeriod=\"PT2S\""
        )
    }

    private static func patch(
        _ operations: String,
        id: String = "show",
        original: String = first,
        published: String = next,
        _ attributes: String = ""
    ) -> String {
        "<?xml version=\"1.0\"?><Patch xmlns=\"urn:mpeg:dash:schema:mpd-patch:2020\" mpdId=\"\(id)\" "
            + "originalPublishTime=\"\(original)\" publishTime=\"\(published)\" \(attributes)>\(operations)</Patch>"
    }

    private static let timeline = "/MPD/Period[@id='p']/AdaptationSet[@id='1']/SegmentTemplate/SegmentTimeline"

    private func patched(_ patch: String, _ manifest: String = live()) throws -> Presentation {
        let url = try address("https://media.test/show/patch.mpp")
        return try presentation(manifest, at: "https://media.test/show/live.mpd").patched(
            by: Array(patch.utf8),
            at: url,
            now: now
        )
    }

    @Test("A patch location has an address, and an expiry after the publish time")
    func location() throws {
        let show = try presentation(Self.live(), at: "https://media.test/show/live.mpd")
        let patch = try #require(show.live?.patch)
        #expect(show.acceptsPatches && patch.url.secretText == "https://media.test/show/patch.mpp?n=1")
        #expect(patch.expiry == WallTime(milliseconds: now.milliseconds + 20_000))
        #expect(patch.isAvailable(at: now) && !patch.isAvailable(at: now.advanced(nanoseconds: 20 * second)))
        // By a server's clock that is a minute ahead, the patch expires a minute earlier.
        let clock = "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"2026-11-21T10:01:00Z\"/>"
        let ahead = try presentation(Self.live(clock + Self.body))
        #expect(ahead.live?.patch?.expiry == WallTime(milliseconds: now.milliseconds - 40_000))
    }

    @Test(
        "A patch location that cannot be used is passed over",
        arguments: [
            (live(body, ""), false), (live(body.replacing("ttl=\"30\"", with: "ttl=\"-1\"")), false),
            (live(body.replacing("ttl=\"30\"", with: "ttl=\"soon\"")), false),
            (live(body.replacing("patch.mpp", with: "file:///etc/passwd")), false),
            (live(body.replacing("ttl=\"30\"", with: "ttl=\"1e300\"")), true),
            (live(body.replacing("ttl=\"30\"", with: "")), true),
            (live("<PatchLocation>concat:a</PatchLocation>" + body), true),
            (live().replacing("publishTime", with: "other"), false),
            (mpd(body, "type=\"static\" id=\"a\" publishTime=\"\(first)\" mediaPresentationDuration=\"PT20S\""), false),
        ]
    )
    func locations(manifest: String, isUsable: Bool) throws {
        let show = try presentation(manifest)
        #expect(show.acceptsPatches == isUsable && (show.live?.patch != nil) == isUsable)
    }

    @Test("The patched MPD is the MPD that the server would have sent")
    func operations() throws {
        let operations = """
            <replace sel="/MPD/@publishTime">\(Self.next)</replace>
            <replace sel="/MPD/PatchLocation[1]"><PatchLocation ttl="30">patch.mpp?n=2</PatchLocation></replace>
            <remove sel="\(Self.timeline)/S[1]"/>
            <remove sel="\(Self.timeline)/S[@t='3582']"/>
            <replace sel="\(Self.timeline)/S[1]/@d">5</replace>
            <add sel="\(Self.timeline)"><S t="3589" d="2"/><S d="3"/></add>
            <add sel="\(Self.timeline)/S[1]" type="@n"> 7 </add>
            <add sel="/MPD/Period[1]/AdaptationSet[@id='1']/Representation[@id='b']" pos="before">\
            <Representation id="x" bandwidth="150000"/></add>
            <replace sel="/MPD/Period/AdaptationSet[@id='1']/SegmentTemplate/@startNumber">7</replace>
            <remove sel="/MPD/Period/AdaptationSet[@id=&quot;2&quot;][1]/@lang"/>
            <add sel="/MPD/Period[@id='p']" pos="after"><Period id="q" start="PT2H"/></add>
            <add sel="/MPD" pos="prepend"><BaseURL>media/</BaseURL></add>
            """
        let show = try patched(Self.patch(operations))
        let index = try show.segments(.video)
        #expect(index.map(\.text) == (7...9).map { "https://media.test/show/media/a/\($0).m4s" })
        #expect(index.map(\.start) == [3584, 3589, 3591].map { $0 * second })
        #expect(index.map(\.duration) == [5, 2, 3].map { $0 * second })
        #expect(show.variants.map(\.peakBitrate) == [100_000, 150_000, 200_000])
        #expect(show.renditions.filter { $0.kind == .audio }.map(\.language) == [nil])
        #expect(show.live?.patch?.url.secretText == "https://media.test/show/patch.mpp?n=2")
        #expect(show.live?.patch?.expiry == WallTime(milliseconds: now.milliseconds + 22_000))
        // Another patch of the same kind fits to the patched MPD only.
        let again = Self.patch("<remove sel=\"\(Self.timeline)/S[1]\"/>", original: Self.next, published: Self.next)
        let url = try address()
        #expect(try show.patched(by: Array(again.utf8), at: url, now: now).segments(.video).count == 2)
        #expect(throws: ManifestError.self) {
            try show.patched(by: Array(Self.patch(operations).utf8), at: url, now: now)
        }
    }

    @Test("An empty patch leaves the MPD as it is, and one without a publish time sets it")
    func empty() throws {
        let show = try presentation(Self.live())
        let same = try show.patched(by: [], at: address(), now: now)
        #expect(same == show)
        let later = try patched(Self.patch(""))
        #expect(later.live?.patch?.expiry == WallTime(milliseconds: now.milliseconds + 22_000))
    }

    @Test("Prefixes of the MPD's namespace do not matter")
    func prefixes() throws {
        let selector = Self.timeline.replacing("/", with: "/m:")
        let patch = """
            <p:Patch xmlns:p="urn:mpeg:dash:schema:mpd-patch:2020" xmlns:m="urn:mpeg:dash:schema:mpd:2011" mpdId="show" \
            originalPublishTime="2026-11-21T10:59:50.000+01:00" publishTime="\(Self.next)">\
            <p:add sel="\(selector)"><m:S t="3588" d="2"/></p:add></p:Patch>
            """
        #expect(try patched(patch).segments(.video).count == 4)
    }

    @Test("The server's time that an MPD tells does not age with its patches")
    func clock() throws {
        let clock = "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"2026-11-21T10:00:10Z\"/>"
        let show = try presentation(Self.live(clock + Self.body))
        let later = now.advanced(nanoseconds: 60 * second)
        let patch = Array(Self.patch("").utf8)
        let patched = try show.patched(by: patch, at: address(), now: later)
        #expect(patched.live?.origin == show.live?.origin)
        let told = Self.patch("<replace sel=\"/MPD/UTCTiming/@value\">2026-11-21T10:01:00Z</replace>")
        let corrected = try show.patched(by: Array(told.utf8), at: address(), now: later)
        #expect(corrected.live?.origin == show.live?.origin?.advanced(nanoseconds: 10 * second))
    }

    @Test(
        "A patch that does not belong to the MPD is refused",
        arguments: [
            patch("", id: "other"), patch("", original: next), patch("", published: "2026-11-21T09:59:40Z"),
            patch("", original: ""), patch("", published: "soon"),
            patch("<replace sel=\"/MPD/@publishTime\">2026-11-21T09:59:59Z</replace>"),
            patch("<replace sel=\"/MPD/@publishTime\">soon</replace>"),
            patch("").replacing("mpdId", with: "other"),
        ]
    )
    func unrelated(patch: String) throws {
        let error = manifestError { _ = try patched(patch) }
        #expect(error?.code == .unrelatedReload && error?.url == "https://media.test/show/patch.mpp", "\(patch)")
    }

    @Test(
        "A patch with an operation that cannot be applied is refused as a whole",
        arguments: [
            // Nothing, or more than one node.
            "<remove sel=\"/MPD/Period[@id='x']\"/>", "<remove sel=\"\(timeline)/S[4]\"/>",
            "<remove sel=\"\(timeline)/S\"/>", "<remove sel=\"/MPD/Period/AdaptationSet\"/>",
            "<remove sel=\"/Other\"/>",
            "<remove sel=\"/MPD[2]/Period\"/>", "<remove sel=\"/MPD/Period/@none\"/>",
            "<replace sel=\"/MPD/Period/@none\">1</replace>",
            // Operations.
            "<add sel=\"/MPD/Period\" type=\"@id\">2</add>", "<add sel=\"/MPD/Period\" type=\"id\">2</add>",
            "<add sel=\"/MPD/Period\" type=\"@\">2</add>", "<add sel=\"/MPD/Period/@id\"><a/></add>",
            "<add sel=\"/MPD/Period\" pos=\"inside\"><a/></add>", "<add sel=\"/MPD/Period\"/>",
            "<add sel=\"/MPD\" pos=\"before\"><a/></add>", "<remove sel=\"/MPD\"/>",
            "<replace sel=\"/MPD\"><MPD/></replace>", "<replace sel=\"/MPD/Period\"/>",
            "<replace sel=\"/MPD/Period\"><a/><b/></replace>", "<move sel=\"/MPD/Period\"/>", "<add><a/></add>",
            // Selectors.
            "<remove sel=\"\"/>", "<remove sel=\"/\"/>", "<remove sel=\"//Period\"/>", "<remove sel=\"/MPD/\"/>",
            "<remove sel=\"/MPD/Period[0]\"/>", "<remove sel=\"/MPD/Period[-1]\"/>",
            "<remove sel=\"/MPD/Period[last()]\"/>",
            "<remove sel=\"/MPD/Period[99999999999999999999]\"/>", "<remove sel=\"/MPD/Period[@id='p'\"/>",
            "<remove sel=\"/MPD/Period[@id=p]\"/>", "<remove sel=\"/MPD/Period[@id='p\"/>",
            "<remove sel=\"/MPD/@id/Period\"/>", "<remove sel=\"/MPD/child::Period\"/>", "<remove sel=\"id('p')\"/>",
            "<remove sel=\"/MPD/Period[1][1][1][1][1][1][1][1][1]\"/>", "<remove sel=\"@id\"/>",
            "<remove sel=\"/MPD\(String(repeating: "/*", count: 40))\"/>", "<remove sel=\"/MPD/Period | /MPD\"/>",
        ]
    )
    func refused(operation: String) throws {
        let show = try presentation(Self.live())
        let good = "<replace sel=\"/MPD/@publishTime\">\(Self.next)</replace>"
        let error = manifestError {
            _ = try show.patched(by: Array(Self.patch(good + operation).utf8), at: address(), now: now)
        }
        #expect(error?.code == .malformed, "\(operation)")
        #expect(try show.patched(by: Array(Self.patch(good).utf8), at: address(), now: now).acceptsPatches)
    }

    @Test(
        "A text that is no patch is refused",
        arguments: [
            "<MPD/>", "no patch", "<Patch", "<!DOCTYPE x><Patch/>", "#EXTM3U", patch("<remove sel=\"/MPD\"></add>"),
            "\u{0}", " ",
        ]
    )
    func noPatch(text: String) throws {
        #expect(throws: ManifestError.self) { try patched(text) }
    }

    @Test("A patch that leaves no playable MPD is refused")
    func unplayable() throws {
        let error = manifestError { _ = try patched(Self.patch("<remove sel=\"/MPD/Period\"/>")) }
        #expect(error?.code == .malformed)
        #expect(throws: ManifestError.self) { try presentation(window(0...2)).patched(by: [], at: address(), now: now) }
    }

    @Test("A patch costs no more than the limits allow")
    func limits() throws {
        var limits = ManifestLimits()
        limits.patchOperations = 3
        limits.patchSteps = 60
        limits.elements = 25
        let show = try presentation(Self.live(), limits: limits)
        func code(_ operations: String) -> ManifestError.Code? {
            manifestError { _ = try show.patched(by: Array(Self.patch(operations).utf8), at: address(), now: now) }?
                .code
        }
        let set = "<replace sel=\"/MPD/Period/@start\">PT0S</replace>"
        #expect(code(String(repeating: set, count: 3)) == nil)
        #expect(code(String(repeating: set, count: 4)) == .limitExceeded)
        let far = "<remove sel=\"\(Self.timeline)/S[9]\"/>"
        #expect(code(far) == .malformed)
        let wide = "<replace sel=\"/MPD/*/*/*/*/*[@none='']/@a\">1</replace>"
        #expect(code(wide) == .malformed)
        limits.patchSteps = 8
        let narrow = try presentation(Self.live(), limits: limits)
        let error = manifestError {
            _ = try narrow.patched(by: Array(Self.patch(wide).utf8), at: address(), now: now)
        }
        #expect(error?.code == .limitExceeded)
        // What is added counts with what is there.
        let many = String(repeating: "<S d=\"1\"/>", count: 15)
        #expect(code("<add sel=\"\(Self.timeline)\">\(many)</add>") == .limitExceeded)
        let deep = String(repeating: "<a>", count: 20) + String(repeating: "</a>", count: 20)
        limits = ManifestLimits()
        limits.depth = 22
        let shallow = try presentation(Self.live(), limits: limits)
        let nested = Self.patch("<add sel=\"\(Self.timeline)/S[1]\">\(deep)</add>")
        #expect(throws: ManifestError.self) { try shallow.patched(by: Array(nested.utf8), at: address(), now: now) }
    }
}
