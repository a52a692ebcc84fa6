import Instrument
import InstrumentAds
import InstrumentOrigin
import InstrumentProbe
import TestTraits
import Testing

/// Ads of an ad server that a probe plays, in virtual time.
@Suite("Played VAST and VMAP", .ownThread, .timeLimit(.minutes(30)))
struct ServedAdTests {
    private func play(
        _ tag: String,
        _ ads: AdConfiguration = AdConfiguration(),
        answers: @escaping @Sendable (_ path: String, _ query: String) -> OverlayTransport.Answer? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> Staged {
        var ads = ads
        ads.tag = AdURL(try await Stage.origin().url(tag))
        return try await Stage.play("vod/ts/v0.m3u8", ads, answers: answers, script: script)
    }

    @Test("A VMAP document plays pre-, mid- and post-roll, and every beacon of them is due once and in order")
    func schedule() async throws {
        let played = try await play("ads/vmap.xml")
        #expect(played.outcome == .ended)
        #expect(
            played.course == [
                "AdBreakBegin@0:0", "AdBegin@0:0", "AdFinish@24000:0", "AdBreakFinish@24000:0", "Start@24000:0",
                "PauseBegin@28000:4000", "AdBreakBegin@28000:4000", "AdBegin@28000:4000", "AdFinish@52000:4000",
                "AdBreakFinish@52000:4000", "PauseFinish@52000:4000", "PauseBegin@72000:24000",
                "AdBreakBegin@72000:24000", "AdBegin@72000:24000", "AdFinish@96000:24000", "AdBreakFinish@96000:24000",
                "PauseFinish@96000:24000", "End@96000:24000",
            ]
        )
        let ofAd = [
            "impression", "creativeView", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete",
        ]
        #expect(played.beacons == Array(repeating: ["breakStart"] + ofAd + ["breakEnd"], count: 3).flatMap(\.self))
        #expect(played.rejected.isEmpty)
        let begin = try #require(played.all(.adBegin).first)
        #expect(begin[.adTitle] == "Ad 1" && begin[.adSystem] == "test-origin" && begin[.adCreativeId] == "creative-1")
        // The media lasts 24 s, whatever the response says.
        #expect(begin[.adDuration] == .seconds(24))
    }

    @Test("A pod plays in its order, with one break")
    func pod() async throws {
        let played = try await play("ads/vast.xml?ads=3")
        #expect(played.all(.adBegin).map { $0[.adId] } == ["ad-1", "ad-2", "ad-3"])
        #expect(played.all(.adBreakBegin).map { $0[.adsRequested] } == [3])
        #expect(played.metrics.filter { $0.name == .adFillRate }.map(\.value) == [.double(1)])
    }

    @Test("Beacons of a chain of wrappers are called from the outermost inwards")
    func wrappers() async throws {
        let played = try await play("ads/wrapper.xml?depth=2")
        #expect(played.beacons.filter { $0 == "impression" }.count == 3)
        #expect(played.all(.adBegin).count == 1)
    }

    @Test(
        "An ad that is not available or not playable reports its code, and content plays on",
        arguments: [
            ("ads/empty.xml", [303]), ("ads/broken.xml", [100]), ("ads/missing.xml", [301]), ("ads/loop.xml", [302]),
            ("ads/unplayable.xml", [403]),
        ]
    )
    func failures(tag: String, codes: [Int]) async throws {
        let played = try await play(tag)
        #expect(played.outcome == .ended)
        #expect(played.all(.adError).map { $0[.adErrorCode] } == codes)
        #expect(played.all(.adBegin).isEmpty)
        #expect(played.all(.end).count == 1 && played.rejected.isEmpty)
    }

    @Test("A stand-alone ad takes the place of an ad of the pod that does not start")
    func fallback() async throws {
        let origin = try await Stage.origin().url("")
        let file = { (path: String) in
            "<Linear><Duration>00:00:02</Duration><MediaFiles><MediaFile delivery=\"streaming\" "
                + "type=\"application/x-mpegurl\" width=\"1\" height=\"1\">\(origin)\(path)</MediaFile></MediaFiles></Linear>"
        }
        let ad = { (id: String, sequence: String, path: String) in
            "<Ad id=\"\(id)\"\(sequence)><InLine><AdSystem>x</AdSystem><AdTitle>\(id)</AdTitle>"
                + "<Impression>\(origin)i</Impression><Creatives><Creative>\(file(path))</Creative></Creatives>"
                + "</InLine></Ad>"
        }
        let vast =
            "<VAST version=\"3.0\">" + ad("a", " sequence=\"1\"", "gone.m3u8") + ad("b", " sequence=\"2\"", "ad2.m3u8")
            + ad("spare", "", "ad2.m3u8") + "</VAST>"
        let played = try await play("doc.xml") { path, _ in
            switch path {
            case "/doc.xml": .text(vast)
            case "/gone.m3u8": .status(404)
            case "/ad2.m3u8": .text(Playlist.text(1))
            default: nil
            }
        }
        #expect(played.all(.adBegin).map { $0[.adId] } == ["spare", "b"])
        #expect(played.all(.adError).map { $0[.adErrorCode] } == [401])
        #expect(played.outcome == .ended)
    }

    @Test("A jump over two breaks of a schedule plays the last of them, and continues where the person wanted")
    func snapback() async throws {
        let origin = try await Stage.origin().url("")
        let breaks = [4, 8, 16].map { second in
            "<vmap:AdBreak timeOffset=\"00:00:\(second < 10 ? "0" : "")\(second)\" breakType=\"linear\" "
                + "breakId=\"b\(second)\"><vmap:AdSource><vmap:AdTagURI templateType=\"vast3\">"
                + "\(origin)ads/vast.xml</vmap:AdTagURI></vmap:AdSource></vmap:AdBreak>"
        }
        let vmap =
            "<vmap:VMAP xmlns:vmap=\"http://www.iab.net/vmap-1.0\" version=\"1.0\">\(breaks.joined())</vmap:VMAP>"
        let played = try await play("doc.xml") { path, _ in
            switch path {
            case "/doc.xml": .text(vmap)
            case "/vod/ts/master.m3u8": .text(Playlist.text(1))
            default: nil
            }
        } script: { clock, probe in
            clock.at(1000) { [weak probe] in probe?.seek(to: .seconds(12)) }
        }
        #expect(played.all(.adBegin).count == 2)
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [12_000, 16_000])
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [17_000])
        #expect(played.rejected.isEmpty)
    }

    @Test("Progressive content plays with ads as well")
    func progressive() async throws {
        let origin = try await Stage.origin()
        let played = try await play("ads/vmap.xml") { path, _ in
            path == "/vod/ts/master.m3u8" ? .text(Playlist.text(1)) : nil
        }
        #expect(played.outcome == .ended)
        var configuration = AdConfiguration(tag: AdURL(origin.url("ads/vmap.xml")))
        configuration.startTimeout = .seconds(20)
        let film = try await Stage.play("vod/movie.ts", configuration) { path, _ in
            path == "/vod/ts/master.m3u8" ? .text(Playlist.text(1)) : nil
        }
        #expect(film.outcome == .ended)
        #expect(film.all(.adBegin).map { $0[.adRoll] } == [.pre, .mid, .post])
        #expect(film.rejected.isEmpty)
    }
}
