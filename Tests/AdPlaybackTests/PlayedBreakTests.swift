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

    @Test("A break of a VMAP document plays in a live stream at its position, and the latency stays")
    func live() async throws {
        let clock = VirtualClock()
        let begin = clock.now
        var ads = AdConfiguration()
        ads.tag = AdURL(try await Stage.origin().url("doc.xml"))
        let media = try await Stage.origin().url("ad6.m3u8")
        let document =
            "<vmap:VMAP xmlns:vmap=\"http://www.iab.net/videosuite/vmap\" version=\"1.0\">"
            + "<vmap:AdBreak timeOffset=\"00:00:24\" breakType=\"linear\" breakId=\"b\"><vmap:AdSource id=\"s\"><vmap:VASTAdData>"
            + "<VAST version=\"3.0\"><Ad id=\"x\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>http://127.0.0.1:9/i</Impression><Creatives><Creative><Linear><Duration>00:00:06</Duration><MediaFiles>"
            + "<MediaFile delivery=\"streaming\" type=\"application/x-mpegurl\" width=\"1\" height=\"1\">\(media)</MediaFile>"
            + "</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>"
            + "</vmap:VASTAdData></vmap:AdSource></vmap:AdBreak></vmap:VMAP>"
        let played = try await Stage.play("live.m3u8", ads, clock: clock) { path, _ in
            switch path {
            case "/live.m3u8": .text(Self.live(at: Int(begin.duration(to: clock.now).components.seconds)))
            case "/ad6.m3u8": .text(Playlist.text(3))
            case "/doc.xml": .text(document)
            default: nil
            }
        } script: { clock, probe in
            clock.at(50_000) { [weak probe] in probe?.stop() }
        }
        #expect(played.all(.adBegin).count == 1 && played.all(.adFinish).count == 1, "\(played.course)")
        let pause = try #require(played.all(.pauseBegin).first), resume = try #require(played.all(.pauseFinish).first)
        #expect(pause[.position]?.milliseconds == 24_000 && resume[.position]?.milliseconds == 30_000)
        let stop = try #require(played.all(.stop).first)
        let latencies = try [#require(pause[.liveLatency]), #require(stop[.liveLatency])].map(\.milliseconds)
        #expect(abs(latencies[0] - latencies[1]) <= 2_100, "\(latencies)")
        #expect(played.rejected.isEmpty)
    }

    /// A window of nine segments that ends 18 s behind its begin and moves on with time.
    private static func live(at seconds: Int) -> String {
        let last = 8 + seconds / 2
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"",
        ]
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(last - 8)")
        lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(last > 8 ? (last - 9) / 12 : 0)")
        for number in (last - 8)...last {
            if number > 0, number % 12 == 0 { lines.append("#EXT-X-DISCONTINUITY") }
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Playlist.date(Double(number * 2)))")
            lines += ["#EXTINF:2.000,", "/vod/fmp4/v0/\(number % 12).m4s"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
