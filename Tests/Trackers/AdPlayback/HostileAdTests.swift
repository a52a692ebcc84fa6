import Instrument
import InstrumentAds
import InstrumentBeacons
import InstrumentHTTP
import InstrumentOrigin
import InstrumentProbe
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

/// Bad responses of ad servers, through a playback: content plays to its end in every case.
@Suite("Hostile ads", .ownThread, .timeLimit(.minutes(30)))
struct HostileAdTests {
    private func play(
        _ document: String,
        _ ads: AdConfiguration = AdConfiguration(),
        answers: @escaping @Sendable (_ path: String, _ query: String) -> OverlayTransport.Answer? = { _, _ in nil }
    ) async throws -> Staged {
        var ads = ads
        ads.tag = AdURL(try await Stage.origin().url("doc.xml"))
        return try await Stage.play("content.m3u8", ads) { path, query in
            switch path {
            case "/content.m3u8": .text(Playlist.text(4))
            case "/ad2.m3u8": .text(Playlist.text(1))
            case "/ad4.m3u8": .text(Playlist.text(2))
            case "/doc.xml": .text(document)
            default: answers(path, query)
            }
        }
    }

    /// An ad of the origin's media.
    ///
    /// - Parameter session: the origin's session that counts the beacons.
    private func ad(
        _ id: String,
        _ duration: String,
        _ path: String,
        sequence: Int? = nil,
        session: String? = nil
    ) async throws -> String {
        let origin = try await Stage.origin().url("")
        let beacon = try await Stage.origin().url("ads/beacon", session: session)
        let place = sequence.map { " sequence=\"\($0)\"" } ?? ""
        let tracking = ["start", "firstQuartile", "midpoint", "thirdQuartile", "complete"].map {
            "<Tracking event=\"\($0)\">\(beacon)?event=\($0)</Tracking>"
        }
        return "<Ad id=\"\(id)\"\(place)><InLine><AdSystem>x</AdSystem><AdTitle>\(id)</AdTitle>"
            + "<Impression>\(beacon)?event=impression</Impression><Creatives><Creative><Linear>"
            + "<Duration>\(duration)</Duration><TrackingEvents>\(tracking.joined())</TrackingEvents><MediaFiles>"
            + "<MediaFile delivery=\"streaming\" type=\"application/x-mpegurl\" width=\"1\" height=\"1\">"
            + "\(origin)\(path)</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad>"
    }

    private func expectContent(_ played: Staged) {
        #expect(played.outcome == .ended)
        #expect(played.all(.start).count == 1 && played.all(.end).count == 1)
        #expect(played.all(.end).map { $0[.position]?.milliseconds } == [8000])
        #expect(played.all(.adBreakBegin).count == played.all(.adBreakFinish).count)
        #expect(played.all(.adBegin).count == played.all(.adFinish).count)
        #expect(played.rejected.isEmpty, "\(played.rejected)")
    }

    @Test("A document with entities, or nested without end, is refused, and content plays")
    func bombs() async throws {
        let entities =
            "<?xml version=\"1.0\"?><!DOCTYPE VAST [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]>"
            + "<VAST version=\"4.2\"><Ad><InLine><AdTitle>&b;</AdTitle></InLine></Ad></VAST>"
        let deep = "<VAST version=\"4.2\">" + String(repeating: "<Ad>", count: 100_000)
        for document in [entities, deep] {
            let played = try await play(document)
            expectContent(played)
            #expect(played.all(.adError).map { $0[.adErrorCode] } == [100])
        }
    }

    @Test("A pod of 10,000 ads plays as many as the limit allows")
    func crowd() async throws {
        let one = try await ad("x", "00:00:02", "ad2.m3u8", sequence: 1)
        let pod = "<VAST version=\"3.0\">" + String(repeating: one, count: 10_000) + "</VAST>"
        var ads = AdConfiguration()
        ads.limits.ads = 12
        (ads.limits.elements, ads.limits.bytes) = (2_000_000, 64 << 20)
        let played = try await play(pod, ads)
        expectContent(played)
        #expect(played.all(.adBegin).count == 12)
        #expect(played.all(.adBreakBegin).count == 1)
    }

    @Test(
        "The duration of the media counts, not the one that the response declares",
        arguments: ["00:00:08", "00:00:01"]
    )
    func lies(duration: String) async throws {
        let played = try await play("<VAST version=\"3.0\">" + ad("x", duration, "ad4.m3u8") + "</VAST>")
        expectContent(played)
        #expect(played.all(.adFinish).map { $0.time.instant.milliseconds } == [4000])
        #expect(played.all(.adSecondQuartile).map { $0.time.instant.milliseconds } == [2000])
        let expected = ["impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete"]
        #expect(played.beacons == expected)
    }

    @Test("An ad without an end plays for the declared duration")
    func endlessAd() async throws {
        let live = Playlist.text(12).replacing("#EXT-X-ENDLIST\n", with: "").replacing(
            "#EXT-X-PLAYLIST-TYPE:VOD\n",
            with: ""
        )
        let document = try await "<VAST version=\"3.0\">" + ad("x", "00:00:05", "endless.m3u8") + "</VAST>"
        let played = try await play(document) { path, _ in path == "/endless.m3u8" ? .text(live) : nil }
        expectContent(played)
        #expect(played.all(.adBegin).count == 1)
        let begin = try #require(played.all(.adBegin).first?.time.instant.milliseconds)
        #expect(played.all(.adFinish).map { $0.time.instant.milliseconds - begin } == [5000])
    }

    @Test("Ads of media that lasts for centuries are cut at the longest ad, and content plays")
    func centuries() async throws {
        let one =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"\n"
            + "#EXTINF:2,\n/vod/fmp4/v0/0.m4s\n#EXT-X-GAP\n#EXTINF:9000000000,\n/vod/fmp4/v0/1.m4s\n#EXT-X-ENDLIST\n"
        let list =
            "{\"ASSETS\":["
            + [String](repeating: "{\"URI\":\"gap.m3u8\",\"DURATION\":9e9}", count: 3)
            .joined(separator: ",") + "]}"
        let content = Playlist.text(
            4,
            tags: [0: [Playlist.interstitial("x", at: 2, "X-ASSET-LIST=\"list.json\",X-RESUME-OFFSET=0")]]
        )
        var ads = AdConfiguration()
        ads.longestAd = .seconds(60)
        let played = try await Stage.play("content.m3u8", ads) { path, _ in
            switch path {
            case "/content.m3u8": .text(content)
            case "/list.json": .text(list)
            case "/gap.m3u8": .text(one)
            default: nil
            }
        }
        expectContent(played)
        #expect(played.all(.adBegin).count == 3)
        let (begins, ends) = (played.all(.adBegin), played.all(.adFinish))
        for (begin, end) in zip(begins, ends) {
            #expect(end.time.instant.milliseconds - begin.time.instant.milliseconds <= 60_000, "\(played.course)")
        }
    }

    @Test("An ad that stalls for longer than its time fails with the code 402, and content plays")
    func stalledAd() async throws {
        let list =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"\n#EXTINF:2,\n/vod/fmp4/v0/0.m4s\n"
            + "#EXTINF:2,\n/silent.m4s\n#EXT-X-ENDLIST\n"
        var ads = AdConfiguration()
        ads.startTimeout = .seconds(3)
        let document = try await "<VAST version=\"3.0\">" + ad("x", "00:00:04", "stalls.m3u8") + "</VAST>"
        let played = try await play(document, ads) { path, _ in
            switch path {
            case "/stalls.m3u8": .text(list)
            case "/silent.m4s": .status(404)
            default: nil
            }
        }
        expectContent(played)
        #expect(played.all(.adError).count == 1)
        #expect(played.beacons.contains("start") && !played.beacons.contains("complete"))
    }

    @Test("A list of assets that is too long, or has too many assets, costs no more than its limit")
    func longLists() async throws {
        let tags = [Playlist.interstitial("mid", at: 2, "X-ASSET-LIST=\"list.json\",X-RESUME-OFFSET=0")]
        let asset = "{\"URI\":\"/ad2.m3u8\",\"DURATION\":2}"
        let list = { (count: Int) in
            "{\"ASSETS\":[" + Array(repeating: asset, count: count).joined(separator: ",") + "]}"
        }
        var ads = AdConfiguration()
        ads.limits.assets = 3
        for (count, expected) in [(10_000, 3), (200_000, 0)] {
            let text = list(count)
            let played = try await Stage.play("content.m3u8", ads) { path, _ in
                switch path {
                case "/content.m3u8": .text(Playlist.text(4, tags: [0: tags]))
                case "/ad2.m3u8": .text(Playlist.text(1))
                case "/list.json": .text(text)
                default: nil
                }
            }
            expectContent(played)
            #expect(played.all(.adBegin).count == expected)
            #expect(played.all(.adError).count == (expected == 0 ? 1 : 0))
        }
    }

    @Test(
        "A list of assets that never ends, or ends too early, is given up, and content plays",
        arguments: [
            ("endless on ads/assets.json", 401), ("trickle 1 every 50ms on ads/assets.json", 402),
            ("hang after 10 on ads/assets.json", 402), ("truncate after 10 on ads/assets.json", 401),
        ]
    )
    func endlessLists(fault: String, code: Int) async throws {
        let fixtures = try await Fixtures.make(in: MediaCache.origin)
        let server = try await Origin.start(media: [.fixtures(fixtures)], faults: [try FaultRule(fault)])
        let tag = Playlist.interstitial("mid", at: 2, "X-ASSET-LIST=\"\(server.url("ads/assets.json"))\"")
        var ads = AdConfiguration()
        ads.limits.fetchTimeout = .milliseconds(500)
        let played = try await Stage.play("content.m3u8", ads) { path, _ in
            path == "/content.m3u8" ? .text(Playlist.text(4, tags: [0: [tag]])) : nil
        }
        await server.stop()
        expectContent(played)
        #expect(played.all(.adError).map { $0[.adErrorCode] } == [code] && played.all(.adBegin).isEmpty)
    }

    @Test(
        "Documents, lists, playlists and segments of ads reach no private address where the transport refuses such addresses"
    )
    func privateMedia() async throws {
        let origin = try await Stage.origin()
        let open = try SystemTransport()
        var media: [String: [UInt8]] = [:]
        for name in ["init.mp4", "0.m4s", "1.m4s"] {
            let path = "vod/fmp4/v0/" + name
            media["/" + path] = try await open.send(HTTPRequest(.get, try HTTPURL(origin.url(path)))).body
        }
        let answers = media
        // The content is public; the ads are on the loopback address: a list, an asset in a public list, and its
        // segments.
        let tags = [
            Playlist.interstitial(
                "list",
                at: 1,
                "X-ASSET-LIST=\"\(origin.url("refused.json", session: "private-media"))\""
            ),
            Playlist.interstitial(
                "asset",
                at: 2,
                "X-ASSET-URI=\"\(origin.url("refused.m3u8", session: "private-media"))\""
            ),
            Playlist.interstitial("segments", at: 3, "X-ASSET-URI=\"/segments.m3u8\""),
        ]
        let segments =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-MAP:URI=\"/vod/fmp4/v0/init.mp4\"\n"
            + "#EXTINF:2,\n\(origin.url("vod/fmp4/v0/2.m4s", session: "private-media"))\n#EXT-X-ENDLIST\n"
        let network = TransportConfiguration(allowsPrivateAddresses: false)
        let played = try await Stage.play("content.m3u8", network: network) { path, _ in
            switch path {
            case "/content.m3u8": .text(Playlist.text(2, tags: [0: tags]))
            case "/segments.m3u8": .text(segments)
            default: answers[path].map { .bytes($0) }
            }
        }
        #expect(played.outcome == .ended)
        #expect(played.all(.end).map { $0[.position]?.milliseconds } == [4000])
        #expect(played.all(.adError).count == 3 && played.all(.adBegin).isEmpty, "\(played.course)")
        #expect(origin.requests(of: "private-media").isEmpty)
        #expect(played.rejected.isEmpty)
    }

    @Test("Beacons of a played ad reach no private address where the transport refuses such addresses")
    func privateBeacons() async throws {
        let session = "private-beacons"
        let ad = try await ad("x", "00:00:04", "ad4.m3u8", session: session)
        let played = try await play("<VAST version=\"3.0\">" + ad + "</VAST>")
        let origin = try await Stage.origin()
        let careful = try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false))
        let queue = BatchQueue(backends: [BeaconBackend(transport: careful)])
        let beacons = Beacons(queue: queue)
        for call in played.calls {
            #expect(beacons.send(call.beacons, of: call.playback, ad: call.ad, media: call.media) == .stored)
        }
        #expect(await queue.flush(timeout: .seconds(600)))
        #expect(origin.requests(of: session).isEmpty)
        // The same beacons arrive, each once and in order, where the transport allows it.
        let open = BatchQueue(backends: [BeaconBackend(transport: try SystemTransport())])
        for call in played.calls {
            Beacons(queue: open).send(call.beacons, of: call.playback, ad: call.ad, media: call.media)
        }
        #expect(await open.flush(timeout: .seconds(600)))
        let arrived = origin.requests(of: session).map(\.query)
        #expect(
            arrived
                == ["impression", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete"].map {
                    "event=\($0)"
                }
        )
    }
}
