internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import Testing

@Suite struct HLSMultivariantTests {
    private static let bipbop = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-CONTENT-STEERING:SERVER-URI="/steer"
        #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://k"
        #EXT-X-SESSION-DATA:DATA-ID="com.example.title",VALUE="Bip, bop"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Français",LANGUAGE="fr",AUTOSELECT=YES,URI="audio/fr.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio/en.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="English",LANGUAGE="en",URI="subs/en.m3u8",CHARACTERISTICS="a,b",FORCED=YES
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC1",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,AVERAGE-BANDWIDTH=4000000,CODECS="avc1.640020,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=59.94,AUDIO="aac",SUBTITLES="subs",CLOSED-CAPTIONS="cc"
        v5/prog.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.640020,mp4a.40.2",RESOLUTION=640x360,AUDIO="aac"
        v1/prog.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS="avc1.640020,mp4a.40.2",RESOLUTION=640x360,AUDIO="aac"
        https://backup.test/v1/prog.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
        audio/only.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="iframes.m3u8"
        """

    @Test func theLadderGoesFromLowToHigh() throws {
        let show = try presentation(Self.bipbop)
        #expect(show.format == .hls && show.kind == .unknown && show.hasIndependentSegments && show.duration == nil)
        #expect(show.variants.map(\.peakBitrate) == [64_000, 1_000_000, 5_000_000])
        let top = show.variants[2]
        #expect(top.averageBitrate == 4_000_000 && top.resolution == Resolution(width: 1920, height: 1080))
        #expect(top.frameRate == 59.94 && top.codecs == ["avc1.640020", "mp4a.40.2"])
        #expect(show.notices.map(\.code) == [.unsupportedEncryption])
        #expect(show.steering == ContentSteering(url: try address("https://media.test/steer")))
    }

    @Test(
        "A steering manifest may be written into the playlist; an address that cannot be used is left out",
        arguments: [
            ("data:application/json,%7B%7D", "{}", []), ("DATA:;base64,e30%3D", "{}", []), ("data:,", "", []),
            ("data:;base64,?", nil, [.referenceRefused]), ("data:nothing", nil, [.referenceRefused]),
            ("ftp://media.test/steer", nil, [.referenceRefused]),
        ] as [(String, String?, [ManifestNotice.Code])]
    )
    func writtenSteering(reference: String, text: String?, notices: [ManifestNotice.Code]) throws {
        let tag = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"\(reference)\",PATHWAY-ID=\"a\""
        let show = try presentation("#EXTM3U\n\(tag)\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n")
        #expect(show.steering?.text == text.map { Array($0.utf8) } && show.steering?.url == nil)
        #expect(show.steering?.initialOrder == text.map { _ in ["a"] })
        #expect(show.notices.map(\.code) == notices)
    }

    @Test(
        "Closed captions are undeclared without a rendition and without NONE",
        arguments: [
            ("#EXT-X-STREAM-INF:BANDWIDTH=1", true), ("#EXT-X-STREAM-INF:BANDWIDTH=1,CLOSED-CAPTIONS=NONE", false),
            (
                """
                #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="c",INSTREAM-ID="CC1"
                #EXT-X-STREAM-INF:BANDWIDTH=1,CLOSED-CAPTIONS="c"
                """, false
            ),
        ]
    )
    func captions(lines: String, isUndeclared: Bool) throws {
        #expect(try presentation("#EXTM3U\n\(lines)\nv.m3u8\n").hasUndeclaredCaptions == isUndeclared)
    }

    @Test func separateAudioIsChosenDefaultFirst() throws {
        let show = try presentation(Self.bipbop)
        let top = show.variants[2]
        #expect(top.audio.compactMap { show.rendition($0)?.language } == ["en", "fr"])
        #expect(top.subtitles.compactMap { show.rendition($0)?.characteristics } == [["a", "b"]])
        #expect(top.subtitles.compactMap { show.rendition($0)?.isForced } == [true])
        let main = try address("https://media.test/show/v5/prog.m3u8")
        #expect(show.rendition(top.main)?.kind == .video && show.rendition(top.main)?.source == .playlist(main))
        let low = show.variants[0]
        #expect(low.audio == [low.main] && show.rendition(low.main)?.kind == .audio)
    }

    @Test func aRedundantStreamIsABackup() throws {
        let show = try presentation(Self.bipbop)
        let backups = show.variants[1].backups.compactMap { show.rendition($0)?.source }
        let backup = try address("https://backup.test/v1/prog.m3u8")
        #expect(backups == [.playlist(backup)])
        // A steering server may order and clone those of the other variants as well.
        let servers = try #require(show.locations.first { $0.locations.count > 1 }).locations
        #expect(servers.map(\.id) == [".", "https://backup.test"])
        #expect(
            servers.map(\.base.description) == [
                "https://media.test/show/v1/prog.m3u8", "https://backup.test/v1/prog.m3u8",
            ]
        )
    }

    @Test func audioInsideTheMainRenditionNeedsNoFetch() throws {
        let show = try presentation(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Original",DEFAULT=YES
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Comment",URI="comment.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
            v.m3u8
            """
        )
        let variant = show.variants[0]
        #expect(variant.audio.first == variant.main && variant.audio.count == 2)
        #expect(show.rendition(variant.main)?.kind == .muxed)
    }

    @Test(
        "Quotes inside a value, which no escape allows, end it in front of a comma, and hide no attribute",
        arguments: [
            (#""Deutsch \"neu\"","#, #"Deutsch \"neu\""#, "de"), (#""a"b","#, #"a"b"#, "de"), (#""a","#, "a", "de"),
            // No quotes end the value: the first ones do, and the rest of the list is not read.
            (#""a"b,"#, "a", nil),
        ]
    )
    func quotesInside(value: String, name: String, language: String?) throws {
        let rest = language == nil ? "LANGUAGE=de" : "LANGUAGE=\"de\""
        let show = try presentation(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="a.m3u8",NAME=\(value)\(rest)
            #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
            v.m3u8
            """
        )
        let audio = try #require(show.renditions.first { $0.kind == .audio })
        #expect(audio.name == name && audio.language == language, "\(audio)")
    }

    @Test func aMediaPlaylistAloneIsAPresentation() throws {
        let show = try presentation(window(0...2, ended: true))
        #expect(show.kind == .onDemand && show.duration == 18 * second && show.variants.count == 1)
        guard case .loaded(let playlist) = show.renditions[0].source else {
            throw ManifestError(.malformed, "not loaded")
        }
        #expect(playlist.segments.count == 3)
    }

    @Test(arguments: [
        "file:///etc/passwd", "concat:a|b", "subfile,,start,0,end,9,,:x", "pipe:0", "data:text/plain,x",
        "crypto:file:x",
    ])
    func referencesThatAreNoWebAddressesAreRefused(reference: String) throws {
        for text in [
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(reference)\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI=\"\(reference)\"\n#EXTINF:1,\na.ts\n",
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(reference)\"\n#EXTINF:1,\na.ts\n",
        ] where !reference.hasPrefix("subfile") {
            let error = manifestError { _ = try presentation(text) }
            // A key may be in a `data:` address; this one has too few bytes.
            let isShortKey = reference.hasPrefix("data:") && text.contains("EXT-X-KEY")
            #expect(error?.code == (isShortKey ? .malformed : .referenceRefused))
            #expect(error?.message.contains("passwd") == false)
        }
        let ladder = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(reference)\n#EXT-X-STREAM-INF:BANDWIDTH=2\nok.m3u8\n"
        let show = try presentation(ladder)
        for rendition in show.renditions {
            guard case .playlist(let url) = rendition.source else { throw ManifestError(.malformed, "no playlist") }
            #expect(url.origin == "https://media.test")
        }
    }

    @Test func aRedirectThatGivesUpHTTPSIsReported() throws {
        let text = Array(window(0...1).utf8)
        let show = try Presentation(
            parsing: text,
            at: address("http://a.test/x.m3u8"),
            requestedAs: address("https://a.test/x.m3u8"),
            now: now
        )
        #expect(show.notices.map(\.code) == [.downgraded])
    }

    @Test func limitsAreErrors() throws {
        var limits = ManifestLimits()
        limits.segments = 3
        limits.variants = 3
        limits.lineBytes = 100
        limits.bytes = 2_000
        limits.addressBytes = 300
        let variants = String(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n", count: 4)
        let long = String(repeating: "a", count: 101)
        let grown =
            "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(long.prefix(60))\"\n"
            + String(repeating: "#EXTINF:1,\n{$a}{$a}\n", count: 2)
        for text in [
            window(0...3), "#EXTM3U\n" + variants, "#EXTM3U\n#EXTINF:1,\n\(long)",
            String(repeating: "\n", count: 2_001), "#EXTM3U\n" + grown,
        ] {
            #expect(
                manifestError { _ = try presentation(text, limits: limits) }?.code == .limitExceeded,
                "\(text.prefix(60))"
            )
        }
    }
}
