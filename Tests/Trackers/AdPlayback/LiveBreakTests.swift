import Instrument
import InstrumentAds
import InstrumentOrigin
import InstrumentProbe
import TestTraits
import Testing

/// Breaks of a VMAP document in a live stream, in virtual time. The playback joins at 12 s, six seconds behind the end
/// of a window that begins at 0 s.
@Suite("Breaks of an ad server in live streams", .ownThread, .timeLimit(.minutes(30)))
struct LiveBreakTests {
    /// Plays for 50 s.
    /// - Parameters:
    ///   - breaks: the attributes of each break; its ad is of 2 s unless they name a duration.
    ///   - tags: tags of the stream before the segments with these numbers, of two seconds each.
    private func play(
        _ breaks: [String],
        ad: Int = 2,
        tags: [Int: [String]] = [:],
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> Staged {
        let clock = VirtualClock()
        let begin = clock.now
        var ads = AdConfiguration()
        ads.tag = AdURL(try await Stage.origin().url("doc.xml"))
        let media = try await Stage.origin().url("ad.m3u8")
        let document =
            "<vmap:VMAP xmlns:vmap=\"http://www.iab.net/vmap-1.0\" version=\"1.0\">"
            + breaks.map { Self.adBreak($0, media) }.joined() + "</vmap:VMAP>"
        return try await Stage.play("live.m3u8", ads, clock: clock) { path, _ in
            switch path {
            case "/live.m3u8": .text(Self.live(at: Int(begin.duration(to: clock.now).components.seconds), tags))
            case "/ad.m3u8": .text(Playlist.text(ad / 2))
            case "/doc.xml": .text(document)
            default: nil
            }
        } script: { clock, probe in
            clock.at(50_000) { [weak probe] in probe?.stop() }
            script(clock, probe)
        }
    }

    private static func adBreak(_ attributes: String, _ media: String) -> String {
        "<vmap:AdBreak \(attributes) breakType=\"linear\"><vmap:AdSource><vmap:VASTAdData>"
            + "<VAST version=\"3.0\"><Ad id=\"x\"><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle>"
            + "<Impression>http://127.0.0.1:9/i</Impression><Creatives><Creative><Linear><Duration>00:00:02</Duration>"
            + "<MediaFiles><MediaFile delivery=\"streaming\" type=\"application/x-mpegurl\" width=\"1\" height=\"1\">"
            + "\(media)</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>"
            + "</vmap:VASTAdData></vmap:AdSource></vmap:AdBreak>"
    }

    /// A window of nine segments that ends 18 s behind its begin and moves on with time.
    private static func live(at seconds: Int, _ tags: [Int: [String]]) -> String {
        let last = 8 + seconds / 2
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"",
        ]
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(last - 8)")
        lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(last > 8 ? (last - 9) / 12 : 0)")
        for number in (last - 8)...last {
            if number > 0, number % 12 == 0 { lines.append("#EXT-X-DISCONTINUITY") }
            lines += tags[number] ?? []
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Playlist.date(Double(number * 2)))")
            lines += ["#EXTINF:2.000,", "/vod/fmp4/v0/\(number % 12).m4s"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func positions(_ played: Staged, _ action: Action) -> [Int64?] {
        played.all(action).map { $0[.position].map { Int64($0.milliseconds) } }
    }

    @Test("A break plays at its position, and the latency stays")
    func latency() async throws {
        let played = try await play(["timeOffset=\"00:00:24\""], ad: 6)
        #expect(played.all(.adBegin).count == 1 && played.all(.adFinish).count == 1, "\(played.course)")
        #expect(positions(played, .pauseBegin) == [24_000] && positions(played, .pauseFinish) == [30_000])
        let pause = try #require(played.all(.pauseBegin).first), stop = try #require(played.all(.stop).first)
        let latencies = try [#require(pause[.liveLatency]), #require(stop[.liveLatency])].map(\.milliseconds)
        #expect(abs(latencies[0] - latencies[1]) <= 2_100, "\(latencies)")
        #expect(played.rejected.isEmpty)
    }

    @Test("A break before the position at which the playback joins does not play")
    func stale() async throws {
        let played = try await play(["timeOffset=\"00:00:04\"", "timeOffset=\"00:00:20\""])
        #expect(positions(played, .adBegin) == [20_000], "\(played.course)")
        #expect(played.rejected.isEmpty)
    }

    @Test("A break repeats after its interval for as long as the stream lasts")
    func repeated() async throws {
        let played = try await play(["timeOffset=\"00:00:16\" repeatAfter=\"00:00:10\""])
        #expect(positions(played, .adBegin) == [16_000, 26_000, 36_000, 46_000, 56_000], "\(played.course)")
        #expect(positions(played, .pauseFinish) == [18_000, 28_000, 38_000, 48_000, 58_000])
        #expect(played.rejected.isEmpty)
    }

    @Test("A break at a share of the duration has no place in a live stream, which is reported once")
    func share() async throws {
        let played = try await play(["timeOffset=\"50%\"", "timeOffset=\"00:00:20\"", "timeOffset=\"00:00:30\""])
        #expect(positions(played, .adBegin) == [20_000, 30_000], "\(played.course)")
        let messages = played.all(.adError).map { $0[.errorDescription] ?? "" }
        #expect(messages.count == 1 && messages[0].contains("50%"), "\(messages)")
        #expect(played.rejected.isEmpty)
    }

    @Test("A signal is reported once, also if a seek back passes it again after the window has moved")
    func seekBack() async throws {
        let tags = [8: ["#EXT-X-CUE-OUT:2"], 9: ["#EXT-X-CUE-IN"]]
        let played = try await play([], tags: tags) { clock, probe in
            clock.at(8_000) { [weak probe] in probe?.seek(to: .seconds(14)) }
        }
        #expect(played.all(.seekFinish).map { $0[.position]?.milliseconds } == [14_000])
        #expect(positions(played, .adSignal) == [16_000, 18_000], "\(played.course)")
        #expect(played.rejected.isEmpty)
    }

    @Test("`#n` counts the breaks that the stream marks behind the join, also those that have left the window")
    func marked() async throws {
        // At 4 s, before the join; at 14 s; at 32 s, when the mark at 14 s has left the window.
        let tags = [2, 7, 16].reduce(into: [Int: [String]]()) { tags, number in
            tags[number] = ["#EXT-X-CUE-OUT:2"]
            tags[number + 1] = ["#EXT-X-CUE-IN"]
        }
        let played = try await play(["timeOffset=\"#2\""], tags: tags)
        #expect(positions(played, .adBegin) == [32_000], "\(played.course)")
        #expect(played.rejected.isEmpty)
        let first = try await play(["timeOffset=\"#1\""], tags: tags)
        #expect(positions(first, .adBegin) == [14_000], "\(first.course)")
    }
}
