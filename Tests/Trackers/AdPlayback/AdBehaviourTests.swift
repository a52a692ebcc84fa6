import Instrument
import InstrumentAds
import InstrumentOrigin
import InstrumentProbe
import TestTraits
import Testing

/// The fourteen actions of ads, `End`, and the four attributes that the ads hub adds: each of them through one break
/// that really plays, in virtual time.
///
/// Content of 12 s has a break at 2 s with three ads. The first one, of 4 s, waits for its second segment for a second.
/// The second one cannot be read. The third one, of 6 s, is paused from 8 s to 40 s, clicked at 41 s and skipped half a
/// second later.
@Suite("Behaviour of ads in a played break", .ownThread, .timeLimit(.minutes(30)))
struct AdBehaviourTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let check: @Sendable (Staged) throws -> Void

        init(_ name: String, _ check: @escaping @Sendable (Staged) throws -> Void) {
            (testDescription, self.check) = (name, check)
        }
    }

    private static let played = Task { try await play() }

    private static func play() async throws -> Staged {
        let late =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"\n"
            + "#EXTINF:2,\n/vod/fmp4/v0/0.m4s\n#EXTINF:2,\n/vod/fmp4/v0/1.m4s?late\n#EXT-X-ENDLIST\n"
        let list =
            "{\"ASSETS\":[{\"URI\":\"late.m3u8\",\"DURATION\":4},{\"URI\":\"junk.m3u8\",\"DURATION\":4},"
            + "{\"URI\":\"ad6.m3u8\",\"DURATION\":6}]}"
        let tag = Playlist.interstitial(
            "mid",
            at: 2,
            "X-ASSET-LIST=\"list.json\",X-RESUME-OFFSET=0,X-SKIP-CONTROL-OFFSET=1"
        )
        let refusals = Lock(1)
        let profile = PlayerProfile.plain(retries: 10, every: .seconds(3))
        return try await Stage.play("content.m3u8", AdConfiguration(), ProbeConfiguration(profile: profile)) {
            path,
            query in
            switch (path, query) {
            case ("/content.m3u8", _): .text(Playlist.text(6, tags: [0: [tag]]))
            case ("/list.json", _): .text(list)
            case ("/late.m3u8", _): .text(late)
            case ("/junk.m3u8", _): .text("no playlist")
            case ("/ad6.m3u8", _): .text(Playlist.text(3))
            case ("/vod/fmp4/v0/1.m4s", "late"):
                refusals.withLock { left in
                    left -= 1
                    return left >= 0 ? .status(503) : nil
                }
            default: nil
            }
        } script: { clock, probe in
            clock.at(8_000) { [weak probe] in probe?.pause() }
            clock.at(40_000) { [weak probe] in probe?.resume() }
            clock.at(41_000) { [weak probe] in probe?.ads?.click() }
            clock.at(41_500) { [weak probe] in probe?.ads?.skip() }
        }
    }

    /// Checks when an action was reported, and that the ads hub has marked it as one of the break and of an ad, or not.
    private static func expect(
        _ played: Staged,
        _ action: Action,
        at instants: [Int64],
        isInBreak: Bool = true,
        isInAd: Bool
    ) {
        let events = played.all(action)
        #expect(events.map { $0.time.instant.milliseconds } == instants, "\(played.course)")
        #expect(events.allSatisfy { $0[.inAdBreakBlock] == isInBreak && $0[.inAdBlock] == isInAd })
    }

    private static let rows = [
        Row("AdBreakBegin opens the break for which the content pauses") { played in
            expect(played, .adBreakBegin, at: [2_000], isInAd: false)
            #expect(played.all(.pauseBegin).map { $0.time.instant.milliseconds } == [2_000])
        },
        Row("AdBreakFinish closes the break, and the content resumes") { played in
            expect(played, .adBreakFinish, at: [41_500], isInBreak: false, isInAd: false)
            #expect(played.all(.pauseFinish).map { $0.time.instant.milliseconds } == [41_500])
        },
        Row("AdBegin opens an ad, which pings") { played in
            expect(played, .adBegin, at: [2_000, 7_000], isInAd: true)
            let pings = played.all(.ping).filter { $0[.isAdsTracker] == true }
            #expect(pings.map { $0.time.instant.milliseconds } == [37_000])
        },
        Row("AdFinish closes the ad, and its pings stop") { played in
            expect(played, .adFinish, at: [7_000, 41_500], isInAd: false)
            let last = try #require(played.all(.ping).last { $0[.isAdsTracker] == true })
            #expect(last.time.instant.milliseconds < 41_500)
        },
        Row("AdPauseBegin is no pause of the content") { played in
            expect(played, .adPauseBegin, at: [8_000], isInAd: true)
            #expect(played.all(.pauseBegin).count == 1)
        },
        Row("AdPauseFinish is no end of the content's pause") { played in
            expect(played, .adPauseFinish, at: [40_000], isInAd: true)
            #expect(played.all(.pauseFinish).count == 1)
        },
        Row("AdBufferBegin is no buffering of the content") { played in
            expect(played, .adBufferBegin, at: [4_000], isInAd: true)
            #expect(!played.metrics.contains { [.numRebuffers, .rebufferTime].contains($0.name) })
        },
        Row("AdBufferFinish ends the ad's buffering alone") { played in
            expect(played, .adBufferFinish, at: [5_000], isInAd: true)
            #expect(played.all(.end).map { $0[.accumBufferTime]?.milliseconds ?? 0 } == [0])
            #expect(played.metrics.filter { $0.name == .adRebufferTime }.map(\.value) == [.int(1_000)])
        },
        Row("AdFirstQuartile comes once for each ad") { played in
            expect(played, .adFirstQuartile, at: [3_000, 40_500], isInAd: true)
        },
        Row("AdSecondQuartile comes once, and not for an ad that was skipped before") { played in
            expect(played, .adSecondQuartile, at: [4_000], isInAd: true)
        },
        Row("AdThirdQuartile comes once, and not for an ad that was skipped before") { played in
            expect(played, .adThirdQuartile, at: [6_000], isInAd: true)
        },
        Row("AdSkip comes before the AdFinish of its ad") { played in
            expect(played, .adSkip, at: [41_500], isInAd: true)
            let actions = played.events.map(\.action)
            let skip = try #require(actions.firstIndex(of: .adSkip))
            #expect(actions.dropFirst(skip + 1).first == .adFinish)
        },
        Row("AdClick is reported with its ad") { played in
            expect(played, .adClick, at: [41_000], isInAd: true)
            #expect(played.all(.adClick).map { $0[.adPosition]?.milliseconds } == [2_000])
        },
        Row("AdError reports the ad that cannot be read, and the break continues with the next one") { played in
            expect(played, .adError, at: [7_000], isInAd: false)
            #expect(played.metrics.filter { $0.name == .numAdErrors }.count == 1)
        },
        Row("End of the content comes behind the break") { played in
            expect(played, .end, at: [51_500], isInBreak: false, isInAd: false)
            #expect(played.outcome == .ended)
        },
        Row("inAdBreakBlock marks the content's own events in the break") { played in
            let pings = played.all(.ping).filter { $0[.isAdsTracker] != true }
            #expect(pings.map { $0.time.instant.milliseconds } == [30_000])
            #expect(pings.allSatisfy { $0[.inAdBreakBlock] == true })
            #expect(played.all(.start).allSatisfy { $0[.inAdBreakBlock] == false })
        },
        Row("inAdBlock marks the content's own events during an ad") { played in
            let pings = played.all(.ping).filter { $0[.isAdsTracker] != true }
            #expect(pings.allSatisfy { $0[.inAdBlock] == true })
            #expect(played.all(.start).allSatisfy { $0[.inAdBlock] == false })
        },
        Row("countAds counts the ads that began, for the ads tracker and for the content") { played in
            #expect(played.all(.adBegin).map { $0[.countAds] } == [1, 2])
            #expect(played.all(.end).map { $0[.countAds] } == [2])
        },
        Row("position of every event of an ad is the content's") { played in
            let ofAds = played.events.filter { $0[.isAdsTracker] == true && $0.action != .trackerInit }
            #expect(ofAds.count == 18)
            #expect(ofAds.allSatisfy { $0[.position]?.milliseconds == 2_000 })
        },
    ]

    @Test("A row of the data model holds in a played break", arguments: rows)
    func behaviour(row: Row) async throws {
        let played = try await Self.played.value
        #expect(played.rejected.isEmpty, "\(played.rejected)")
        try row.check(played)
    }

    @Test("The table has a row for every action of ads, for the end, and for every attribute of the hub")
    func complete() {
        let actions: [Action] = [
            .adBreakBegin, .adBreakFinish, .adBegin, .adFinish, .adPauseBegin, .adPauseFinish, .adBufferBegin,
            .adBufferFinish, .adFirstQuartile, .adSecondQuartile, .adThirdQuartile, .adSkip, .adClick, .adError, .end,
        ]
        let names = actions.map(\.name) + ["inAdBreakBlock", "inAdBlock", "countAds", "position"]
        #expect(Self.rows.map { String($0.testDescription.prefix { $0 != " " }) } == names)
    }
}
