import Instrument
import InstrumentAds
import InstrumentProbe
import TestTraits
import Testing

/// Interstitials that a probe plays, in virtual time: every instant is exact.
@Suite("Played HLS interstitials", .ownThread, .timeLimit(.minutes(30)))
struct InterstitialPlaybackTests {
    /// Content of 12 s, ads of 2, 4 and 6 s, and lists of assets.
    private static func answers(_ tags: [String], content: Int = 6)
        -> @Sendable (String, String) -> OverlayTransport.Answer?
    {
        { path, _ in
            switch path {
            case "/content.m3u8": .text(Playlist.text(content, tags: [0: tags]))
            case "/ad2.m3u8": .text(Playlist.text(1))
            case "/ad4.m3u8": .text(Playlist.text(2))
            case "/ad6.m3u8": .text(Playlist.text(3))
            case "/list4.json": .text("{\"ASSETS\":[{\"URI\":\"/ad4.m3u8\",\"DURATION\":4}]}")
            case "/list6.json":
                .text("{\"ASSETS\":[{\"URI\":\"ad2.m3u8\",\"DURATION\":2},{\"URI\":\"ad4.m3u8\",\"DURATION\":4.0}]}")
            case "/empty.json": .text("{\"ASSETS\":[]}")
            case "/broken.json": .text("{\"ASSETS\":")
            case "/gone.m3u8", "/gone.json": .status(404)
            case "/silent.json", "/silent.m3u8": .silence
            default: nil
            }
        }
    }

    private func play(
        _ tags: [String],
        _ ads: AdConfiguration = AdConfiguration(),
        _ configuration: ProbeConfiguration = ProbeConfiguration(profile: .plain),
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> Staged {
        try await Stage.play("content.m3u8", ads, configuration, answers: Self.answers(tags), script: script)
    }

    @Test("A pre-roll with a limit and a mid-roll by list play at the instants of the check value")
    func checkValue() async throws {
        let played = try await play([
            Playlist.interstitial(
                "pre",
                at: 0,
                "CUE=\"PRE\",X-ASSET-URI=\"ad4.m3u8\",DURATION=4,X-PLAYOUT-LIMIT=2,X-RESUME-OFFSET=0"
            ),
            Playlist.interstitial("mid", at: 2, "X-ASSET-LIST=\"list4.json\",X-RESUME-OFFSET=0"),
        ])
        #expect(played.outcome == .ended)
        #expect(
            played.course == [
                "AdBreakBegin@0:0", "AdBegin@0:0", "AdFinish@2000:0", "AdBreakFinish@2000:0", "Start@2000:0",
                "PauseBegin@4000:2000", "AdBreakBegin@4000:2000", "AdBegin@4000:2000", "AdFinish@8000:2000",
                "AdBreakFinish@8000:2000", "PauseFinish@8000:2000", "End@18000:12000",
            ]
        )
        #expect(played.all(.adBegin).map { $0[.adRoll] } == [.pre, .mid])
        #expect(played.all(.adBegin).map { $0[.adId] } == ["pre", "mid"])
        #expect(played.rejected.isEmpty)
        #expect(played.paths.contains { $0.hasPrefix("/list4.json?_HLS_primary_id=") })
        #expect(!played.paths.contains { $0.contains("_HLS_start_offset") })
    }

    @Test("A mid-roll without a resume offset replaces as much content as it plays")
    func actualDuration() async throws {
        let played = try await play([Playlist.interstitial("mid", at: 3, "X-ASSET-LIST=\"list6.json\"")])
        #expect(
            played.course == [
                "Start@0:0", "PauseBegin@3000:3000", "AdBreakBegin@3000:3000", "AdBegin@3000:3000",
                "AdFinish@5000:3000", "AdBegin@5000:3000", "AdFinish@9000:3000", "AdBreakFinish@9000:3000",
                "PauseFinish@9000:9000", "End@12000:12000",
            ]
        )
        #expect(played.all(.adBreakBegin).first?[.adsRequested] == 2)
        // The quartiles of both ads, each once.
        for action: Action in [.adFirstQuartile, .adSecondQuartile, .adThirdQuartile] {
            #expect(played.all(action).count == 2)
        }
        #expect(played.all(.adSecondQuartile).map { $0.time.instant.milliseconds } == [4000, 7000])
    }

    @Test("The asset that fails leaves its place to the next one, and the actual duration counts")
    func failedAsset() async throws {
        let played = try await Stage.play("content.m3u8") { path, query in
            if path == "/list.json" {
                return .text(
                    "{\"ASSETS\":[{\"URI\":\"/gone.m3u8\",\"DURATION\":2},{\"URI\":\"/ad4.m3u8\",\"DURATION\":4}]}"
                )
            }
            let tags = [Playlist.interstitial("mid", at: 2, "X-ASSET-LIST=\"list.json\"")]
            return Self.answers(tags)(path, query)
        }
        #expect(played.outcome == .ended)
        #expect(played.all(.adError).map { $0[.adErrorCode] } == [401])
        #expect(played.all(.adBegin).count == 1 && played.all(.adFinish).count == 1)
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [6000])
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [12_000])
    }

    @Test(
        "Content plays on when nothing of an interstitial can be played",
        arguments: [
            ("X-ASSET-URI=\"gone.m3u8\",DURATION=4", 401), ("X-ASSET-LIST=\"gone.json\"", 401),
            ("X-ASSET-LIST=\"broken.json\"", 101), ("X-ASSET-LIST=\"silent.json\"", 402),
            ("X-ASSET-URI=\"silent.m3u8\",DURATION=4", 402),
        ]
    )
    func nothingToPlay(attributes: String, code: Int) async throws {
        var ads = AdConfiguration(startTimeout: .seconds(3))
        ads.limits.fetchTimeout = .milliseconds(300)
        let played = try await play([Playlist.interstitial("mid", at: 2, attributes)], ads)
        #expect(played.outcome == .ended)
        #expect(played.all(.adError).map { $0[.adErrorCode] } == [code])
        #expect(played.all(.adBegin).isEmpty)
        #expect(played.all(.end).map { $0[.position]?.milliseconds } == [12_000])
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [2000])
        #expect(played.rejected.isEmpty)
    }

    @Test("An empty list of assets interrupts nothing")
    func emptyList() async throws {
        let played = try await play([Playlist.interstitial("mid", at: 2, "X-ASSET-LIST=\"empty.json\"")])
        #expect(played.all(.adBreakBegin).isEmpty && played.all(.adError).isEmpty)
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [12_000])
    }

    @Test("A post-roll plays behind the content, and the content ends behind it")
    func postRoll() async throws {
        let played = try await play([
            Playlist.interstitial("post", at: 0, "CUE=\"POST\",X-ASSET-URI=\"ad4.m3u8\",DURATION=4")
        ])
        #expect(
            played.course == [
                "Start@0:0", "PauseBegin@12000:12000", "AdBreakBegin@12000:12000", "AdBegin@12000:12000",
                "AdFinish@16000:12000", "AdBreakFinish@16000:12000", "PauseFinish@16000:12000", "End@16000:12000",
            ]
        )
        #expect(played.all(.adBegin).first?[.adRoll] == .post)
        #expect(played.rejected.isEmpty)
    }

    @Test("Interstitials of one position play in the order of their tags, and their resume offsets add up")
    func onePosition() async throws {
        let played = try await play([
            Playlist.interstitial("a", at: 4, "X-ASSET-URI=\"ad2.m3u8\",DURATION=2,X-RESUME-OFFSET=1"),
            Playlist.interstitial("b", at: 4, "X-ASSET-URI=\"ad4.m3u8\",DURATION=4,X-RESUME-OFFSET=1.5"),
        ])
        #expect(played.all(.adBegin).map { $0[.adId] } == ["a", "b"])
        #expect(played.all(.adBreakBegin).count == 1)
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [6500])
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [15_500])
    }

    @Test("X-SNAP moves both transitions to boundaries of segments")
    func snapping() async throws {
        let played = try await play([
            Playlist.interstitial(
                "mid",
                at: 4.7,
                "X-ASSET-URI=\"ad4.m3u8\",DURATION=4,X-RESUME-OFFSET=3.4,X-SNAP=\"OUT,IN\""
            )
        ])
        #expect(played.all(.pauseBegin).map { $0[.position]?.milliseconds } == [4000])
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [8000])
    }

    @Test("A negative resume offset repeats content, and the interstitial plays once more only after a seek")
    func negativeOffset() async throws {
        let played = try await play([
            Playlist.interstitial("mid", at: 6, "X-ASSET-URI=\"ad2.m3u8\",DURATION=2,X-RESUME-OFFSET=-3")
        ])
        #expect(played.all(.adBreakBegin).count == 1)
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [3000])
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [17_000])
    }

    @Test("A seek back plays a mid-roll again, unless its cue is ONCE", arguments: [false, true])
    func seekingBack(isOnce: Bool) async throws {
        let cue = isOnce ? "CUE=\"ONCE\"," : ""
        let played = try await play([
            Playlist.interstitial("mid", at: 4, cue + "X-ASSET-URI=\"ad2.m3u8\",DURATION=2,X-RESUME-OFFSET=0")
        ]) { clock, probe in
            clock.at(8000) { [weak probe] in probe?.seek(to: .seconds(3)) }
        }
        #expect(played.outcome == .ended)
        #expect(played.all(.adBreakBegin).count == (isOnce ? 1 : 2))
        #expect(played.all(.end).map { $0[.position]?.milliseconds } == [12_000])
    }

    @Test("A seek over an interstitial plays it only if it forbids the jump", arguments: [false, true])
    func seekingForward(isForbidden: Bool) async throws {
        let restriction = isForbidden ? ",X-RESTRICT=\"JUMP\"" : ""
        let played = try await play([
            Playlist.interstitial("mid", at: 6, "X-ASSET-URI=\"ad2.m3u8\",DURATION=2,X-RESUME-OFFSET=0" + restriction)
        ]) { clock, probe in
            clock.at(2000) { [weak probe] in probe?.seek(to: .seconds(10)) }
        }
        #expect(played.all(.adBegin).count == (isForbidden ? 1 : 0))
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [isForbidden ? 6000 : 4000])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("A playback that joins in the middle of an interstitial asks for the offset and plays the rest")
    func joining() async throws {
        let played = try await play(
            [Playlist.interstitial("mid", at: 2, "X-ASSET-LIST=\"list6.json\",DURATION=6")],
            AdConfiguration(),
            ProbeConfiguration(profile: .plain, startPosition: .seconds(5))
        )
        #expect(played.paths.contains { $0.contains("list6.json") && $0.contains("_HLS_start_offset=3.000") })
        #expect(played.all(.adBegin).count == 1)
        #expect(played.all(.adFinish).map { $0.time.instant.milliseconds } == [3000])
        #expect(played.all(.start).map { $0[.position]?.milliseconds } == [8000])
        #expect(played.outcome == .ended)
    }

    @Test("The person pauses, resumes and skips an ad; the content stays where it is")
    func controls() async throws {
        let played = try await play([
            Playlist.interstitial(
                "mid",
                at: 2,
                "X-ASSET-URI=\"ad6.m3u8\",DURATION=6,X-RESUME-OFFSET=0,X-SKIP-CONTROL-OFFSET=2"
            )
        ]) { clock, probe in
            clock.at(3000) { [weak probe] in probe?.pause() }
            clock.at(7000) { [weak probe] in probe?.resume() }
            // Before the offset: nothing happens.
            clock.at(7500) { [weak probe] in probe?.ads?.skip() }
            clock.at(9000) { [weak probe] in probe?.ads?.skip() }
        }
        #expect(
            played.course == [
                "Start@0:0", "PauseBegin@2000:2000", "AdBreakBegin@2000:2000", "AdBegin@2000:2000",
                "AdPauseBegin@3000:2000", "AdPauseFinish@7000:2000", "AdSkip@9000:2000", "AdFinish@9000:2000",
                "AdBreakFinish@9000:2000", "PauseFinish@9000:2000", "End@19000:12000",
            ]
        )
        #expect(played.rejected.isEmpty)
    }

    @Test("A click is reported with its ad, and an ad that is paused for a minute pings until it ends")
    func clickAndPings() async throws {
        let played = try await play([
            Playlist.interstitial("mid", at: 2, "X-ASSET-URI=\"ad6.m3u8\",DURATION=6,X-RESUME-OFFSET=0")
        ]) { clock, probe in
            clock.at(3000) { [weak probe] in probe?.ads?.click() }
            clock.at(4000) { [weak probe] in probe?.pause() }
            clock.at(70_000) { [weak probe] in probe?.resume() }
        }
        #expect(played.outcome == .ended)
        let click = try #require(played.all(.adClick).first)
        #expect(played.all(.adClick).count == 1 && click[.adId] == "mid" && click[.adPosition]?.milliseconds == 1000)
        let pings = played.all(.ping).filter { $0[.isAdsTracker] == true }
        #expect(pings.map { $0.time.instant.milliseconds } == [32_000, 62_000])
        #expect(pings.allSatisfy { $0[.adId] == "mid" && $0[.inAdBlock] == true })
        // Clicks outside an ad are nothing.
        #expect(played.rejected.isEmpty)
    }

    @Test("A stop in an ad closes ad and break behind the stop, and counts as an exit")
    func stopping() async throws {
        let played = try await play([
            Playlist.interstitial("mid", at: 2, "X-ASSET-URI=\"ad6.m3u8\",DURATION=6,X-RESUME-OFFSET=0")
        ]) { clock, probe in
            clock.at(3000) { [weak probe] in probe?.stop() }
        }
        #expect(played.outcome == .stopped)
        #expect(
            played.course.suffix(3) == ["Stop@3000:2000", "AdFinish@3000:2000", "AdBreakFinish@3000:2000"]
        )
        #expect(played.metrics.contains { $0.name == .adExits })
    }

    @Test("A live playback resumes behind a mid-roll at the same latency")
    func liveLatency() async throws {
        let clock = VirtualClock()
        let begin = clock.now
        let played = try await Stage.play("live.m3u8", clock: clock) { path, query in
            guard path == "/live.m3u8" else { return Self.answers([])(path, query) }
            let seconds = Int(begin.duration(to: clock.now).components.seconds)
            return .text(Self.livePlaylist(at: seconds, isOver: seconds >= 60))
        } script: { clock, probe in
            clock.at(50_000) { [weak probe] in probe?.stop() }
        }
        let latencies = played.events.compactMap { event in event[.liveLatency]?.milliseconds }
        let before = try #require(played.all(.pauseBegin).first?[.liveLatency]?.milliseconds)
        let after = try #require(played.events.last { $0.action == .stop }?[.liveLatency]?.milliseconds)
        #expect(played.all(.adBegin).count == 1)
        #expect(abs(after - before) <= 2_100, "\(latencies)")
        #expect(played.all(.pauseFinish).first?[.position]?.milliseconds == 30_000)
    }

    /// A window of five segments that ends `seconds` after its begin, with a mid-roll of 6 s at 24 s.
    private static func livePlaylist(at seconds: Int, isOver: Bool) -> String {
        let last = 8 + seconds / 2
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2"]
        lines.append("#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"")
        let first = last - 8
        lines.append("#EXT-X-MEDIA-SEQUENCE:\(first)")
        lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(first > 0 ? (first - 1) / 12 : 0)")
        for number in first...last {
            if number > 0, number % 12 == 0 { lines.append("#EXT-X-DISCONTINUITY") }
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(Playlist.date(Double(number * 2)))")
            if number == last {
                lines.append(Playlist.interstitial("mid", at: 24, "X-ASSET-URI=\"/ad6.m3u8\",DURATION=6"))
            }
            lines += ["#EXTINF:2.000,", "/vod/fmp4/v0/\(number % 12).m4s"]
        }
        if isOver { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }
}
