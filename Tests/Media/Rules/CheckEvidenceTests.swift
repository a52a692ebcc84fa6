import Foundation
import Instrument
import InstrumentHTTP
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentCheck

@Suite("Evidence of checks", .ownThread, .timeLimit(.minutes(30)))
struct CheckEvidenceTests {
    /// The rounds of a check of generated media.
    private func rounds(
        of folder: Scratch,
        _ address: String = "http://folder.example/master.m3u8?key=MASTERKEY",
        configure: (inout StreamCheckConfiguration) -> Void
    ) async throws -> [StreamCheckRound] {
        var configuration = StreamCheckConfiguration()
        (configuration.rules, configuration.keepsEvidence) = ([], true)
        configure(&configuration)
        let check = StreamCheck(
            try HTTPURL(address),
            transport: FolderTransport(folder: folder),
            clock: SteppingClock(),
            configuration: configuration
        )
        let rounds = Lock<[StreamCheckRound]>([])
        _ = await check.run { round in rounds.withLock { $0.append(round) } }
        return rounds.withLock { $0 }
    }

    private func generate(_ video: String, in folder: Scratch, _ more: String...) async throws {
        let made = try await command(
            [
                "ffmpeg", "-v", "error", "-f", "lavfi", "-i", video, "-c:v", "libx264", "-preset", "ultrafast", "-g",
                "25",
            ]
                + more + ["-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_playlist_type", "vod"]
                + [folder.file("a.m3u8")]
        )
        try #require(made.status == 0, "\(made)")
        try Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000\na.m3u8?token=LISTTOKEN\n".utf8)
            .write(to: URL(fileURLWithPath: folder.file("master.m3u8")))
    }

    private func pictures(_ configuration: inout StreamCheckConfiguration) {
        configuration.segmentCount = 10
        var media = MediaCheckConfiguration()
        (media.black, media.freeze) = (.seconds(3), .seconds(3))
        configuration.mediaChecks = media
    }

    @Test("A black stream leaves a picture, the playlist and a segment, once, without secrets")
    func black() async throws {
        let folder = try Scratch()
        try await generate("color=black:size=640x360:rate=25:duration=8", in: folder)
        let rounds = try await rounds(of: folder, configure: pictures)
        let found = rounds.filter { !$0.evidence.isEmpty }
        #expect(found.count == 1)
        let pieces = try #require(found.first?.evidence["black"])
        #expect(pieces.map(\.kind) == [.picture, .playlist, .segment])
        #expect(pieces.map(\.ending) == ["jpg", "m3u8", "ts"])
        #expect(pieces[0].bytes.starts(with: [0xFF, 0xD8]))
        #expect(String(decoding: pieces[1].bytes, as: UTF8.self).contains("#EXTINF"))
        #expect(pieces[2].bytes == Array(folder.bytes("a3.ts").prefix(SegmentHead.mostBytes)))
        for piece in pieces { #expect(!"\(piece.text)".contains("TOKEN") && !"\(piece.text)".contains("MASTERKEY")) }
        // A black picture does not change: one finding is enough.
        #expect(found.first?.evidence["freeze"] == nil)
    }

    @Test("A round says what the playlists declare and rarely change")
    func outline() async throws {
        let folder = try Scratch()
        try await generate("smptebars=size=640x360:rate=25:duration=4", in: folder)
        let rounds = try await rounds(of: folder) { $0.segmentCount = 1 }
        #expect(
            rounds.last?.outline == [
                "ladder": ["0.90 Mbit/s"], "playlist version": ["3"], "target duration": ["2 s"],
                "encryption": ["none"],
            ]
        )
    }

    @Test("A segment of fragmented MP4 begins with its initialization segment, so that players read it")
    func fragments() async throws {
        let folder = try Scratch()
        try await generate("smptebars=size=640x360:rate=25:duration=8", in: folder, "-hls_segment_type", "fmp4")
        let rounds = try await rounds(of: folder, configure: pictures)
        let pieces = try #require(rounds.compactMap { $0.evidence["freeze"] }.first)
        let segment = try #require(pieces.first { $0.kind == .segment })
        #expect(segment.ending == "mp4")
        #expect(segment.bytes.starts(with: folder.bytes("init.mp4")))
        try Data(segment.bytes).write(to: URL(fileURLWithPath: folder.file("kept.mp4")))
        let probed = try await command([
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_name", folder.file("kept.mp4"),
        ])
        #expect(probed.output.contains("h264"))
    }

    @Test("A broken rule of a segment leaves the segment's first bytes, however large it is")
    func largeSegment() async throws {
        let folder = try Scratch()
        let page = Array("<svg onload=alert(1)>".utf8) + [UInt8](repeating: 0x41, count: 3 << 20)
        try Data(page).write(to: URL(fileURLWithPath: folder.file("big.ts")))
        try Data(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nbig.ts?sig=SEGMENTSIG\n#EXT-X-ENDLIST\n".utf8
        ).write(to: URL(fileURLWithPath: folder.file("master.m3u8")))
        let rounds = try await rounds(of: folder) { configuration in
            (configuration.segmentCount, configuration.rules) = (1, StreamCheckConfiguration().rules)
        }
        let evidence = rounds.flatMap { $0.evidence.values.flatMap(\.self) }
        let segment = try #require(evidence.first { $0.kind == .segment })
        #expect(segment.bytes == Array(page.prefix(64 << 10)) && segment.ending == "bin")
        #expect(segment.text == "http://folder.example/big.ts, the first 64 KiB of 3145 kB")
        #expect(!evidence.contains { String(decoding: $0.bytes, as: UTF8.self).contains("SEGMENTSIG") })
    }

    @Test("A segment that is missing leaves the playlist that lists it")
    func missingSegment() async throws {
        let folder = try Scratch()
        try await generate("testsrc=size=160x90:rate=25:duration=6", in: folder)
        try FileManager.default.removeItem(atPath: folder.file("a1.ts"))
        let rounds = try await rounds(of: folder) { configuration in
            (configuration.segmentCount, configuration.rules) = (3, StreamCheckConfiguration().rules)
        }
        let pieces = try #require(rounds.compactMap { $0.evidence["segment-unavailable"] }.first)
        #expect(pieces.map(\.kind) == [.playlist])
        #expect(pieces.first?.text.hasPrefix("http://folder.example/a.m3u8, read at ") == true)
    }

    @Test("Without evidence, rounds carry none")
    func off() async throws {
        let folder = try Scratch()
        try await generate("color=black:size=160x90:rate=25:duration=6", in: folder)
        let rounds = try await rounds(of: folder) { configuration in
            pictures(&configuration)
            configuration.keepsEvidence = false
        }
        #expect(rounds.contains { !$0.media.isEmpty })
        #expect(rounds.allSatisfy { $0.evidence.isEmpty })
    }
}

@Suite("Secrets in playlists")
struct ManifestRedactionTests {
    private func redacted(_ text: String) -> String {
        String(decoding: ManifestExcerpt(Array(text.utf8)).redacted, as: UTF8.self)
    }

    @Test(
        "What may be secret is taken out, and the rest stays",
        arguments: [
            ("a.ts?token=S&b=1\n#EXTINF:4,\nb.ts#S", "a.ts?…\n#EXTINF:4,\nb.ts#…"),
            ("https://user:S@cdn.example:8443/a/b.ts", "https://…@cdn.example:8443/a/b.ts"),
            ("//S@S:p@cdn.example/a", "//…@cdn.example/a"),
            ("https://cdn.example/@home/a", "https://cdn.example/@home/a"),
            (
                "#EXT-X-KEY:METHOD=AES-128,URI=\"https://k.example/k?S\",IV=0x1",
                "#EXT-X-KEY:METHOD=AES-128,URI=\"https://k.example/k?…\",IV=0x1"
            ),
            (
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,S\",KEYFORMAT=\"x\"",
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:…\",KEYFORMAT=\"x\""
            ),
            ("URI=\"DATA:,S\"", "URI=\"DATA:…\""), ("<metadata:x/>", "<metadata:x/>"),
            (
                " #EXT-X-DEFINE:NAME=\"t\",VALUE=\"S S\"\r\n#EXT-X-DEFINE:QUERYPARAM=\"t\"",
                " #EXT-X-DEFINE:NAME=\"t\",VALUE=\"…\"\r\n#EXT-X-DEFINE:QUERYPARAM=\"t\""
            ),
            (
                "<?xml version=\"1.0\"?>\n<BaseURL>https://u:S@c.example/x?S&amp;t=S</BaseURL>&#10;",
                "<?xml version=\"1.0\"?>\n<BaseURL>https://…@c.example/x?…</BaseURL>&#10;"
            ),
            ("<up:UrlQueryInfo queryString='S=S x' id='1'/>", "<up:UrlQueryInfo queryString='…' id='1'/>"),
            ("a\u{0}b\u{1B}[31mc\u{7F}", "a\u{FFFD}b\u{FFFD}[31mc\u{FFFD}"), ("", ""), ("?", "?"),
            ("#EXTM3U", "#EXTM3U"),
        ]
    )
    func table(text: String, expected: String) { #expect(redacted(text) == expected) }

    @Test("A playlist that is not UTF-8 becomes text")
    func encoding() {
        let bytes = ManifestExcerpt([0x23, 0xFF, 0xFE, 0x0A]).redacted
        #expect(String(validating: bytes, as: UTF8.self) != nil)
    }

    @Test("A long text keeps its beginning and its end, and is not cut within an address", arguments: [true, false])
    func long(isMarkup: Bool) {
        let item = isMarkup ? "<S t=\"1\" media=\"a.ts?token=SECRETSECRET\"/>" : "#EXTINF:4,\na.ts?token=SECRETSECRET\n"
        let text =
            (isMarkup ? "<MPD>" : "#EXTM3U\n") + String(repeating: item, count: 8_000) + (isMarkup ? "</MPD>" : "#END")
        let result = redacted(text)
        #expect(result.hasPrefix(isMarkup ? "<MPD>" : "#EXTM3U") && result.hasSuffix(isMarkup ? "</MPD>" : "#END"))
        #expect(result.contains("bytes are left out here"))
        #expect(!result.contains("SECRET") && result.utf8.count < 2 * ManifestExcerpt.partBytes + 100)
    }

    @Test(
        "Texts of one kind of sign take no more than linear time",
        arguments: ["/", "?", "#", "\"", "data:", "a@", "q"]
    )
    func hostile(sign: String) {
        let text = String(repeating: sign, count: 60_000 / sign.utf8.count)
        #expect(redacted(text).utf8.count <= 3 * text.utf8.count)
    }
}
