internal import Instrument
internal import InstrumentHTTP
internal import Testing

@testable internal import InstrumentManifests

@Suite struct HLSMediaPlaylistTests {
    @Test(
        arguments: [
            ("URI=\"skd://a\"", Array("skd://a".utf8)), ("URI=\"data:a/b;base64,AQI=\",KEYID=0x01", [1, 2]),
            ("URI=\"DATA:;base64,AQI=\"", [1, 2]), ("URI=\"data:;base64,A\"", []), ("URI=\"data:;base64\"", []),
            ("KEYID=0x01", [UInt8](repeating: 0, count: 15) + [1]), ("KEYID=1", []), ("X=1", []), ("URI=\"\"", []),
        ] as [(String, [UInt8])]
    )
    func encryptedSamplesHaveDataForALicenceServer(attributes: String, data: [UInt8]) throws {
        for method in ["SAMPLE-AES", "SAMPLE-AES-CTR"] {
            let key = "#EXT-X-KEY:METHOD=\(method),\(attributes),KEYFORMAT=\"drm\"\n"
            let playlist = try mediaPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(key)#EXTINF:1,\na.ts\n")
            #expect(playlist.segments.map(\.encryption?.licenceData) == [data])
            #expect(playlist.notices.map(\.code) == [.unsupportedEncryption])
        }
    }

    @Test(
        arguments: [
            ("URI=\"key?a=b\"", "https://media.test/show/key?a=b"),
            ("URI=\"https://keys.test/1\",KEYFORMAT=\"identity\"", "https://keys.test/1"),
            ("URI=\"skd://a\"", nil), ("URI=\"data:text/plain;base64,AQI=\"", nil),
            ("URI=\"key\",KEYFORMAT=\"drm\"", nil), ("KEYID=0x01", nil),
        ] as [(String, String?)]
    )
    func encryptedSamplesHaveTheAddressOfAKeyInTheFormatOfWholeSegments(attributes: String, address: String?) throws {
        for method in ["SAMPLE-AES", "SAMPLE-AES-CTR"] {
            let key = "#EXT-X-KEY:METHOD=\(method),\(attributes)\n"
            let playlist = try mediaPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(key)#EXTINF:1,\na.ts\n")
            #expect(playlist.segments.map { $0.encryption?.keyURL?.secretText } == [address])
        }
    }

    @Test(
        "A key may be written into the playlist as a `data:` address",
        arguments: ["data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg==", "data:,0123456789abcdef"],
        ["AES-128", "SAMPLE-AES"]
    )
    func writtenKey(address: String, method: String) throws {
        let key = "#EXT-X-KEY:METHOD=\(method),URI=\"\(address)\"\n"
        let playlist = try mediaPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(key)#EXTINF:1,\na.ts\n")
        let encryption = try #require(playlist.segments.first?.encryption)
        #expect(encryption.key == Array("0123456789abcdef".utf8) && encryption.keyURL == nil)
    }

    @Test(
        "A `data:` address without a key of 16 bytes is an error that says what the address has",
        arguments: [
            ("data:;base64,AQI=", "found 2 bytes"), ("data:;base64,!", "found a text that cannot be decoded"),
            ("data:", "found a text that cannot be decoded"),
        ]
    )
    func wrongWrittenKey(address: String, words: String) throws {
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"\(address)\"\n"
        let error = manifestError {
            _ = try mediaPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(key)#EXTINF:1,\na.ts\n")
        }
        #expect(error?.code == .malformed && error?.line == 3)
        #expect(error?.message.contains("16 bytes (\(words))") == true, "\(error?.message ?? "")")
    }

    @Test func aVideoOnDemandIsReadWithItsTimesExact() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U\r
            #EXT-X-VERSION:3\r
            #EXT-X-TARGETDURATION:10\r
            # a comment\r
            #EXTINF:9.009,A title, with a comma\r
            first.ts\r
            #EXT-X-UNHEARD-OF:1\r
            #EXTINF:9.009,\r
            ../other/second.ts?token=secret\r
            #EXTINF:3.003,\r
            https://other.test/third.ts\r
            #EXT-X-ENDLIST\r
            """
        )
        #expect(playlist.hasEnded && playlist.kind == .onDemand && playlist.version == 3)
        #expect(playlist.segments.map(\.start) == [0, 9_009_000_000, 18_018_000_000])
        #expect(playlist.duration == 21_021_000_000)
        #expect(
            playlist.segments.map(\.text) == [
                "https://media.test/show/first.ts", "https://media.test/other/second.ts?token=secret",
                "https://other.test/third.ts",
            ]
        )
        #expect(playlist.segments.map(\.sequence) == [0, 1, 2])
        #expect(playlist.container == .transportStream && playlist.notices.isEmpty)
    }

    @Test func aByteOrderMarkAndBlanksAreTolerated() throws {
        let playlist = try mediaPlaylist("\u{FEFF}#EXTM3U \n\n#EXT-X-TARGETDURATION:4\n  #EXTINF: 4 ,\n  a.ts  \n")
        #expect(playlist.segments.map(\.text) == ["https://media.test/show/a.ts"])
        #expect(playlist.segments.first?.duration == 4 * second)
    }

    @Test func byteRangesGoOnWhereTheLastOneEnded() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="700@0"
            #EXT-X-BYTERANGE:1000@700
            #EXTINF:4,
            all.mp4
            #EXT-X-BYTERANGE:500
            #EXTINF:4,
            all.mp4
            #EXT-X-BYTERANGE:20
            #EXTINF:4,
            new.mp4
            """
        )
        let ranges = playlist.segments.map(\.byteRange)
        #expect(
            ranges == [
                .init(offset: 700, length: 1000), .init(offset: 1700, length: 500), .init(offset: 0, length: 20),
            ]
        )
        #expect(ranges[1]?.headerValue == "bytes=1700-2199")
        #expect(playlist.notices.map(\.code) == [.oddity])
        #expect(playlist.segments.allSatisfy { $0.initialization?.byteRange == .init(offset: 0, length: 700) })
        #expect(playlist.container == .fragmentedMP4)
    }

    @Test func discontinuitiesGapsMapsAndRatesHoldFromTheirPlaceOn() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-DISCONTINUITY-SEQUENCE:3
            #EXT-X-MAP:URI="a.mp4"
            #EXT-X-BITRATE:800
            #EXTINF:4,
            1.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="b.mp4"
            #EXT-X-GAP
            #EXTINF:4,
            2.m4s
            #EXTINF:4,
            3.m4s
            """
        )
        #expect(playlist.segments.map(\.sequence) == [7, 8, 9])
        #expect(playlist.segments.map(\.discontinuity) == [3, 4, 4])
        #expect(playlist.segments.map(\.isGap) == [false, true, false])
        #expect(playlist.segments.map { $0.initialization?.url.path } == ["/show/a.mp4", "/show/b.mp4", "/show/b.mp4"])
        #expect(playlist.segments.allSatisfy { $0.bitrate == 800_000 })
        #expect(playlist.discontinuitySequence == 3 && !playlist.hasEnded && playlist.kind == .live)
    }

    @Test func keysGiveAVectorOrTheNumberIsIt() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MEDIA-SEQUENCE:258
            #EXTINF:4,
            clear.ts
            #EXT-X-KEY:METHOD=AES-128,URI="key?id=1"
            #EXTINF:4,
            numbered.ts
            #EXT-X-KEY:METHOD=AES-128,URI="key2",IV=0x0A0b
            #EXTINF:4,
            given.ts
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:4,
            open.ts
            """
        )
        let encryption = playlist.segments.map(\.encryption)
        #expect(encryption[0] == nil && encryption[3] == nil)
        #expect(
            encryption[1]?.method == .aes128 && encryption[1]?.keyURL?.secretText == "https://media.test/show/key?id=1"
        )
        #expect(encryption[1]?.initializationVector == [UInt8](repeating: 0, count: 14) + [1, 3])
        #expect(encryption[2]?.initializationVector == [UInt8](repeating: 0, count: 14) + [0x0A, 0x0B])
    }

    @Test func sampleEncryptionIsReportedAndMarked() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:4,
            1.ts
            """
        )
        #expect(
            playlist.segments[0].encryption?.method == .samples("SAMPLE-AES with com.apple.streamingkeydelivery")
        )
        #expect(playlist.notices.map(\.code) == [.unsupportedEncryption])
    }

    @Test func datesAreExtrapolatedBothWays() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            1.ts
            #EXT-X-PROGRAM-DATE-TIME:2026-11-21T11:00:04.500+01:00
            #EXTINF:3.5,
            2.ts
            #EXTINF:4,
            3.ts
            """
        )
        #expect(
            playlist.segments.map { $0.wallTime.map { $0.milliseconds - now.milliseconds } } == [500, 4_500, 8_000]
        )
    }

    @Test func lowLatencyTagsAreRead() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,HOLD-BACK=12.5,CAN-SKIP-UNTIL=24
            #EXT-X-PART-INF:PART-TARGET=0.33
            #EXTINF:4,
            1.ts
            #EXT-X-PART:DURATION=0.33,URI="2.0.ts"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="2.1.ts"
            """
        )
        #expect(
            playlist.segments.count == 1 && playlist.control.holdBack == 12_500_000_000
                && playlist.control.canSkipUntil == 24 * second
        )
        #expect(playlist.openSegment?.parts.count == 1 && playlist.preloadHint != nil && playlist.notices.isEmpty)
    }

    @Test func dateRangesAndTheStartAreRead() throws {
        let playlist = try mediaPlaylist(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-PLAYLIST-TYPE:EVENT
            #EXT-X-START:TIME-OFFSET=-8.5,PRECISE=YES
            #EXT-X-DATERANGE:ID="ad",START-DATE="2026-11-21T10:00:00Z",END-DATE="2026-11-21T10:00:15Z",SCTE35-OUT=0xFC
            #EXTINF:4,
            1.ts
            """
        )
        #expect(playlist.kind == .event && playlist.startOffset == StartOffset(offset: -8_500_000_000, isPrecise: true))
        let range = try #require(playlist.dateRanges.first)
        #expect(range.id == "ad" && range.start == now && range.duration == 15 * second && range.isAdvertising)
    }

    @Test func variablesComeFromThePlaylistItsAddressAndTheMultivariantOne() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-DEFINE:NAME="dir",VALUE="deep/path"
            #EXT-X-DEFINE:QUERYPARAM="token"
            #EXT-X-DEFINE:IMPORT="host"
            #EXTINF:4,
            https://{$host}/{$dir}/1.ts?t={$token}
            """
        let parsed = try HLSPlaylist(
            parsing: Array(text.utf8),
            at: address("https://media.test/p.m3u8?token=abc"),
            definitions: ["host": "cdn.test"]
        )
        guard case .media(let playlist) = parsed else { throw ManifestError(.malformed, "wrong kind") }
        #expect(playlist.segments.map(\.text) == ["https://cdn.test/deep/path/1.ts?t=abc"])
        let error = manifestError { _ = try HLSPlaylist(parsing: Array(text.utf8), at: address()) }
        #expect(error?.code == .malformed && error?.line == 4)
    }

    @Test(arguments: [
        ("", ManifestError.Code.notAManifest, 1), ("<html>", .notAManifest, 1),
        ("#EXTM3U\n#EXTINF:,\na.ts", .malformed, 2),
        ("#EXTM3U\n#EXTINF:nan,\na.ts", .malformed, 2), ("#EXTM3U\n#EXTINF:0x10,\na.ts", .malformed, 2),
        ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:-1\n#EXTINF:1,\na.ts", .malformed, 2),
        ("#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:x\na.ts", .malformed, 3),
        ("#EXTM3U\n#EXTINF:1,\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.ts", .malformed, 3),
        ("#EXTM3U\n#EXT-X-SKIP:SKIPPED-SEGMENTS=0\n#EXTINF:1,\na.ts", .malformed, 2),
        ("#EXTM3U\n#EXTINF:1,\na.ts\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3", .malformed, 4),
        ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xZZ\n#EXTINF:1,\na.ts", .malformed, 2),
        ("#EXTM3U\n#EXT-X-MAP:BYTERANGE=\"1@1\"\n#EXTINF:1,\na.ts", .malformed, 2),
        ("#EXTM3U\n#EXTINF:1,\n{$none}.ts", .malformed, 3),
    ])
    func whatCannotBePlayedIsAnErrorWithItsLine(text: String, code: ManifestError.Code, line: Int) {
        let error = manifestError { _ = try HLSPlaylist(parsing: Array(text.utf8), at: address()) }
        #expect(error?.code == code && error?.line == line, "\(text)")
        #expect(error?.url == "https://media.test/show/main.m3u8")
    }

    @Test(
        "An error names the value that it found",
        arguments: [
            ("#EXTINF:two,", "`two,`"), ("#EXTINF:", "nothing"), ("#EXT-X-BYTERANGE:1@x", "`1@x`"),
            ("#EXT-X-TARGETDURATION:ten", "`ten`"), ("#EXT-X-MEDIA-SEQUENCE:-1", "`-1`"),
            ("#EXT-X-MAP:URI=\"i\",BYTERANGE=\"0\"", "`0`"),
            ("#EXT-X-PART:URI=\"p\",DURATION=1,BYTERANGE=\"x@1\"", "`x@1`"),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xZZ", "4 characters"),
        ]
    )
    func errorsNameValues(line: String, value: String) {
        let text = "#EXTM3U\n\(line)\n#EXTINF:1,\na.ts"
        let error = manifestError { _ = try HLSPlaylist(parsing: Array(text.utf8), at: address()) }
        #expect(error?.message.hasSuffix("(found \(value))") == true, "\(error?.message ?? "none")")
    }

    @Test func anyNumberIsSurvived() throws {
        for number in ["1e308", "99999999999999999999999", "-5", "0", "1e-300", "9223372036854775807", ".5", "5."] {
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:9223372036854775807\n"
                + "#EXT-X-BYTERANGE:9223372036854775807@9223372036854775807\n#EXTINF:\(number),\na.ts\n"
                + "#EXT-X-BYTERANGE:5\n#EXTINF:\(number),\na.ts\n"
            let playlist = try mediaPlaylist(text)
            #expect(
                playlist.segments.count == 2 && playlist.segments.allSatisfy { $0.duration >= 0 && $0.end >= $0.start }
            )
            _ = playlist.segments.map { $0.byteRange?.headerValue }
        }
    }

    @Test func whatBreaksPromisesIsNoticed() throws {
        let long = try mediaPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.5,\na.ts\n")
        #expect(long.notices.map(\.code) == [.oddity])
        let right = try mediaPlaylist("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.49,\na.ts\n")
        #expect(right.notices.isEmpty)
        let without = try mediaPlaylist("#EXTM3U\n#EXTINF:2.5,\na.ts\nstray.ts\n")
        #expect(without.targetDuration == 2_500_000_000 && without.segments.count == 1)
        #expect(without.notices.count == 2)
    }
}
