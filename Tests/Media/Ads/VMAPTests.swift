import InstrumentHTTP
import Testing

@testable import InstrumentAds

@Suite("VMAP documents")
struct VMAPTests {
    static func document(_ breaks: String, version: String = "1.0") -> [UInt8] {
        Array("<vmap:VMAP xmlns:vmap=\"http://www.iab.net/vmap-1.0\" version=\"\(version)\">\(breaks)</vmap:VMAP>".utf8)
    }

    static func adBreak(_ offset: String, type: String = "linear", attributes: String = "", source: String) -> String {
        """
        <vmap:AdBreak timeOffset="\(offset)" breakType="\(type)" breakId="b\(offset)" \(attributes)>
        <vmap:AdSource id="1" allowMultipleAds="true">\(source)</vmap:AdSource>
        <vmap:TrackingEvents><vmap:Tracking event="breakStart">https://t.test/begin</vmap:Tracking>
        <vmap:Tracking event="breakEnd">https://t.test/end</vmap:Tracking>
        <vmap:Tracking event="error">https://t.test/error?[ERRORCODE]</vmap:Tracking></vmap:TrackingEvents></vmap:AdBreak>
        """
    }

    private let tag = "<vmap:AdTagURI templateType=\"vast3\"><![CDATA[https://a.test/0]]></vmap:AdTagURI>"

    @Test(
        "A break behind the end of the content is no post-roll; one at the end is",
        arguments: [
            ("00:10:00", 4_000, "mid", true), ("00:00:05", 4_000, "mid", true), ("00:00:04", 4_000, "post", false),
            ("00:00:04", 3_960, "post", false), ("00:00:03.999", 4_000, "mid", false), ("end", 4_000, "post", false),
            ("100%", 4_000, "post", false), ("start", 0, "pre", false), ("#7", 4_000, "mid", false),
        ]
    )
    func behindTheEnd(time: String, duration: Int64, role: String, isBehind: Bool) throws {
        let adBreak = AdBreak(time: try #require(AdBreak.Time(time)), kinds: [.linear])
        #expect(adBreak.role(in: duration * 1_000_000) == role)
        #expect(adBreak.isBehindEnd(of: duration * 1_000_000) == isBehind)
        #expect(!adBreak.isBehindEnd(of: nil))
    }

    @Test("A response inside the document may have another prefix than the document, or none")
    func prefixes() throws {
        let plain = String(decoding: VAST.document(VAST.inLine()).dropFirst(39), as: UTF8.self)
        let prefixed = plain.replacing("</", with: "</v:").replacing("<", with: "<v:")
            .replacing("<v:/v:", with: "</v:").replacing("<v:![CDATA", with: "<![CDATA")
            .replacing("<v:VAST", with: "<v:VAST xmlns:v=\"http://www.iab.com/VAST\"")
        let breaks = [plain, prefixed].map {
            Self.adBreak("start", source: "<vmap:VASTAdData>\($0)</vmap:VASTAdData>")
        }
        let document = try VMAPDocument(parsing: Self.document(breaks.joined()))
        #expect(document.findings.isEmpty, "\(document.findings)")
        let responses = document.breaks.compactMap { adBreak -> VASTResponse? in
            if case .response(let response) = adBreak.source { response } else { nil }
        }
        try #require(responses.count == 2)
        #expect(responses[0].ads.count == 1 && responses[1].ads == responses[0].ads)
        #expect(responses.allSatisfy { $0.findings.isEmpty }, "\(responses.map(\.findings))")
    }

    @Test("A response that stands as text in `VASTAdData` is read with a warning, and an empty source is an error")
    func textOfResponse() throws {
        let response = String(decoding: VAST.document(VAST.inLine()), as: UTF8.self)
        let inner = response.replacing("]]>", with: "]]]]><![CDATA[>")
        let text = "<vmap:VASTAdData><![CDATA[\(inner)]]></vmap:VASTAdData>"
        let document = try VMAPDocument(parsing: Self.document(Self.adBreak("start", source: text)))
        #expect(document.findings.map(\.severity) == [.warning], "\(document.findings)")
        guard case .response(let found) = document.breaks.first?.source else {
            Issue.record("the source must be a response")
            return
        }
        #expect(found.ads.count == 1)
        for source in ["", "<vmap:VASTAdData/>", "<vmap:AdTagURI templateType=\"vast3\"/>"] {
            let document = try VMAPDocument(parsing: Self.document(Self.adBreak("start", source: source)))
            #expect(document.findings.count { $0.severity == .error } == 1, "\(source): \(document.findings)")
        }
    }

    @Test("The version is 1, with or without a fraction", arguments: ["1", "1.0", "1.0.1", " 1.0 "])
    func versions(version: String) throws {
        let text = Self.adBreak("start", source: tag)
        #expect(try VMAPDocument(parsing: Self.document(text, version: version)).breaks.count == 1)
    }

    @Test("Breaks have their times, types, sources and events")
    func breaks() throws {
        let inner =
            "<vmap:VASTAdData>\(String(decoding: VAST.document(VAST.inLine()).dropFirst(39), as: UTF8.self))</vmap:VASTAdData>"
        let text = [
            Self.adBreak("start", source: tag), Self.adBreak("00:10:23.125", type: "linear, nonlinear", source: inner),
            Self.adBreak("50%", attributes: "repeatAfter=\"00:05:00\"", source: tag),
            Self.adBreak("#2", type: "display", source: tag),
            Self.adBreak("end", source: "<vmap:CustomAdData templateType=\"proprietary\">x</vmap:CustomAdData>"),
        ].joined()
        let document = try VMAPDocument(parsing: Self.document(text))
        #expect(document.findings.isEmpty, "\(document.findings)")
        #expect(
            document.breaks.map(\.time) == [
                .start, .offset(.time(623_125_000_000)), .offset(.percent(50)), .position(2), .end,
            ]
        )
        #expect(document.breaks[1].kinds == [.linear, .nonLinear])
        #expect(document.breaks[2].repeatAfter == 300_000_000_000)
        #expect(document.breaks[0].source == .tag(AdURL("https://a.test/0")))
        guard case .response(let response) = document.breaks[1].source else {
            Issue.record("the source must be a response (found \(String(describing: document.breaks[1].source)))")
            return
        }
        #expect(response.ads.count == 1)
        #expect(document.breaks[4].source == .custom(template: "proprietary"))
        #expect(document.breaks[0].startURLs.map(\.secretText) == ["https://t.test/begin"])
        #expect(document.breaks[0].endURLs.count == 1 && document.breaks[0].errorURLs.count == 1)
        #expect(document.breaks.map { $0.role(in: 3_600_000_000_000) } == ["pre", "mid", "mid", "mid", "post"])
    }

    @Test("The time of a break is a position in the content")
    func positions() {
        let duration: Int64 = 200_000_000_000
        let marks: [Int64] = [5, 9]
        #expect(AdBreak.Time("start")?.nanoseconds(of: duration) == 0)
        #expect(AdBreak.Time("end")?.nanoseconds(of: duration) == duration)
        #expect(AdBreak.Time("25%")?.nanoseconds(of: duration) == duration / 4)
        #expect(AdBreak.Time("25%")?.nanoseconds(of: nil) == nil)
        #expect(AdBreak.Time("#2")?.nanoseconds(of: duration, marks: marks) == 9)
        #expect(AdBreak.Time("#3")?.nanoseconds(of: duration, marks: marks) == nil)
        for text in ["", "#0", "#-1", "101%", "10", "begin", "00:00"] { #expect(AdBreak.Time(text) == nil, "\(text)") }
    }

    @Test("Defects of a document have their clause")
    func defects() throws {
        for (text, section) in [
            (Self.adBreak("never", source: tag), "2.3.3"), (Self.adBreak("start", type: "video", source: tag), "2.3.3"),
            (Self.adBreak("start", source: ""), "2.3.4"),
            (Self.adBreak("start", source: "<vmap:VASTAdData/>"), "2.3.4.1"),
            (Self.adBreak("start", attributes: "repeatAfter=\"x\"", source: tag), "2.3.3"),
        ] {
            let errors = try VMAPDocument(parsing: Self.document(text)).findings.filter { $0.severity == .error }
            #expect(errors.contains { $0.rule == "VMAP 1.0, section \(section)" }, "\(errors)")
        }
        #expect(throws: VASTError.self) { try VMAPDocument(parsing: Self.document("", version: "2.0")) }
        #expect(throws: VASTError.self) { try VMAPDocument(parsing: VAST.document("")) }
        let many = try VMAPDocument(
            parsing: Self.document((0..<1_000).map { Self.adBreak("00:00:\($0 % 50 + 10)", source: tag) }.joined())
        )
        #expect(many.breaks.count == AdLimits().breaks)
        #expect(many.findings.contains { $0.code == 200 })
    }

    @Test("A break without an ad calls its error address with the code")
    func noAd() async throws {
        let document = try VMAPDocument(parsing: Self.document(Self.adBreak("start", source: tag)))
        let empty = ScriptedFetcher(["https://a.test/0": VAST.document("")])
        let selection = await AdResolver(empty).ads(of: document.breaks[0], at: nil)
        #expect(selection.ads.isEmpty)
        #expect(selection.failures.last?.code == .noAds)
        #expect(selection.failures.last?.urls.map(\.secretText) == ["https://t.test/error?[ERRORCODE]"])
    }
}
