import CostMeasurement
import InstrumentJSON
import Testing

@testable import InstrumentAds

@Suite("VAST responses")
struct VASTParsingTests {
    private func read(_ ads: String, version: String = "4.2") throws -> VASTResponse {
        try VASTResponse(parsing: VAST.document(ads, version: version))
    }

    @Test("A response has its ads, creatives, media files, events and clicks")
    func inLine() throws {
        let clicks = """
            <VideoClicks><ClickThrough>https://c.test/go</ClickThrough><ClickTracking>https://c.test/1</ClickTracking>
            <ClickTracking>https://c.test/2</ClickTracking></VideoClicks>
            """
        let extra = "<Expires>3600</Expires><Category authority=\"x\">IAB1</Category><Advertiser>Acme</Advertiser>"
        let ad = VAST.inLine(skip: "00:00:05", events: VAST.allEvents, extra: extra, clicks: clicks)
        let response = try read(ad)
        #expect(response.findings.isEmpty, "\(response.findings)")
        #expect(response.version == .v42)
        let found = try #require(response.ads.first)
        #expect(found.inLine?.title == "Title a")
        #expect(found.inLine?.adServingID == "srv-a")
        #expect(found.inLine?.expires == 3600)
        #expect(found.inLine?.categories == ["IAB1"])
        #expect(found.inLine?.advertiser == "Acme")
        #expect(found.impressions.map(\.secretText) == ["https://t.test/imp?ad=a&cb=[CACHEBUSTING]"])
        #expect(found.errors.map(\.secretText) == ["https://t.test/err?ad=a&code=[ERRORCODE]"])
        let linear = try #require(found.creatives.first?.linear)
        #expect(linear.duration == 20_000_000_000)
        #expect(linear.skipOffset == .time(5_000_000_000))
        #expect(linear.mediaFiles.map(\.bitrate) == [600, 2400])
        #expect(linear.mediaFiles.map(\.url.secretText) == ["https://m.test/low.mp4", "https://m.test/high.mp4"])
        #expect(linear.events.count == 18)
        #expect(linear.clickThrough?.secretText == "https://c.test/go")
        #expect(linear.clickTracking.count == 2)
        #expect(
            found.creatives.first?.universalIDs == [
                Creative.UniversalAdID(registry: "ad-id.org", value: "CNPA0484000H")
            ]
        )
    }

    @Test("Non-linear ads and companions have their resources, clicks and events")
    func otherForms() throws {
        let ad = """
            <Ad><InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle><Impression>https://t.test/i</Impression><Creatives>
            <Creative><NonLinearAds><TrackingEvents>\(VAST.event("creativeView"))</TrackingEvents>
            <NonLinear width="300" height="50" minSuggestedDuration="00:00:10"><StaticResource creativeType="image/png">https://r.test/a.png</StaticResource>
            <NonLinearClickThrough>https://r.test/go</NonLinearClickThrough></NonLinear></NonLinearAds></Creative>
            <Creative><CompanionAds><Companion width="300" height="250"><HTMLResource><![CDATA[<b>hi</b>]]></HTMLResource>
            <TrackingEvents>\(VAST.event("creativeView"))</TrackingEvents></Companion></CompanionAds></Creative>
            </Creatives></InLine></Ad>
            """
        let response = try read(ad, version: "3.0")
        #expect(response.findings.isEmpty, "\(response.findings)")
        let creatives = try #require(response.ads.first?.creatives)
        let variant = try #require(creatives.first?.nonLinear?.variants.first)
        #expect(variant.resource == .static(AdURL("https://r.test/a.png"), type: "image/png"))
        #expect(variant.minimumDuration == 10_000_000_000)
        #expect(creatives.first?.nonLinear?.events.map(\.name) == [.creativeView])
        let companion = try #require(creatives.last?.companions.first)
        #expect(companion.resources == [.html(byteCount: 9)])
        #expect(companion.events.map(\.name) == [.creativeView])
    }

    @Test("A document in UTF-8 that calls itself UTF-16 is read, as browsers do", arguments: ["utf-16", "UTF-16LE"])
    func wrongEncoding(name: String) throws {
        let text = String(decoding: VAST.document(VAST.inLine(id: "é")), as: UTF8.self).replacing("UTF-8", with: name)
        #expect(try VASTResponse(parsing: Array(text.utf8)).ads.first?.inLine?.title == "Title é")
        #expect(throws: VASTError.self) {
            try VASTResponse(parsing: Array(text.replacing(name, with: "EBCDIC").utf8))
        }
    }

    @Test(
        "The bytes 0x80 to 0x9F are characters in Windows-1252, and controls in Latin-1",
        arguments: [("Windows-1252", "€\u{81}“Ÿé"), ("ISO-8859-1", "\u{80}\u{81}\u{93}\u{9F}é")]
    )
    func eightBitEncodings(name: String, title: String) throws {
        let parts = VAST.document(VAST.inLine()).split(separator: Array("Title a".utf8), maxSplits: 1)
        try #require(parts.count == 2)
        let prolog = Array(String(decoding: parts[0], as: UTF8.self).replacing("UTF-8", with: name).utf8)
        let response = try VASTResponse(parsing: prolog + [0x80, 0x81, 0x93, 0x9F, 0xE9] + parts[1])
        #expect(response.ads.first?.inLine?.title == title)
    }

    /// The schema reads these attributes as tokens, and their values are case-sensitive.
    @Test("White space around tokens does not count; a name of an event in other letters is advised")
    func tokens() throws {
        let media = VAST.mediaFiles.replacing("\"video/mp4\"", with: "\" Video/MP4 \"")
            .replacing("\"progressive\"", with: "\" progressive\n\"")
        let others = ["Start", "midPoint", "stopped"].map { VAST.event($0) }
        let events = VAST.event(" start ", "https://t.test/start") + others.joined()
        let response = try read(VAST.inLine(events: events, media: media))
        let linear = try #require(response.ads.first?.creatives.first?.linear)
        #expect(linear.mediaFile(for: MediaProfile())?.type == "video/mp4")
        #expect(linear.events.map(\.name.rawValue) == ["start", "Start", "midPoint", "stopped"])
        #expect(
            response.findings.map(\.message) == [
                "the event `Start` is unknown; write `start`", "the event `midPoint` is unknown; write `midpoint`",
                "the event `stopped` is unknown",
            ]
        )
    }

    @Test("`<!DOCTYPE` in a CDATA section or a comment is text (XML 1.0, sections 2.5 and 2.7)")
    func documentTypeAsText() throws {
        let page = "<!DOCTYPE html><html><body>ad</body></html>"
        let companion = """
            <Creative><CompanionAds><Companion width="300" height="250"><HTMLResource><![CDATA[\(page)]]></HTMLResource>
            </Companion></CompanionAds></Creative></Creatives>
            """
        let ad = VAST.inLine().replacing("</Creatives>", with: companion)
        let response = try read("<!-- <!DOCTYPE html> <!ENTITY a \"b\"> -->" + ad)
        #expect(response.findings.isEmpty, "\(response.findings)")
        let companions = try #require(response.ads.first?.creatives.last?.companions)
        #expect(companions.first?.resources == [.html(byteCount: page.utf8.count)])
        for text in ["<VAST version=\"4.2\"><!DOCTYPE a></VAST>", "<VAST version=\"4.2\"/><!ENTITY a \"b\">"] {
            #expect(throws: VASTError.self) { try VASTResponse(parsing: Array(text.utf8)) }
        }
    }

    @Test(
        "A document that is not a supported VAST response has the code of its defect",
        arguments: [
            ("not xml", 100), ("<VAST version=\"4.2\"><Ad></VAST>", 100),
            ("<!DOCTYPE a [<!ENTITY b \"c\">]><VAST version=\"4.2\"/>", 100), ("<html/>", 101), ("<VAST/>", 101),
            ("<VideoAdServingTemplate/>", 102), ("<VAST version=\"1.0\"/>", 102), ("<VAST version=\"5.0\"/>", 102),
            ("<VAST version=\"x\"/>", 101), ("", 100),
        ] as [(String, Int)]
    )
    func unreadable(text: String, code: Int) {
        do throws(VASTError) {
            _ = try VASTResponse(parsing: Array(text.utf8))
            Issue.record("the document must be refused")
        } catch {
            #expect(error.code.rawValue == code, "\(error)")
        }
    }

    @Test(
        "A defect is found with its clause",
        arguments: [
            ("<Ad/>", "3.3"), ("<Ad sequence=\"0\"><InLine/></Ad>", "3.4.2"), (VAST.inLine(duration: "20"), "3.8.1"),
            (VAST.inLine(skip: "abc"), "3.8"), (VAST.inLine(media: "<MediaFiles/>"), "3.9"),
            (VAST.inLine(media: ""), "3.9"),
            (VAST.inLine(events: "<Tracking event=\"progress\">https://t.test/x</Tracking>"), "3.14.1"),
            (VAST.inLine(events: "<Tracking>https://t.test/x</Tracking>"), "3.14.1"),
            (VAST.inLine(id: "a", sequence: 1) + VAST.inLine(id: "b", sequence: 1), "3.3.1"),
            ("<Ad><Wrapper><Impression>https://t.test/i</Impression></Wrapper></Ad>", "3.19.1"),
            (
                VAST.inLine(
                    media:
                        "<MediaFiles><MediaFile delivery=\"x\" type=\"video/mp4\" width=\"1\" height=\"1\">https://m.test/a</MediaFile></MediaFiles>"
                ), "3.9.1"
            ),
        ] as [(String, String)]
    )
    func defects(text: String, section: String) throws {
        let errors = try read(text).findings.filter { $0.severity == .error }
        #expect(errors.contains { $0.rule.hasSuffix("section \(section)") }, "\(errors)")
    }

    @Test(
        "A version that was never published gives a warning, and the ads are read",
        arguments: [
            ("2.0", true), ("2.0.1", true), ("3.0", true), ("3", true), ("4.0", true), ("4.1", true), ("4.2", true),
            ("4.3", true), ("2.9", false), ("3.1", false), ("4.99", false),
        ]
    )
    func publishedVersions(version: String, isPublished: Bool) throws {
        let response = try read(VAST.inLine(), version: version)
        #expect(response.ads.count == 1)
        #expect(response.findings.contains { $0.message.contains("never published") } == !isPublished)
        #expect(response.findings.allSatisfy { $0.severity == .warning })
    }

    @Test("An event of a later version gives a warning, and an event of the version gives no finding")
    func eventVersions() throws {
        func warnings(_ name: String, _ version: String) throws -> Int {
            try read(VAST.inLine(events: VAST.event(name)), version: version).findings.count {
                $0.message.contains("event")
            }
        }
        for (name, from) in [
            ("fullscreen", "2.0"), ("closeLinear", "3.0"), ("playerExpand", "4.1"), ("interactiveStart", "4.2"),
        ] {
            for version in ["2.0", "3.0", "4.0", "4.1", "4.2"] {
                let expected = try #require(VASTVersion(version)) < #require(VASTVersion(from)) ? 1 : 0
                #expect(try warnings(name, version) == expected, "\(name) in \(version)")
            }
        }
        #expect(try warnings("firstQuartle", "4.2") == 1)
    }

    @Test("A wrapper allows several ads by default before VAST 3 only")
    func wrapperDefaults() throws {
        for (version, allows) in [("2.0", true), ("3.0", false), ("4.2", false)] {
            let wrapper = try #require(try read(VAST.wrapper("https://x.test/"), version: version).ads.first?.wrapper)
            #expect(wrapper.allowsMultipleAds == allows)
            #expect(wrapper.followsWrappers)
        }
    }

    @Test(
        "Times have the form of the standard",
        arguments: [
            ("00:00:05", 5_000), ("01:02:03.4", 3_723_400), ("00:00:00.123", 123), ("100:00:00", 360_000_000),
            ("5", nil),
            ("00:00", nil), ("00:60:00", nil), ("00:00:05.", nil), ("-00:00:05", nil), ("00:00:5", nil),
        ] as [(String, Int64?)]
    )
    func times(text: String, milliseconds: Int64?) {
        #expect(AdTime.nanoseconds(text) == milliseconds.map { $0 * 1_000_000 })
    }

    @Test("Ten thousand ads in a pod are cut to the limit, in linear time")
    func hugePod() throws {
        let ads = (1...10_000).map { (number: Int) in VAST.inLine(id: "\(number)", sequence: number) }.joined()
        var limits = AdLimits()
        (limits.bytes, limits.elements) = (64 << 20, 1_000_000)
        let response = try VASTResponse(parsing: VAST.document(ads), limits: limits)
        #expect(response.ads.count == limits.ads)
        #expect(response.findings.contains { $0.code == 200 })
        // By default such a response is refused as a whole.
        #expect(throws: VASTError.self) { try VASTResponse(parsing: VAST.document(ads)) }
    }

    @Test(
        "Reading a response costs time in proportion to its size",
        arguments: [
            "ads", "events", "impressions", "files", "brackets", "attributes",
        ]
    )
    func cost(shape: String) throws {
        var limits = AdLimits()
        (limits.bytes, limits.textBytes, limits.elements) = (.max, .max, .max)
        (limits.ads, limits.addresses, limits.creatives) = (.max, .max, .max)
        let growth = try CostGrowth.measure(
            from: 60,
            making: { Self.document(shape, $0) },
            { bytes in
                do { _ = try VASTResponse(parsing: bytes, limits: limits) } catch is VASTError {}
            }
        )
        #expect(growth.isLinear, "\(growth)")
    }

    private static func document(_ shape: String, _ count: Int) -> [UInt8] {
        let copies = { (text: String) in String(repeating: text, count: count) }
        switch shape {
        case "ads": return VAST.document((0..<count).map { VAST.inLine(id: "\($0)", sequence: $0 + 1) }.joined())
        case "events": return VAST.document(VAST.inLine(events: copies(VAST.allEvents)))
        case "impressions":
            return VAST.document(VAST.inLine(extra: copies("<Impression>https://a.test/[X]</Impression>")))
        case "files":
            return VAST.document(
                VAST.inLine(media: "<MediaFiles>" + copies("<MediaFile>https://a</MediaFile>") + "</MediaFiles>")
            )
        case "brackets": return VAST.document("<Error>https://a.test/" + copies("[[[[[[[[[[A]%%%%%%%%") + "</Error>")
        default: return VAST.document("<Ad " + (0..<count).map { "a\($0)=\"x\" " }.joined() + "/>")
        }
    }

    @Test("A response that is cut anywhere is refused or read, and never traps")
    func cut() throws {
        let bytes = VAST.document(VAST.inLine(skip: "20%", events: VAST.allEvents))
        for length in stride(from: 0, to: bytes.count, by: 7) {
            do { _ = try VASTResponse(parsing: Array(bytes.prefix(length))) } catch { #expect(error.code == .xml) }
        }
    }

    @Test("The description of an address ends before its query")
    func redaction() {
        #expect(AdURL("https://u:secret@t.test/p?token=secret").description == "https://t.test/p")
        #expect(
            String(reflecting: AdBeacon(kind: .impression, url: AdURL("https://t.test/p?token=secret"), playhead: 0))
                .contains("secret") == false
        )
    }
}

@Suite("Choice of an ad's media file")
struct MediaProfileTests {
    private func linear(
        _ files: [(delivery: MediaFile.Delivery, type: String, bitrate: Int?, width: Int, api: String?)]
    ) -> LinearCreative {
        var linear = LinearCreative()
        linear.mediaFiles = files.enumerated().map { index, file in
            MediaFile(
                url: AdURL("https://m.test/\(index)"),
                delivery: file.delivery,
                type: file.type,
                width: file.width,
                height: file.width / 2,
                bitrate: file.bitrate,
                maxBitrate: nil,
                codec: nil,
                apiFramework: file.api
            )
        }
        return linear
    }

    @Test(
        "A media file of this machine, or of another scheme, is no media file",
        arguments: [
            "file:///etc/hostname", "/etc/hostname", "FILE:/etc/hostname", "data:video/mp4;base64,AAAA",
            "ftp://m.test/a.mp4",
            "concat:/etc/hostname", "a.mp4",
        ]
    )
    func foreignSchemes(address: String) throws {
        let file =
            "<MediaFile delivery=\"progressive\" type=\"video/mp4\" width=\"1\" height=\"1\">\(address)</MediaFile>"
        let response = try VASTResponse(
            parsing: VAST.document(VAST.inLine(media: "<MediaFiles>\(file)</MediaFiles>"))
        )
        let ad = ResolvedAd(ad: try #require(response.ads.first), wrappers: [], version: response.version)
        #expect(ad.linear?.mediaFile(for: MediaProfile()) == nil)
        #expect(response.findings.contains { $0.message.contains("http or https") })
    }

    @Test("A stream comes first, then the best progressive file within the limits, then the smallest file")
    func order() {
        let files = linear([
            (.progressive, "video/mp4", 500, 640, nil), (.progressive, "video/mp4", 2_000, 1280, nil),
            (.progressive, "video/x-flv", 9_000, 1280, nil),
            (.progressive, "application/javascript", nil, 1280, "VPAID"),
        ])
        #expect(files.mediaFile(for: MediaProfile())?.url.secretText == "https://m.test/1")
        #expect(files.mediaFile(for: MediaProfile(maximumBitrate: 1_000))?.url.secretText == "https://m.test/0")
        #expect(files.mediaFile(for: MediaProfile(maximumWidth: 700))?.url.secretText == "https://m.test/0")
        #expect(files.mediaFile(for: MediaProfile(maximumBitrate: 100))?.url.secretText == "https://m.test/0")
        var stream = files
        stream.mediaFiles += linear([(.streaming, "application/x-mpegurl", nil, 1920, nil)]).mediaFiles
        #expect(stream.mediaFile(for: MediaProfile(maximumBitrate: 100))?.delivery == .streaming)
        let programs = linear([(.progressive, "video/mp4", 100, 10, "VPAID")])
        #expect(programs.mediaFile(for: MediaProfile()) == nil)
    }
}
