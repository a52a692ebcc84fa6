import Foundation
import Instrument
import InstrumentAds
import InstrumentHTTP
import InstrumentManifests
import NIOCore
import TestTraits
import Testing

@testable import InstrumentOrigin

/// Fetches from a site without a server.
private struct SiteFetcher: AdFetching {
    let site: Site

    func fetch(_ url: HTTPURL, timeout: Duration) async throws(AdFetchError) -> AdDocument {
        let target = url.secretText.dropFirst("http://origin.test".count)
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let moment = Moment(
            now: WallTime(milliseconds: 0),
            originStart: WallTime(milliseconds: 0),
            sessionStart: WallTime(milliseconds: 0)
        )
        let query = parts.count > 1 ? parts[1] : ""
        guard
            let resource = site.resource(at: parts[0], query: query, base: "http://origin.test/", moment: moment),
            let bytes = resource.body.bytes(at: 0, count: resource.body.count)
        else { throw AdFetchError("404") }
        return AdDocument(bytes: Array(bytes.readableBytesView), url: url)
    }
}

@Suite("The ad server of the origin", .ownThread)
struct AdServerTests {
    private func selection(_ path: String) async throws -> AdSelection {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        return await AdResolver(SiteFetcher(site: site)).ads(at: AdURL("http://origin.test/ads/" + path))
    }

    @Test("A response of the ad server is valid VAST and names media of the fixtures")
    func vast() async throws {
        let pod = try await selection("vast.xml?ads=3&alone=1&skip=5")
        #expect(pod.findings.isEmpty, "\(pod.findings)")
        #expect(pod.ads.map(\.sequence) == [1, 2, 3])
        #expect(pod.fallbacks.count == 1)
        let linear = try #require(pod.ads.first?.linear)
        #expect(linear.duration == 8_000_000_000)
        #expect(linear.mediaFile(for: MediaProfile())?.url.secretText == "http://origin.test/vod/ts/master.m3u8")
    }

    @Test("Wrappers form a chain, a loop, and dead ends")
    func wrappers() async throws {
        #expect(try await selection("wrapper.xml?depth=3").ads.first?.wrappers.count == 3)
        #expect(try await selection("loop.xml").failures.map(\.code) == [.wrapperLimit])
        #expect(try await selection("empty.xml").failures.map(\.code) == [.noAds])
        #expect(try await selection("broken.xml").failures.map(\.code) == [.xml])
        #expect(try await selection("missing.xml").failures.map(\.code) == [.wrapperUnavailable])
        let program = try await selection("unplayable.xml")
        #expect(program.ads.first?.linear?.mediaFile(for: MediaProfile()) == nil)
    }

    @Test("A schedule of the ad server is valid VMAP")
    func vmap() async throws {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let fetcher = SiteFetcher(site: site)
        let document = try await fetcher.fetch(try HTTPURL("http://origin.test/ads/vmap.xml"), timeout: .seconds(1))
        let schedule = try VMAPDocument(parsing: document.bytes)
        #expect(schedule.findings.isEmpty, "\(schedule.findings)")
        #expect(schedule.breaks.map { $0.role(in: 8_000_000_000) } == ["pre", "mid", "post"])
        let ads = await AdResolver(fetcher).ads(of: schedule.breaks[1], at: document.url)
        #expect(ads.ads.count == 1)
    }

    @Test(
        "Playlists carry interstitials and signals",
        arguments: [
            ("interstitials", 0, 0), ("daterange", 2, 0), ("cue", 2, 0), ("cue-cont", 4, 0), ("oatcls", 1, 0),
            ("scte35", 1, 0), ("splicepoint", 1, 0), ("orphaned", 1, 1),
        ]
    )
    func playlists(name: String, signals: Int, mostFindings: Int) async throws {
        let fetcher = SiteFetcher(site: try Site([.fixtures(try await SharedFixtures.get())]))
        let url = try HTTPURL("http://origin.test/vod/ts/ads-\(name).m3u8")
        let document = try await fetcher.fetch(url, timeout: .seconds(1))
        guard case .media(let playlist) = try HLSPlaylist(parsing: document.bytes, at: url) else {
            Issue.record("the playlist must be a media playlist")
            return
        }
        let found = AdSignals(playlist)
        #expect(found.signals.count == signals, "\(found)")
        #expect(found.findings.count <= mostFindings, "\(found.findings)")
        guard name == "interstitials" else { return }
        #expect(Interstitials(playlist).all.map(\.id) == ["pre", "mid"])
        let lists = try AssetList(
            parsing: try await fetcher.fetch(
                try HTTPURL("http://origin.test/ads/assets.json?count=2"),
                timeout: .seconds(1)
            ).bytes,
            at: url
        )
        #expect(lists.assets.map(\.duration) == [4_000_000_000, 4_000_000_000])
    }

    @Test(
        "Live playlists carry breaks at any time, without a defect",
        arguments: ["interstitials", "daterange", "cue", "cue-cont"]
    )
    func live(name: String) async throws {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let url = try HTTPURL("http://origin.test/live/ts/ads-\(name).m3u8")
        var (identifiers, signals) = (Set<String>(), 0)
        for seconds in Int64(0)..<60 {
            let moment = Moment(
                now: WallTime(milliseconds: 1_795_341_600_000 + seconds * 1_000),
                originStart: WallTime(milliseconds: 1_795_341_600_000),
                sessionStart: WallTime(milliseconds: 1_795_341_600_000)
            )
            let resource = try #require(site.resource(at: url.path, query: "", moment: moment))
            let bytes = try #require(resource.body.bytes(at: 0, count: resource.body.count))
            guard case .media(let playlist) = try HLSPlaylist(parsing: Array(bytes.readableBytesView), at: url) else {
                Issue.record("the playlist must be a media playlist")
                return
            }
            let found = AdSignals(playlist)
            #expect(found.findings.isEmpty, "\(seconds): \(found.findings)")
            signals += found.signals.count
            let interstitials = Interstitials(playlist)
            #expect(interstitials.findings.isEmpty)
            identifiers.formUnion(interstitials.all.map(\.id))
        }
        // A minute has five breaks, and the window reaches back to one before.
        if name == "interstitials" {
            #expect((5...7).contains(identifiers.count), "\(identifiers)")
        } else {
            #expect(signals > 40)
        }
    }

    @Test("A beacon is in the log with its query, and the address of media is that of the client's request")
    func beacons() async throws {
        let origin = try await Origin.start(media: [.fixtures(try await SharedFixtures.get())])
        let host = "Host: 127.0.0.1:\(origin.port)\r\n"
        let vast = try await fetch(origin.port, "/s/one/ads/vast.xml", headers: host)
        #expect(vast.text.contains("http://127.0.0.1:\(origin.port)/s/one/vod/ts/master.m3u8"))
        _ = try await fetch(origin.port, "/s/one/ads/beacon?event=start&value=1")
        let records = origin.requests(of: "one").filter { $0.path == "/ads/beacon" }
        #expect(records.map(\.query) == ["event=start&value=1"])
        await origin.stop()
    }
}
