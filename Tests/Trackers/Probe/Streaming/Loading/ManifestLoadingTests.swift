import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Loading of manifests and playlists")
struct ManifestLoadingTests {
    @Test("The first manifest reports the load, and gives the ladder from the lowest to the highest rung")
    func first() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        let effects = try manifest.take(try Loading.multivariant([800_000, 400_000]), begun: Loading.instant(0))
        #expect(effects == [.manifestLoaded(duration: nil)])
        #expect(manifest.ladder?.map(\.peakBitrate) == [400_000, 800_000])
        #expect(manifest.variant(at: 1)?.peakBitrate == 800_000)
    }

    @Test("A reloaded manifest maps each rung to its new place when the ladder has changed")
    func ladder() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(try Loading.multivariant([400_000, 800_000]), begun: Loading.instant(0))
        let effects = try manifest.take(
            try Loading.multivariant([200_000, 400_000, 1_600_000]),
            begun: Loading.instant(1)
        )
        guard case .ladderChanged(let change)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(change.ladder.map(\.peakBitrate) == [200_000, 400_000, 1_600_000])
        #expect(change.renditions.count == 3)
        #expect(effects.last == .durationChanged(nil))
        let same = try manifest.take(
            try Loading.multivariant([200_000, 400_000, 1_600_000]),
            begun: Loading.instant(2)
        )
        #expect(same == [.durationChanged(nil)])
    }

    @Test("A media playlist that is complete gives the duration; a multivariant one in its place is wrong content")
    func playlist() throws {
        var (manifest, id) = try Loading.manifest(0..<6)
        #expect(manifest[id]?.index?.count == 6)
        let again = try manifest.take(
            try Loading.media(0..<6),
            of: id,
            at: try Loading.url("v.m3u8"),
            isNumberedAlike: true,
            begun: Loading.instant(1)
        )
        #expect(again == [.durationChanged(Loading.nanoseconds(12))])
        let other = try HLSPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n".utf8),
            at: try Loading.url("v.m3u8")
        )
        #expect(throws: ResourceFailure.self) {
            try manifest.take(
                other,
                of: id,
                at: try Loading.url("v.m3u8"),
                isNumberedAlike: true,
                begun: Loading.instant(1)
            )
        }
    }

    @Test(
        "A live playlist is reloaded after a target duration, gives a warning when late, and ends playback when stale"
    )
    func freshness() throws {
        var (manifest, id) = try Loading.manifest(0..<6, isComplete: false)
        let fetches = FetchTable(ProbeConfiguration())
        let url = try #require(manifest[id]?.playlistURL)
        let reload = StreamEffect.fetch(.playlist(id), url, nil)
        #expect(manifest.deadlines([id], fetches) == [Loading.instant(2)])
        #expect(manifest.refresh([id], fetches, now: Loading.instant(1)) == [])
        #expect(manifest.refresh([id], fetches, now: Loading.instant(2)) == [reload])
        // Watched since 1 s: late after 3 s, stale after 7 s.
        let late = manifest.refresh([id], fetches, now: Loading.instant(4.1))
        guard late.count == 2, case .warned(let warning) = late[1] else {
            Issue.record("\(late)")
            return
        }
        #expect(warning.kind == .latePlaylist)
        #expect(manifest.refresh([id], fetches, now: Loading.instant(5)) == [reload])
        let stale = manifest.refresh([id], fetches, now: Loading.instant(8.1))
        guard case .stale(id, let error)? = stale.last else {
            Issue.record("\(stale)")
            return
        }
        #expect(error.code == .stalePlaylist)
    }

    @Test("A playlist is neither late nor stale while a request for it has no answer, and is after the answer")
    func unanswered() throws {
        var (manifest, id) = try Loading.manifest(0..<6, isComplete: false)
        var fetches = FetchTable(ProbeConfiguration())
        #expect(manifest.refresh([id], fetches, now: Loading.instant(1)) == [])
        let url = try #require(manifest[id]?.playlistURL)
        let begun = fetches.begin(.playlist(id), url, now: Loading.instant(2))
        let reload = try #require(begun)
        #expect(manifest.refresh([id], fetches, now: Loading.instant(8.1)) == [])
        _ = fetches.end(reload.number)
        guard case .stale(id, _)? = manifest.refresh([id], fetches, now: Loading.instant(8.2)).last else {
            Issue.record("not stale after the answer")
            return
        }
    }

    @Test("After a failed reload the earlier playlist stays, until the next reload or for the rest of the playback")
    func failedReload() throws {
        var (manifest, id) = try Loading.manifest(0..<6, isComplete: false)
        let fetches = FetchTable(ProbeConfiguration())
        #expect(manifest.isReload(.playlist(id)) && manifest.isReload(.manifest))
        manifest.survivesReload(.playlist(id), nextAt: Loading.instant(11))
        #expect(manifest.deadlines([id], fetches) == [Loading.instant(11)])
        manifest.survivesReload(.playlist(id), nextAt: nil)
        #expect(manifest.deadlines([id], fetches).isEmpty && manifest[id]?.index != nil)
        let other = try #require(manifest.variant(at: 1)?.main)
        #expect(!manifest.isReload(.playlist(other)) && !manifest.isReload(.segment(.main)))
        #expect(!ManifestLoading(Loading.source, staleAfter: nil).isReload(.manifest))
    }
}
