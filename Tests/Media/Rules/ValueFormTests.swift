import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import Testing

/// Values and lines in a form that the standards do not have, each found once and as what it is.
@Suite("The forms of values and lines")
struct ValueFormTests {
    private func found(_ text: String, at path: String = "v.m3u8") throws -> [String] {
        var run = RuleRun()
        run.observe(try fetched(text, 0, path), as: .root)
        return run.findings.map { "\($0.rule) \($0.problem.found)" }
    }

    private func media(_ head: String = "", segments: String = "#EXTINF:6,\na.ts\n#EXTINF:6,\nb.ts\n") -> String {
        "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:6\n\(head)\(segments)#EXT-X-ENDLIST\n"
    }

    private func master(_ lines: String) -> String { "#EXTM3U\n\(lines)" }

    @Test(
        "A line that most players read nevertheless is a warning",
        arguments: [
            (" #EXT-X-START:TIME-OFFSET=1\n", "a tag with white space"),
            ("#EXT-X-START: TIME-OFFSET=1\n", "a tag with white space"),
            ("#EXT-X-START:TIME-OFFSET=1, PRECISE=YES\n", "white space around a comma"),
            ("#EXT-X-START:TIME-OFFSET =1\n", "white space around a comma"),
            ("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00\n", "`2026-01-01T00:00:00`"),
            ("#EXT-X-PROGRAM-DATE-TIME:2026-01-01 00:00:00Z\n", "`2026-01-01 00:00:00Z`"),
            ("#EXT-X-PROGRAM-DATE-TIME:2026-02-30T00:00:00Z\n", "`2026-02-30T00:00:00Z`"),
            ("#EXT-X-PROGRAM-DATE-TIME:2026-02-29T00:00:00Z\n", "`2026-02-29T00:00:00Z`"),
            ("#EXT-X-PROGRAM-DATE-TIME:2026-04-31T00:00:00Z\n", "`2026-04-31T00:00:00Z`"),
        ]
    )
    func loose(line: String, words: String) throws {
        let found = try found(media(line))
        #expect(found.count == 1 && found[0].hasPrefix("playlist-loose \(words)"), "\(found)")
    }

    @Test(
        "A duration is a decimal number and a comma",
        arguments: [
            ("6,", false), ("6.000,a title, with a comma", false), ("6", true), ("6e0,", true), ("+6,", true),
            ("6 ,", true),
        ]
    )
    func durations(text: String, isLoose: Bool) throws {
        let found = try found(media(segments: "#EXTINF:\(text)\na.ts\n#EXTINF:\(text)\nb.ts\n"))
        #expect(found == (isLoose ? ["playlist-loose `EXTINF:\(text)`"] : []), "\(found)")
    }

    @Test(
        "Lines in the form of the standard break no rule",
        arguments: [
            "#EXT-X-START:TIME-OFFSET=11.9\n", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000+0100\n",
            "#EXT-X-PROGRAM-DATE-TIME:2028-02-29T00:00:00Z\n", "#EXT-X-PROGRAM-DATE-TIME:2026-12-31T00:00:00Z\n",
            "#EXT-X-DATERANGE:ID=\"a, b\",START-DATE=\"2026-01-01T00:00:00Z\"\n"
                + "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n",
            "# a comment : with spaces\n", "\n",
        ]
    )
    func strict(line: String) throws { #expect(try found(media(line)) == []) }

    @Test(
        "A start outside the playlist is found, and one that is no number",
        arguments: [
            ("TIME-OFFSET=12", "start-outside a TIME-OFFSET of 12 s in a playlist of 12 s"),
            ("TIME-OFFSET=1000,PRECISE=YES", "start-outside a TIME-OFFSET of 1000 s in a playlist of 12 s"),
            ("TIME-OFFSET=-12.5", "start-outside a TIME-OFFSET of -12.5 s in a playlist of 12 s"),
            ("TIME-OFFSET=NaN", "playlist-attribute-invalid `TIME-OFFSET=NaN` in EXT-X-START"),
            ("TIME-OFFSET=1e400", "playlist-attribute-invalid `TIME-OFFSET=1e400` in EXT-X-START"),
            ("PRECISE=YES", "playlist-attribute-invalid EXT-X-START without TIME-OFFSET"),
            ("TIME-OFFSET=-12", nil), ("TIME-OFFSET=0", nil), ("TIME-OFFSET=-0", nil), ("TIME-OFFSET=11.9", nil),
        ] as [(String, String?)]
    )
    func starts(attributes: String, finding: String?) throws {
        let found = try found(media("#EXT-X-START:\(attributes)\n"))
        #expect(found == (finding.map { [$0] } ?? []), "\(found)")
    }

    @Test(
        "A start of a live stream is at least three target durations before its end",
        arguments: [
            (-18, nil), (-17, "a TIME-OFFSET of -17 s in a playlist of 24 s"), (6, nil), (0, nil),
            (7, "a TIME-OFFSET of 7 s in a playlist of 24 s"), (-25, "a TIME-OFFSET of -25 s in a playlist of 24 s"),
        ] as [(Int, String?)]
    )
    func liveStarts(offset: Int, finding: String?) throws {
        var run = RuleRun(rules: [.startOutside])
        let text = live(10, head: "#EXT-X-START:TIME-OFFSET=\(offset)\n")
        run.observe(try fetched(text, 0), as: .root)
        #expect(run.findings.map(\.problem.found) == (finding.map { [$0] } ?? []))
    }

    @Test("A start of the multivariant playlist outside its media is found once, and wins over that of a rendition")
    func startOfAll() throws {
        var run = RuleRun(rules: [.startOutside])
        let variants = "#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nw.m3u8\n"
        run.observe(try fetched("#EXTM3U\n#EXT-X-START:TIME-OFFSET=60\n\(variants)", 0, "m.m3u8"), as: .root)
        for rendition in run.history.presentation?.renditions ?? [] {
            guard case .playlist(let url) = rendition.source else { continue }
            let text = media("#EXT-X-START:TIME-OFFSET=99\n")
            run.observe(try fetched(text, 0, String(url.path.dropFirst())), as: .rendition(rendition.id.description))
        }
        #expect(run.findings.map(\.problem.found) == ["a TIME-OFFSET of 60 s in a playlist of 12 s"])
        #expect(run.findings.first?.problem.advice == "Correct EXT-X-START of the multivariant playlist.")
    }

    @Test(
        "An attribute that cannot be read, is twice there, or is missing breaks a rule",
        arguments: [
            ("BANDWIDTH=300000,CODECS=avc1.42c00b", "`CODECS=avc1.42c00b` in EXT-X-STREAM-INF"),
            (
                "BANDWIDTH=300000,CODECS=\"avc1.42c00b",
                "attributes of EXT-X-STREAM-INF that cannot be read to their end"
            ),
            (
                "BANDWIDTH=300000,X-NAME=\"a \"b\"c\",FRAME-RATE=25.0",
                "attributes of EXT-X-STREAM-INF that cannot be read to their end"
            ),
            (
                "BANDWIDTH=300000,X-NAME=\"a\"b,FRAME-RATE=25.0",
                "attributes of EXT-X-STREAM-INF that cannot be read to their end"
            ),
            ("BANDWIDTH=300000,BANDWIDTH=1", "a second BANDWIDTH in EXT-X-STREAM-INF"),
            ("BANDWIDTH=300000,VIDEO-RANGE=HDR10", "`VIDEO-RANGE=HDR10` in EXT-X-STREAM-INF"),
            ("BANDWIDTH=300000,AVERAGE-BANDWIDTH=900000", "AVERAGE-BANDWIDTH=900000"),
            ("bandwidth=300000,CODECS=\"avc1.42c00b\"", "`bandwidth` in EXT-X-STREAM-INF"),
            ("BANDWIDTH=300000,Codecs=\"avc1.42c00b\"", "`Codecs` in EXT-X-STREAM-INF"),
        ]
    )
    func attributes(list: String, words: String) throws {
        let found = try found(master("#EXT-X-STREAM-INF:\(list)\nv.m3u8\n"))
        #expect(found == ["playlist-attribute-invalid \(words)"])
    }

    @Test(
        "A tag without the name that it must have breaks a rule",
        arguments: [
            ("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",URI=\"a.m3u8\"\n", "EXT-X-MEDIA without NAME"),
            ("#EXT-X-SESSION-DATA:VALUE=\"x\"\n", "EXT-X-SESSION-DATA without DATA-ID"),
        ]
    )
    func required(line: String, words: String) throws {
        let found = try found(master("\(line)#EXT-X-STREAM-INF:BANDWIDTH=300000,AUDIO=\"a\"\nv.m3u8\n"))
        #expect(found.contains("playlist-attribute-invalid \(words)"), "\(found)")
    }

    @Test("A language is a tag of RFC 5646", arguments: [("en", false), ("pt-BR", false), ("English language", true)])
    func languages(language: String, isLoose: Bool) throws {
        let line = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",LANGUAGE=\"\(language)\",URI=\"a.m3u8\"\n"
        let found = try found(master("\(line)#EXT-X-STREAM-INF:BANDWIDTH=300000,AUDIO=\"a\"\nv.m3u8\n"))
        #expect(found == (isLoose ? ["playlist-loose `LANGUAGE=\"\(language)\"`"] : []))
    }

    @Test(
        "A tag that a playlist has once is not there twice, and a version is one that exists",
        arguments: [
            ("#EXT-X-VERSION:8\n", "a second EXT-X-VERSION"),
            ("#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MEDIA-SEQUENCE:7\n", "a second EXT-X-MEDIA-SEQUENCE"),
            ("#EXT-X-MEDIA-SEQUENCE:99999999999999999999999\n", "`EXT-X-MEDIA-SEQUENCE:99999999999999999999999`"),
        ]
    )
    func tags(lines: String, words: String) throws {
        #expect(try found(media(lines)) == ["playlist-attribute-invalid \(words)"])
    }

    @Test("A version that does not exist, and a target duration beyond all sense, are named", arguments: ["99", "0"])
    func versions(version: String) throws {
        let text = media().replacing("#EXT-X-VERSION:8", with: "#EXT-X-VERSION:\(version)")
        #expect(try found(text).contains("playlist-attribute-invalid `EXT-X-VERSION:\(version)`"))
        let long = media().replacing("TARGETDURATION:6", with: "TARGETDURATION:99999999999999999999")
        #expect(try found(long) == ["playlist-attribute-invalid `EXT-X-TARGETDURATION:99999999999999999999`"])
    }

    @Test(
        "A codec string without its profile, or of no codec, is one finding, whatever the media is",
        arguments: [("avc1", "without profile and level (`avc1`)"), ("h264", "that names no known codec (`h264`)")]
    )
    func codecs(codec: String, words: String) throws {
        let found = try found(master("#EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS=\"\(codec)\"\nv.m3u8\n"))
        #expect(found == ["codecs-unknown a codec string \(words)"])
    }

    @Test(
        "A body that is nearly a playlist is named as what it is",
        arguments: [
            ("\n#EXTM3U\n#EXTINF:6,\na.ts\n", "white space before #EXTM3U"),
            ("#EXTM3U\r#EXTINF:6,\ra.ts\r", "an HLS playlist whose lines end with CR alone"),
            ("#EXTM3U8\n#EXTINF:6,\na.ts\n", "the first line `#EXTM3U8`"),
            ("#EXTM3Uhttp://a/?token=s\n#EXTINF:6,\na.ts\n", "a first line of more than #EXTM3U"),
        ]
    )
    func beginnings(text: String, words: String) throws {
        #expect(try found(text) == ["playlist-malformed \(words)"])
        var wide = try fetched("", 0)
        wide.bytes = [0xFF, 0xFE] + "#EXTM3U\n#EXTINF:6,\na.ts\n".utf8.flatMap { [$0, 0] }
        var run = RuleRun()
        run.observe(wide, as: .root)
        #expect(run.findings.map(\.problem.found) == ["an HLS playlist in UTF-16"])
    }

    // MARK: MPDs

    private func manifest(_ attributes: String = "", set: String = "mimeType=\"video/mp4\"", name: String = "2011")
        -> String
    {
        """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:\(name)" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
        mediaPresentationDuration="PT6S" minBufferTime="PT2S"><Period><AdaptationSet \(set)>\
        <SegmentTemplate timescale="1" duration="2" media="$Number$.m4s"/>\
        <Representation bandwidth="300000" \(attributes)/></AdaptationSet></Period></MPD>
        """
    }

    @Test(
        "A value of an MPD in another form is named",
        arguments: [
            ("id=\"v 1\"", "mimeType=\"video/mp4\"", "`id=\"v 1\"` in `Representation`"),
            ("id=\"v\"", "mimeType=\"movie\"", "`mimeType=\"movie\"` in `AdaptationSet`"),
            ("id=\"v\" sar=\"1/1\"", "mimeType=\"video/mp4\"", "`sar=\"1/1\"` in `Representation`"),
            ("id=\"v\"", "mimeType=\"video/mp4\" par=\"wide\"", "`par=\"wide\"` in `AdaptationSet`"),
        ]
    )
    func manifests(attributes: String, set: String, words: String) throws {
        // Nothing of a set without a known type can be played.
        let found = try found(manifest(attributes, set: set), at: "v.mpd").filter { !$0.contains("cannot be played") }
        #expect(found == ["mpd-attribute-invalid \(words)"])
    }

    @Test(
        "What came in the place of an MPD is named, and never called a playlist",
        arguments: [
            ("<!DOCTYPE html><html><body><br></body></html>", "an HTML page"), ("{\"error\":1}", "JSON"),
            ("", "an empty body"), ("Not found", "other text"), ("\u{1F}\u{1}", "other binary data"),
            ("#EXT\n# http://a.example/\n", "other text"),
        ]
    )
    func replacements(text: String, words: String) throws {
        #expect(try found(text, at: "v.mpd") == ["mpd-malformed \(words)"])
        #expect(try found(text, at: "v.m3u8") == ["playlist-malformed \(words)"])
    }

    @Test("Each fault of ad signals is a finding, whose occurrences and reloads are counted")
    func adSignals() throws {
        let text = media(
            segments: """
                #EXT-X-CUE-IN
                #EXTINF:6,
                a.ts
                #EXT-OATCLS-SCTE35:AAAA
                #EXTINF:6,
                b.ts
                #EXT-OATCLS-SCTE35:AAAA
                #EXT-X-CUE-OUT:x
                #EXTINF:6,
                c.ts

                """
        )
        var run = RuleRun()
        for reload in 1...2 {
            run.observe(try fetched(text, reload), as: .root)
            #expect(run.findings.allSatisfy { $0.rule == "ad-signal-wrong" })
            #expect(Set(run.findings.map(\.problem.found)).count == 4 && run.findings.count == 4)
            #expect(run.findings.map(\.count).sorted() == [1, 1, 1, 2].map { $0 * reload })
            #expect(Set(run.findings.compactMap(\.problem.line)) == [4, 7, 11])
        }
    }

    @Test(
        "An interstitial that no player can play is a finding, and one that breaks the rules of all date ranges is theirs",
        arguments: [
            ("X-ASSET-URI=\"a.m3u8\"", nil), ("X-RESTRICT=\"SKIP\"", "X-ASSET-LIST (found none)"),
            ("X-ASSET-URI=\"a.m3u8\",X-ASSET-LIST=\"b.json\"", "X-ASSET-LIST (found both)"),
            ("X-ASSET-URI=\"a.m3u8\",CUE=\"PRE,POST\"", "`CUE` must not have PRE and POST"),
        ] as [(String, String?)]
    )
    func interstitials(attributes: String, words: String?) throws {
        func text(_ more: String) -> String {
            media(
                "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXT-X-DATERANGE:ID=\"i\","
                    + "CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:06Z\",\(attributes)\(more)\n"
            )
        }
        var run = RuleRun()
        run.observe(try fetched(text(""), 0), as: .root)
        #expect(run.findings.map(\.rule) == (words == nil ? [] : ["ad-signal-wrong"]))
        #expect(run.findings.allSatisfy { $0.problem.line == 5 && $0.problem.advice == "Correct the EXT-X-DATERANGE." })
        #expect(run.findings.allSatisfy { $0.problem.found.hasPrefix("an interstitial that breaks RFC 8216bis, ") })
        #expect(words.map { run.findings.first?.problem.found.contains($0) == true } ?? true)
        if words == nil { #expect(try broken([text(",DURATION=-1")]) == ["daterange-contradiction"]) }
    }

    @Test(
        "A playlist behind other lines, and a list of addresses, are named",
        arguments: [
            ("# from https://a.example/\n#EXTM3U\n", "other lines before #EXTM3U"),
            ("http://a.example/radio.mp3\n", "a list of addresses without #EXTM3U"),
            (
                "#EXTM3U\n#EXTINF:-1,Radio\nhttp://a.example/1.mp3\n",
                "an M3U list of streams, whose EXTINF has no duration"
            ),
            (
                "#EXTM3U x-tvg-url=\"e\"\r\n#EXTVLCOPT:a=b\r\n#EXTINF:-1 tvg-id=\"1\",One\r\n1.ts\r\n",
                "an M3U list of streams, whose EXTINF has no duration"
            ),
            ("#EXTM3U\nhttp://a.example/1.mp3\n", "an M3U list of addresses without EXTINF"),
            ("[playlist]\nFile1=http://a.example/1.mp3\n", "a PLS list of streams"),
            (
                "#EXTM3U\n#EXTINF: 0,Radio\nhttp://a.example/1.mp3\n",
                "an M3U list of streams, whose EXTINF has no duration"
            ),
            ("# Radio\r\n https://a.example/1\r\nhttps://a.example/2", "a list of addresses without #EXTM3U"),
            ("#EXTM3U\n#EXTINF:123,A - B\na/1.mp3\n#EXTINF:9,C\n2.mp3\n", "an M3U list of files, without a tag of HLS"),
            (
                "#EXTM3U\n#PLAYLIST:x\n#EXTINF:60.5,A\nhttp://a.example/1.FLAC?b=c#d\n",
                "an M3U list of files, without a tag of HLS"
            ),
            ("#extm3u\n#extinf:6,\na.ts\n", "the first line `#extm3u`"),
        ]
    )
    func misplacedLists(text: String, words: String) throws {
        #expect(try found(text) == ["playlist-malformed \(words)"])
    }

    @Test("A list of segments, or with a tag of HLS anywhere, is a playlist")
    func noLists() throws {
        let bare = try found("#EXTM3U\n#EXTINF:6,\na.ts\n#EXTINF:6,\nb.ts\n")
        #expect(bare == ["target-duration-missing a playlist without EXT-X-TARGETDURATION"], "\(bare)")
        // The tags are behind the bytes that tell the format of a body.
        let query = String(repeating: "q", count: 600)
        for duration in ["6,Song", "-1,"] {
            let songs = (1...4).map { "#EXTINF:\(duration)\n\($0).mp3?\(query)\n" }.joined()
            let long = try found("#EXTM3U\n\(songs)#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n")
            #expect(!long.contains { $0.hasPrefix("playlist-malformed") }, "\(long)")
            #expect(duration != "-1," || long.contains { $0.hasPrefix("extinf-") }, "\(long)")
        }
    }

    @Test(
        "A playlist in UTF-16 is named, with and without its mark",
        arguments: [[], [0xFE, 0xFF]] as [[UInt8]],
        [0, 1]
    )
    func wideText(mark: [UInt8], order: Int) throws {
        let big = mark + media().utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let bytes = order == 0 ? big : stride(from: 0, to: big.count, by: 2).flatMap { [big[$0 + 1], big[$0]] }
        var text = try fetched("", 0)
        text.bytes = bytes
        var run = RuleRun()
        run.observe(text, as: .root)
        #expect(run.findings.map(\.problem.found) == ["an HLS playlist in UTF-16"])
    }

    @Test(
        "A tag that only looks like one is found, once and as written",
        arguments: [
            ("#ext-x-map:URI=\"a\"", "`#ext-x-map`"), ("#EXT-X-Key:METHOD=NONE", "`#EXT-X-Key`"),
            (" #EXT-X-DISCONTINUITY :", "`#EXT-X-DISCONTINUITY :`"),
        ]
    )
    func miswrittenTags(line: String, words: String) throws {
        let found = try found(media(line + "\n" + line + "\n")).filter { !$0.hasPrefix("playlist-loose") }
        let expected = "a tag with small letters, or with white space before its colon, (\(words))"
        #expect(found == ["playlist-attribute-invalid \(expected)"], "\(found)")
    }

    @Test(
        "A tag whose name is misspelled is found as that, and not as a tag that is missing",
        arguments: [
            ("", "#EXT-X-TARGETDURATION:6", "#EXT-X-TARGETDURATON:6", "EXT-X-TARGETDURATION"),
            ("", "#EXT-X-TARGETDURATION:6", "#EXT-X-TARGETDURAITON:6", "EXT-X-TARGETDURATION"),
            ("", "#EXT-X-TARGETDURATION:6", "#EXT-X-TARGET-DURATIONS:6", "EXT-X-TARGETDURATION"),
            ("", "#EXTINF:", "#EXTIFN:", "EXTINF"),
            ("#EXT-X-PLAYLIST-TYPE:VOD\n", "#EXT-X-ENDLIST", "#EXT-X-END-LIST", "EXT-X-ENDLIST"),
            ("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n", "#EXT-X-VERSION", "#EXT-X-VERISON", "EXT-X-VERSION"),
            (
                "#EXT-X-PART:DURATION=1,URI=\"p\"\n", "#EXTM3U", "#EXTM3U\n#EXT-X-PART-INFO:PART-TARGET=1",
                "EXT-X-PART-INF"
            ),
        ]
    )
    func misspelledTags(head: String, right: String, wrong: String, meant: String) throws {
        let found = try found(media(head).replacing(right, with: wrong))
        let name = wrong.split(separator: "\n").last?.split(separator: ":").first ?? ""
        let words = "a tag whose name is nearly that of another one (`\(name)` for \(meant))"
        #expect(found == ["playlist-attribute-invalid \(words)"], "\(found)")
    }

    @Test("A target duration in small letters, or with white space before its colon, is there and written wrongly")
    func miswrittenTargetDuration() throws {
        for name in ["#ext-x-targetduration", "#EXT-X-TARGETDURATION "] {
            let found = try found(media().replacing("#EXT-X-TARGETDURATION", with: name))
            #expect(found.count == 1 && found[0].hasPrefix("playlist-attribute-invalid a tag with small"), "\(found)")
        }
    }

    @Test("A misspelled tag of a multivariant playlist is one finding, also where it is the only one")
    func misspelledVariants() throws {
        let words = "a tag whose name is nearly that of another one (`#EXT-X-STREAM-INFO` for EXT-X-STREAM-INF)"
        let wrong = "#EXT-X-STREAM-INFO:BANDWIDTH=1\nv.m3u8\n"
        #expect(
            try found(master(wrong + "#EXT-X-STREAM-INF:BANDWIDTH=2\nw.m3u8\n"))
                == ["playlist-attribute-invalid \(words)"]
        )
        let alone = try found(master(wrong))
        #expect(
            alone.count == 1 && alone[0].hasPrefix("playlist-malformed ") && alone[0].contains("`#EXT-X-STREAM-INFO`")
        )
        let media = "#EXT-X-MEDAI:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",URI=\"a.m3u8\"\n"
        let group = try found(master(media + "#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO=\"a\"\nw.m3u8\n"))
        #expect(group.count == 1 && group[0].contains("`#EXT-X-MEDAI` for EXT-X-MEDIA"), "\(group)")
    }

    @Test("Tags of packagers and other formats are no misspelled tags")
    func otherTags() throws {
        let names = ["NEW", "TILES", "SIZE:1", "IMAGES-ONLY", "ALLOW-CACHE:YES", "UNHEARD-OF:1", "META:1", "KEYS:1"]
        let lines = names.map { "#EXT-X-\($0)\n" } + ["#EXTIMG:a\n", "#EXTGRP:b\n", "#EXT-X-KEIS is a comment\n"]
        #expect(try found(media(lines.joined())) == [])
    }

    @Test("A second #EXTM3U is found, as two playlists in one file have it")
    func secondBeginning() throws {
        let segment = "#EXTINF:6,\na.ts\n"
        let text = media(segments: segment + "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n" + segment)
        var run = RuleRun()
        run.observe(try fetched(text, 0), as: .root)
        #expect(run.findings.map(\.problem.found) == ["a second EXTM3U"])
        #expect(run.findings.map(\.problem.line) == [6] && run.findings.map(\.rule) == ["playlist-attribute-invalid"])
        let advice = "Remove the tag, or give each playlist a separate address."
        #expect(run.findings.map(\.problem.advice) == [advice])
    }

    @Test(
        "A control character is found with its line; tabs and line breaks are allowed",
        arguments: [
            ("\u{0}", "U+0000"), ("\u{1B}", "U+001B"), ("\u{1F}", "U+001F"), ("\u{7F}", "U+007F"), ("\t", nil),
            ("\r", nil), ("é", nil),
        ] as [(String, String?)]
    )
    func controlCharacters(character: String, name: String?) throws {
        for (text, path) in [
            (media("#EXT-X-NOTE:a\n# a comment\(character)\n"), "v.m3u8"),
            (
                master(
                    "\n#EXT-X-SESSION-DATA:DATA-ID=\"a\",VALUE=\"1\"\n\n"
                        + "#EXT-X-STREAM-INF:BANDWIDTH=9,X=\"\(character)a\"\nv.m3u8\n"
                ), "m.m3u8"
            ),
            (manifest("id=\"v\"", set: "mimeType=\"video/mp4\"\n\n\n\nlabel=\"a\(character)b\""), "v.mpd"),
        ] {
            var run = RuleRun()
            run.observe(try fetched(text, 0, path), as: .root)
            // XML with the character 0 is no XML.
            guard path != "v.mpd" || character != "\u{0}" else {
                #expect(run.findings.map(\.rule) == ["mpd-malformed"] && run.findings.map(\.problem.line) == [5])
                continue
            }
            #expect(run.findings.map(\.rule) == (name == nil ? [] : ["playlist-encoding"]), "\(path)")
            #expect(run.findings.map(\.problem.found) == [name].compactMap { $0.map { "a control character (\($0))" } })
            #expect(run.findings.allSatisfy { $0.problem.line == 5 }, "\(run.findings.map(\.problem.line))")
        }
    }

    @Test("An MPD in UTF-16 has no control characters, although its bytes have zeros")
    func wideManifest() throws {
        var text = try fetched("", 0, "v.mpd")
        text.bytes = [0xFE, 0xFF] + manifest("id=\"v\"").utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        var run = RuleRun()
        run.observe(text, as: .root)
        #expect(run.findings.map(\.message) == [])
    }

    @Test(
        "A duration with a decimal comma is read with its fraction, and is one finding",
        arguments: [
            ("2,500,", 2_500), ("5,0,", 5_000), ("2,500", 2_000), ("2,500,a title", 2_000), ("2.5,000,", 2_500),
        ]
    )
    func decimalCommas(text: String, milliseconds: Int64) throws {
        let playlist = media(segments: "#EXTINF:\(text)\na.ts\n#EXTINF:\(text)\nb.ts\n")
        let url = try HTTPURL("http://a.example/v.m3u8")
        guard case .media(let parsed) = try HLSPlaylist(parsing: Array(playlist.utf8), at: url) else {
            throw HTTPError(.init("kind"), "no media playlist")
        }
        #expect(parsed.segments.map(\.duration) == [milliseconds, milliseconds].map { $0 * 1_000_000 })
        let isLoose = text == "2,500," || text == "5,0,"
        #expect(try found(playlist) == (isLoose ? ["playlist-loose `EXTINF:\(text)`, with a decimal comma"] : []))
    }

    @Test(
        "Advice about a bandwidth is to add it where it is missing, and to correct it where it is wrong",
        arguments: [
            ("BANDWIDTH=300k,", "BANDWIDTH=300k in EXT-X-STREAM-INF", "Correct BANDWIDTH: "),
            ("BANDWIDTH=0,", "BANDWIDTH=0 in EXT-X-STREAM-INF", "Correct BANDWIDTH: "),
            ("", "EXT-X-STREAM-INF without a valid BANDWIDTH", "Add BANDWIDTH."),
        ]
    )
    func bandwidths(attribute: String, words: String, advice: String) throws {
        var run = RuleRun()
        run.observe(try fetched(master("#EXT-X-STREAM-INF:\(attribute)RESOLUTION=2x2\nv.m3u8\n"), 0), as: .root)
        #expect(run.findings.map(\.problem.found) == [words] && run.findings.map(\.rule) == ["bandwidth-missing"])
        #expect(run.findings.first?.problem.advice.hasPrefix(advice) == true)
    }

    @Test("Comments and other tags are no tags with small letters")
    func comments() throws {
        #expect(try found(media("#extra: a\n#EXT-X-com.example:1\n# ext-x-key:\n#EXT-X-VENDOR-Key:1\n")) == [])
    }

    @Test("Quotes behind an equals sign and white space keep their value together")
    func spacedQuotes() throws {
        let list = "BANDWIDTH=300000, CODECS = \"avc1.42c00b,mp4a.40.2\""
        let found = try found(master("#EXT-X-STREAM-INF:\(list)\nv.m3u8\n"))
        let words = "white space around a comma or an equals sign in EXT-X-STREAM-INF"
        #expect(found == ["playlist-loose \(words)"], "\(found)")
    }

    @Test("A byte range may have white space around its sign, and a length of 0 is named")
    func byteRanges() throws {
        let padded = try HLSPlaylist(
            parsing: Array(media(segments: "#EXTINF:6,\n#EXT-X-BYTERANGE: 7 @ 9\na.ts\n").utf8),
            at: try HTTPURL("http://a.example/v.m3u8")
        )
        guard case .media(let playlist) = padded else { throw HTTPError(.init("kind"), "no media playlist") }
        #expect(playlist.segments.first?.byteRange == ByteRange(offset: 9, length: 7))
        let none = try found(media(segments: "#EXTINF:6,\n#EXT-X-BYTERANGE:0@0\na.ts\n"))
        #expect(none.count == 1 && none[0].contains("with a LENGTH above 0 (found `0@0`)"), "\(none)")
    }

    @Test(
        "An MPD at the address of a playlist is called an MPD, and other XML is not",
        arguments: [
            ("<MPD/>", "a DASH MPD"), ("\u{FEFF} <MPD\n type=\"static\">", "a DASH MPD"),
            ("<?xml version=\"1.0\"?><!-- <a> --><!DOCTYPE m><m:MPD xmlns:m=\"u\">", "a DASH MPD"),
            ("<MPDs/>", "other XML: "), ("<!-- <MPD> ", "other XML: "), ("<SmoothStreamingMedia/>", "other XML: "),
        ]
    )
    func manifestOfTheOtherFormat(text: String, words: String) throws {
        let found = try found(text, at: "v.m3u8")
        #expect(found.count == 1 && found[0].hasPrefix("playlist-malformed \(words)"), "\(found)")
        #expect(words == "a DASH MPD" ? found[0].hasSuffix(words) : !found[0].contains("MPD"), "\(found)")
    }

    @Test("A manifest of the other format is advised to have an address that ends as its format does")
    func adviceOnTheOtherFormat() throws {
        let advice = "Give the MPD an address that ends in .mpd, and the playlist this one."
        var run = RuleRun()
        run.observe(try fetched(manifest("id=\"v\""), 0, "v.m3u8"), as: .root)
        #expect(run.findings.map(\.problem.advice) == [advice] && run.findings.map(\.rule) == ["playlist-malformed"])
        // The playlist of a variant.
        run = RuleRun()
        run.observe(try fetched(master("#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"), 0, "m.m3u8"), as: .root)
        let name = try #require(run.history.presentation?.renditions.first).id.description
        run.observe(try fetched(manifest("id=\"v\""), 0, "v.m3u8"), as: .rendition(name))
        #expect(run.findings.map(\.problem.advice) == [advice] && run.findings.map(\.problem.found) == ["a DASH MPD"])
        // The reload of an MPD.
        run = RuleRun()
        run.observe(try fetched(manifest("id=\"v\""), 0, "v.mpd"), as: .root)
        run.observe(try fetched(media(), 6, "v.mpd"), as: .root)
        #expect(run.findings.map(\.rule) == ["mpd-malformed"])
        #expect(run.findings.map(\.problem.found) == ["an HLS playlist"])
        let other = "Give the playlist an address that ends in .m3u8, and the MPD this one."
        #expect(run.findings.map(\.problem.advice) == [other])
    }

    @Test(
        "A descriptor without a scheme is named, at each level of an MPD",
        arguments: [
            ("<Period>", "<SupplementalProperty value=\"1\"/><Period>", "SupplementalProperty"),
            ("<AdaptationSet", "<EventStream><Event id=\"1\"/></EventStream><AdaptationSet", "EventStream"),
            ("<SegmentTemplate", "<Role value=\"main\"/><SegmentTemplate", "Role"),
            ("/></Adapt", "><ContentProtection/></Representation></Adapt", "ContentProtection"),
        ]
    )
    func descriptors(place: String, text: String, name: String) throws {
        let found = try found(manifest("id=\"v\"").replacing(place, with: text), at: "v.mpd")
        #expect(found == ["mpd-attribute-missing `\(name)` without `schemeIdUri`"])
    }

    @Test("An MPD in another namespace is named")
    func namespaces() throws {
        #expect(try found(manifest("id=\"v\""), at: "v.mpd") == [])
        let other = try found(manifest("id=\"v\"", name: "2099"), at: "v.mpd")
        #expect(other == ["mpd-attribute-missing the namespace `urn:mpeg:dash:schema:mpd:2099`"])
    }

    @Test(
        "A list of segments, or a last number, that ends before the presentation is found",
        arguments: [
            ("<SegmentList duration=\"2\"><SegmentURL media=\"0\"/><SegmentURL media=\"1\"/></SegmentList>", true),
            ("<SegmentTemplate duration=\"2\" startNumber=\"0\" endNumber=\"1\" media=\"$Number$\"/>", true),
            ("<SegmentTemplate duration=\"2\" startNumber=\"0\" endNumber=\"2\" media=\"$Number$\"/>", false),
        ]
    )
    func ends(segments: String, isShort: Bool) throws {
        let text = manifest("id=\"v\"").replacing(
            "<SegmentTemplate timescale=\"1\" duration=\"2\" media=\"$Number$.m4s\"/>",
            with: segments
        )
        var run = RuleRun()
        run.observe(try fetched(text, 0, "v.mpd"), as: .root)
        let rendition = try #require(run.history.presentation?.renditions.first)
        var summary = RenditionSummary(
            rendition: rendition.id.description,
            url: try fetched("", 0, "v.mpd").url,
            role: .media
        )
        (summary.duration, summary.targetDuration) = (isShort ? 4_000_000_000 : 6_000_000_000, 1_900_000_000)
        run.observe([summary])
        #expect(run.findings.map(\.rule) == (isShort ? ["rendition-lengths-differ"] : []))
    }

    @Test(
        "A number in quotes, and a text without them, are found as they are written",
        arguments: [
            ("BANDWIDTH=\"1000\"", "`BANDWIDTH=\"1000\"` in EXT-X-STREAM-INF"),
            ("BANDWIDTH=1000,FRAME-RATE=\"25\"", "`FRAME-RATE=\"25\"` in EXT-X-STREAM-INF"),
            ("BANDWIDTH=1000,RESOLUTION=\"2x2\"", "`RESOLUTION=\"2x2\"` in EXT-X-STREAM-INF"),
            ("BANDWIDTH=1000,VIDEO-RANGE=\"SDR\"", "`VIDEO-RANGE=\"SDR\"` in EXT-X-STREAM-INF"),
        ]
    )
    func quotes(attributes: String, words: String) throws {
        let found = try found(master("#EXT-X-STREAM-INF:\(attributes)\nv.m3u8\n"), at: "master.m3u8")
        #expect(found == ["playlist-attribute-invalid \(words)"])
    }

    @Test("A number of channels is in quotes")
    func channels() throws {
        func text(_ channels: String) -> String {
            master(
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"n\",CHANNELS=\(channels),URI=\"a.m3u8\"\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO=\"a\"\nv.m3u8\n"
            )
        }
        #expect(try found(text("\"2\""), at: "master.m3u8").isEmpty)
        #expect(try found(text("2"), at: "master.m3u8") == ["playlist-attribute-invalid `CHANNELS=2` in EXT-X-MEDIA"])
    }

    @Test("A list of segments that was shortened without being asked for is found")
    func unaskedSkip() throws {
        let text = media("#EXT-X-SKIP:SKIPPED-SEGMENTS=2\n").replacing("VERSION:8", with: "VERSION:9")
        let words = "EXT-X-SKIP in a response to a request without _HLS_skip"
        #expect(try found(text) == ["delta-update-differs \(words)"])
        #expect(try found(text, at: "v.m3u8?_HLS_skip=YES").isEmpty)
        #expect(try found(text, at: "v.m3u8?_HLS_msn=7&_HLS_skip=v2").isEmpty)
        // Another directive does not ask for it.
        #expect(try found(text, at: "v.m3u8?_HLS_msn=7&_HLS_part=0") == ["delta-update-differs \(words)"])
    }

    @Test(
        "Values of events and of periods of an MPD are found as they are written",
        arguments: [
            ("xlink:actuate=\"later\"", "", "", "`xlink:actuate=\"later\"` in `Period`"),
            ("", "timescale=\"0\"", "", "`timescale=\"0\"` in `EventStream`"),
            ("", "", "presentationTime=\"1s\"", "`presentationTime=\"1s\"` in `Event`"),
            ("", "", "presentationTime=\"1\" duration=\"-2\"", "`duration=\"-2\"` in `Event`"),
        ]
    )
    func events(period: String, stream: String, event: String, words: String) throws {
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" type="static" \
            profiles="urn:mpeg:dash:profile:isoff-live:2011" mediaPresentationDuration="PT4S" minBufferTime="PT2S">\
            <Period \(period)><EventStream schemeIdUri="urn:x" \(stream)><Event \(event)/></EventStream>\
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$" timescale="1" duration="2"/>\
            <Representation id="v" bandwidth="8000000" codecs="avc1.4D400C"/></AdaptationSet></Period></MPD>
            """
        #expect(try found(text, at: "v.mpd") == ["mpd-attribute-invalid \(words)"])
    }

    @Test(
        "Truth values and access points of an MPD are found as they are written",
        arguments: [
            ("segmentAlignment=\"True\"", true), ("segmentAlignment=\"true\"", false),
            ("segmentAlignment=\"3\"", false),
            ("startWithSAP=\"one\"", true), ("startWithSAP=\"7\"", true), ("startWithSAP=\"1\"", false),
            ("bitstreamSwitching=\"yes\"", true), ("subsegmentStartsWithSAP=\"-1\"", true),
            ("contentType=\"vidoe\"", true), ("contentType=\"video\"", false), ("scanType=\"interlace\"", true),
            ("scanType=\"interlaced\"", false), ("audioSamplingRate=\"48 kHz\"", true),
            ("audioSamplingRate=\"44100 48000\"", false), ("maxFrameRate=\"25 fps\"", true),
            ("maxFrameRate=\"30000/1001\"", false), ("minBandwidth=\"300k\"", true), ("maxWidth=\"1920\"", false),
            ("xlink:actuate=\"onlode\"", true), ("xlink:actuate=\"onRequest\"", false),
        ]
    )
    func truths(attribute: String, isWrong: Bool) throws {
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
            mediaPresentationDuration="PT4S" minBufferTime="PT2S"><Period><AdaptationSet mimeType="video/mp4" \
            \(attribute)><SegmentTemplate media="$Number$" timescale="1" duration="2"/>\
            <Representation id="v" bandwidth="8000000" codecs="avc1.4D400C"/></AdaptationSet></Period></MPD>
            """
        let found = try found(text, at: "v.mpd")
        #expect(found == (isWrong ? ["mpd-attribute-invalid `\(attribute)` in `AdaptationSet`"] : []))
    }

    @Test("An MPD of subtitles alone has nothing to play")
    func subtitlesAlone() throws {
        let text = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" \
            mediaPresentationDuration="PT4S" minBufferTime="PT2S"><Period><AdaptationSet mimeType="text/vtt">\
            <Representation id="t" bandwidth="100"><BaseURL>t.vtt</BaseURL></Representation></AdaptationSet></Period></MPD>
            """
        let found = try found(text, at: "v.mpd")
        #expect(found.count == 1 && found[0].contains("(found subtitles alone)"), "\(found)")
    }

    @Test(
        "A body is named as what it is",
        arguments: [
            ("[section]\nFile1=http://a/\n", "other text"), ("[1]", "JSON"), ("[ {}]", "JSON"), ("[]", "JSON"),
            ("{\"error\":1}", "JSON"),
        ]
    )
    func bodies(text: String, words: String) throws {
        #expect(try found(text) == ["playlist-malformed \(words)"])
    }
}
