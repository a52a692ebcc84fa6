import Instrument
import InstrumentAds
import InstrumentOrigin
import InstrumentProbe
import TestTraits
import Testing

/// Rows of the ads hub's table that need a disturbed ad, through a break that really plays, in virtual time.
@Suite("Disturbed breaks", .ownThread, .timeLimit(.minutes(30)))
struct PlayedBreakTests {
    private static let ad =
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"\n"
        + "#EXTINF:2,\n/vod/fmp4/v0/0.m4s\n#EXTINF:2,\n/vod/fmp4/v0/1.m4s?late\n#EXT-X-ENDLIST\n"

    /// Content of 12 s with a break at 2 s, whose ad of 4 s gets its second segment late.
    private func play(_ ads: AdConfiguration = AdConfiguration(), refusals: Int) async throws -> Staged {
        let profile = PlayerProfile.plain(retries: 10, every: .seconds(3))
        let left = Lock(refusals)
        let tag = Playlist.interstitial("mid", at: 2, "X-ASSET-URI=\"late.m3u8\",DURATION=4,X-RESUME-OFFSET=0")
        return try await Stage.play("content.m3u8", ads, ProbeConfiguration(profile: profile)) { path, query in
            switch (path, query) {
            case ("/content.m3u8", _): .text(Playlist.text(6, tags: [0: [tag]]))
            case ("/late.m3u8", _): .text(Self.ad)
            case ("/vod/fmp4/v0/1.m4s", "late"):
                left.withLock { left in
                    left -= 1
                    return left >= 0 ? .status(503) : nil
                }
            default: nil
            }
        }
    }

    @Test("An ad that waits for data buffers once; the wait is no rebuffering and no buffer time of the content")
    func buffering() async throws {
        let played = try await play(refusals: 1)
        #expect(played.outcome == .ended)
        let buffering = played.events.filter { [.adBufferBegin, .adBufferFinish].contains($0.action) }
        #expect(buffering.map(\.action) == [.adBufferBegin, .adBufferFinish])
        let begin = try #require(buffering.first), finish = try #require(buffering.last)
        // The second segment comes 3 s after its refusal, when the first one has played for 2 s.
        #expect(buffering.map(\.time.instant.milliseconds) == [4000, 5000])
        for event in [begin, finish] {
            #expect(event[.adId] == "mid" && event[.inAdBlock] == true && event[.inAdBreakBlock] == true)
            #expect(event[.position]?.milliseconds == 2000)
            #expect(event[.adPosition]?.milliseconds == 2000)
        }
        #expect(!played.metrics.contains { $0.name == .numRebuffers || $0.name == .rebufferTime })
        let end = try #require(played.all(.end).first)
        #expect(end[.accumBufferTime]?.milliseconds ?? 0 == 0)
        #expect(
            played.course == [
                "Start@0:0", "PauseBegin@2000:2000", "AdBreakBegin@2000:2000", "AdBegin@2000:2000",
                "AdFinish@7000:2000",
                "AdBreakFinish@7000:2000", "PauseFinish@7000:2000", "End@17000:12000",
            ]
        )
        #expect(played.rejected.isEmpty)
    }

    @Test("The content's buffer, its rendition and what adaptation has learnt survive a break")
    func survival() async throws {
        let origin = try await Stage.origin().url("")
        let response =
            "<VAST version=\"3.0\"><Ad id=\"x\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>http://t.example/i</Impression><Creatives><Creative><Linear><Duration>00:00:04</Duration>"
            + "<MediaFiles><MediaFile delivery=\"streaming\" type=\"application/x-mpegurl\" width=\"1\" height=\"1\">"
            + "\(origin)ad4.m3u8</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>"
        let document =
            "<vmap:VMAP xmlns:vmap=\"http://www.iab.net/vmap-1.0\" version=\"1.0\">"
            + "<vmap:AdBreak timeOffset=\"00:00:07\" breakType=\"linear\"><vmap:AdSource><vmap:VASTAdData>\(response)"
            + "</vmap:VASTAdData></vmap:AdSource></vmap:AdBreak></vmap:VMAP>"
        let ads = AdConfiguration(tag: AdURL(origin + "doc.xml"))
        let played = try await Stage.play("vod/ts/master.m3u8", ads, ProbeConfiguration()) { path, _ in
            switch path {
            case "/ad4.m3u8": .text(Playlist.text(2))
            case "/doc.xml": .text(document)
            default: nil
            }
        }
        #expect(played.outcome == .ended && played.rejected.isEmpty && played.all(.adFinish).count == 1)
        let before = try #require(played.all(.pauseBegin).first), after = try #require(played.all(.pauseFinish).first)
        #expect(before[.position] == .seconds(7) && after[.position] == .seconds(7))
        #expect(before[.bitrate] == after[.bitrate] && before[.resolutionHeight] == 480)
        #expect(after[.bufferLevel] ?? .zero >= before[.bufferLevel] ?? .seconds(1_000))
        // No segment of the content is fetched twice, and nothing is played at a lower quality behind the break.
        let segments = played.paths.filter { $0.hasPrefix("/vod/ts/") && $0.hasSuffix(".ts") }
        #expect(segments.count == 12 && Set(segments.map { $0.split(separator: "/").last }).count == 12)
        #expect(played.all(.qualityChangeDown).isEmpty)
        #expect(!played.metrics.contains { $0.name == .numRebuffers })
    }

    @Test("An ad that waits for longer than its time ends while it buffers, and the break ends with it")
    func endless() async throws {
        var ads = AdConfiguration()
        ads.startTimeout = .seconds(4)
        let played = try await play(ads, refusals: 100)
        #expect(played.outcome == .ended)
        let actions = played.events.map(\.action).filter {
            [.adBegin, .adBufferBegin, .adBufferFinish, .adError, .adFinish, .adBreakFinish].contains($0)
        }
        #expect(actions == [.adBegin, .adBufferBegin, .adError, .adBufferFinish, .adFinish, .adBreakFinish])
        #expect(played.all(.adError).map { $0[.adErrorCode] } == [402])
        #expect(played.all(.adFinish).map { $0.time.instant.milliseconds } == [8000])
        #expect(played.all(.end).map { $0[.position]?.milliseconds } == [12_000])
        #expect(played.rejected.isEmpty)
    }
}
