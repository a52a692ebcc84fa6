import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentRules

/// Attributes that a tag must have, or must not have beside others (RFC 8216bis sections 4.4.2.3 and 4.4.6).
@Suite("Attributes that tags must have")
struct AttributePresenceTests {
    private static let captions = "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"n\""
    private static let subtitles = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"n\""
    private static let audio = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\""

    private static let wrongLines: [(String, String)] = [
        (captions, "EXT-X-MEDIA of TYPE=CLOSED-CAPTIONS without INSTREAM-ID"),
        ("\(captions),INSTREAM-ID=\"CC5\"", "`INSTREAM-ID=\"CC5\"` in EXT-X-MEDIA"),
        ("\(captions),INSTREAM-ID=\"SERVICE64\"", "`INSTREAM-ID=\"SERVICE64\"` in EXT-X-MEDIA"),
        ("\(captions),INSTREAM-ID=\"SERVICE0\"", "`INSTREAM-ID=\"SERVICE0\"` in EXT-X-MEDIA"),
        ("\(captions),INSTREAM-ID=\"CC1\",URI=\"c.m3u8\"", "URI in EXT-X-MEDIA of TYPE=CLOSED-CAPTIONS"),
        ("\(captions),INSTREAM-ID=\"CC1\",FORCED=NO", "FORCED in EXT-X-MEDIA of TYPE=CLOSED-CAPTIONS"),
        (subtitles, "EXT-X-MEDIA of TYPE=SUBTITLES without URI"),
        ("\(audio),FORCED=YES", "FORCED in EXT-X-MEDIA of TYPE=AUDIO"),
        ("\(audio),DEFAULT=YES,AUTOSELECT=NO", "AUTOSELECT=NO beside DEFAULT=YES"),
        ("#EXT-X-SESSION-DATA:DATA-ID=\"d\"", "EXT-X-SESSION-DATA without VALUE or URI"),
        ("#EXT-X-SESSION-DATA:DATA-ID=\"d\",VALUE=\"v\",URI=\"u\"", "VALUE beside URI in EXT-X-SESSION-DATA"),
        ("#EXT-X-SESSION-DATA:DATA-ID=\"d\",URI=\"u\",FORMAT=XML", "`FORMAT=XML` in EXT-X-SESSION-DATA"),
        ("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\",IMPORT=\"c\"", "NAME beside IMPORT in EXT-X-DEFINE"),
    ]

    private static let legalLines: [String] = [
        "\(captions),INSTREAM-ID=\"CC4\"", "\(captions),INSTREAM-ID=\"SERVICE63\",DEFAULT=YES",
        "\(subtitles),URI=\"s.m3u8\",FORCED=YES,DEFAULT=YES,AUTOSELECT=YES", "\(audio),DEFAULT=NO,AUTOSELECT=NO",
        "\(audio),URI=\"a.m3u8\"", "#EXT-X-SESSION-DATA:DATA-ID=\"d\",URI=\"u\",FORMAT=RAW",
        "#EXT-X-SESSION-DATA:DATA-ID=\"d\",VALUE=\"v\",LANGUAGE=\"en\"\n#EXT-X-SESSION-DATA:DATA-ID=\"d\",VALUE=\"w\",LANGUAGE=\"fr\"",
        "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,HDCP-LEVEL=TYPE-1,URI=\"i.m3u8\"",
    ]

    private func found(_ text: String, at path: String = "m.m3u8") throws -> [String] {
        var run = RuleRun()
        run.observe(try fetched(text, 0, path), as: .root)
        return run.findings.map { "\($0.rule) \($0.problem.found)" }
    }

    private func master(_ lines: String...) -> String {
        "#EXTM3U\n#EXT-X-VERSION:11\n\(lines.joined(separator: "\n"))\n#EXT-X-STREAM-INF:BANDWIDTH=300000\nv.m3u8\n"
    }

    @Test(
        "A tag of a multivariant playlist has the attributes that its type needs, and no others",
        arguments: wrongLines
    )
    func wrong(line: String, words: String) throws {
        #expect(try found(master(line)) == ["playlist-attribute-invalid \(words)"])
    }

    @Test(
        "What a type may have is no fault",
        arguments: legalLines
    )
    func legal(line: String) throws {
        #expect(try found(master(line)) == [])
    }

    @Test("Session data of one identifier and language are there once", arguments: ["", ",LANGUAGE=\"en\""])
    func sessionData(language: String) throws {
        let tag = "#EXT-X-SESSION-DATA:DATA-ID=\"d\",VALUE=\"v\"\(language)"
        var run = RuleRun()
        run.observe(try fetched(master(tag, tag, tag), 0, "m.m3u8"), as: .root)
        #expect(run.findings.map(\.problem.found) == ["a second EXT-X-SESSION-DATA of `d` and the same LANGUAGE"])
        #expect(run.findings.map(\.problem.line) == [4] && run.findings.map(\.rule) == ["playlist-attribute-invalid"])
    }

    @Test("A level of protection is one that exists")
    func protection() throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=300000,HDCP-LEVEL=TYPE-2\nv.m3u8\n"
        #expect(try found(text) == ["playlist-attribute-invalid `HDCP-LEVEL=TYPE-2` in EXT-X-STREAM-INF"])
    }

    @Test(
        "Where one variant says that there are no captions, all of them say so",
        arguments: [
            ([",CLOSED-CAPTIONS=NONE", ",CLOSED-CAPTIONS=NONE"], nil), (["", ""], nil),
            ([",CLOSED-CAPTIONS=NONE", ""], "a variant without CLOSED-CAPTIONS"),
            ([",CLOSED-CAPTIONS=\"c\"", ",CLOSED-CAPTIONS=NONE"], "CLOSED-CAPTIONS=\"c\""),
            ([",CLOSED-CAPTIONS=\"c\"", ""], nil),
        ] as [([String], String?)]
    )
    func noCaptions(attributes: [String], words: String?) throws {
        let variants = attributes.enumerated().map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)00000\($1)\n\($0).m3u8\n" }
        let found = try found("#EXTM3U\n\(Self.captions),INSTREAM-ID=\"CC1\"\n\(variants.joined())")
        #expect(found == (words.map { ["rendition-group-members-differ \($0)"] } ?? []))
    }

    @Test("A variable without a value is called that")
    func variable() throws {
        let found = try found(master("#EXT-X-DEFINE:NAME=\"a\""))
        #expect(found.count == 1 && found[0].hasPrefix("playlist-malformed "), "\(found)")
        #expect(found[0].contains("found NAME without VALUE"), "\(found)")
    }
}
