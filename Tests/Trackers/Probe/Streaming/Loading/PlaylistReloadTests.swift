import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Reloads of playlists: held requests, delta updates, reports")
struct PlaylistReloadTests {
    private static let blocking = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12\n"

    /// A live playlist of segments that last two seconds.
    private func media(_ numbers: Range<Int>, _ tags: String, skipped: Int = 0, _ tail: String = "") throws
        -> HLSPlaylist
    {
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n\(tags)"
        text += "#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        if skipped > 0 { text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)\n" }
        for number in numbers.dropFirst(skipped) { text += "#EXTINF:2,\ns\(number).ts\n" }
        return try HLSPlaylist(parsing: Array((text + tail).utf8), at: Loading.url("v400000.m3u8"))
    }

    private func manifest(
        usesParts: Bool = true,
        usesDeltas: Bool = true,
        longestHold: Duration = .seconds(10),
        rhythm: LivePolicy.ReloadRhythm = .fromRequest
    ) throws -> ManifestLoading {
        let reloading = PlaylistReloading(
            usesParts: usesParts,
            usesDeltas: usesDeltas,
            longestHold: longestHold,
            rhythm: rhythm
        )
        var manifest = ManifestLoading(Loading.source, staleAfter: nil, reloading: reloading)
        _ = try manifest.take(try Loading.multivariant([400_000, 800_000]), begun: Loading.instant(0))
        return manifest
    }

    private func take(
        _ playlist: HLSPlaylist,
        into manifest: inout ManifestLoading,
        at seconds: Double
    ) throws -> RenditionState {
        let id = try #require(manifest.variant(at: 0)?.main)
        let url = try Loading.url("v400000.m3u8")
        _ = try manifest.take(playlist, of: id, at: url, isNumberedAlike: true, begun: Loading.instant(seconds))
        return try #require(manifest[id])
    }

    private func query(_ state: RenditionState) -> String {
        state.reloadAddress(at: Loading.instant(1)).map { String($0.secretText.drop { $0 != "?" }) } ?? "no address"
    }

    @Test("A server without parts holds requests for the next segment, and leaves out known segments")
    func withoutParts() throws {
        var plain = try manifest()
        let state = try take(try media(0..<6, Self.blocking), into: &plain, at: 0)
        #expect(query(state) == "?_HLS_msn=6&_HLS_skip=YES")
        // At once, but not in a tight loop.
        #expect(state.reloadAt == Loading.instant(0.5))
        let same = try take(try media(0..<6, Self.blocking), into: &plain, at: 1)
        #expect(same.reloadAt == Loading.instant(2))
        var parts = try manifest()
        let tags = Self.blocking + "#EXT-X-PART-INF:PART-TARGET=0.4\n"
        let part = "#EXT-X-PART:DURATION=0.4,URI=\"p.ts\"\n"
        let open = try take(try media(0..<6, tags, part), into: &parts, at: 0)
        #expect(query(open) == "?_HLS_msn=6&_HLS_part=1&_HLS_skip=YES" && open.reloadAt == Loading.instant(0.1))
    }

    @Test("Requests are not held for a player of whole segments, nor for longer than it waits for an answer")
    func unheld() throws {
        var whole = try manifest(usesParts: false)
        #expect(query(try take(try media(0..<6, Self.blocking), into: &whole, at: 0)) == "")
        var hasty = try manifest(longestHold: .seconds(2))
        let state = try take(try media(0..<6, Self.blocking), into: &hasty, at: 0)
        #expect(query(state) == "?_HLS_skip=YES" && state.reloadAt == Loading.instant(2))
        var ads = try manifest(usesDeltas: false)
        #expect(query(try take(try media(0..<6, Self.blocking), into: &ads, at: 0)) == "?_HLS_msn=6")
    }

    @Test("Reloads that count from when they were due keep their rhythm, and follow a late one at once")
    func rhythm() throws {
        var manifest = try manifest(rhythm: .fromDueTime)
        #expect(try take(try media(0..<6, ""), into: &manifest, at: 1).reloadAt == Loading.instant(3))
        // 0.1 s late, with news; then nothing new.
        #expect(try take(try media(1..<7, ""), into: &manifest, at: 3.1).reloadAt == Loading.instant(5))
        #expect(try take(try media(1..<7, ""), into: &manifest, at: 5).reloadAt == Loading.instant(6))
        // The variant was not played meanwhile.
        let late = try take(try media(8..<14, ""), into: &manifest, at: 20)
        #expect(late.reloadAt == Loading.instant(20))
        let again = try take(try media(8..<14, ""), into: &manifest, at: 20.5)
        #expect(again.reloadAt == Loading.instant(21))
        // A player that comes before its time keeps it.
        #expect(try take(try media(9..<15, ""), into: &manifest, at: 20.75).reloadAt == Loading.instant(21))
    }

    @Test("The live playlist of a variant is superseded as soon as that of another one has come")
    func superseded() throws {
        for (ending, kind) in [("", ""), ("#EXT-X-ENDLIST\n", ""), ("", "#EXT-X-PLAYLIST-TYPE:EVENT\n")] {
            var manifest = try manifest()
            let id = try #require(manifest.variant(at: 0)?.main)
            _ = try take(try media(0..<6, kind, ending), into: &manifest, at: 0)
            #expect(!manifest.isSuperseded(id))
            let other = try #require(manifest.variant(at: 1)?.main)
            let playlist = try media(1..<7, kind, ending)
            let url = try Loading.url("v800000.m3u8")
            let begun = Loading.instant(1)
            _ = try manifest.take(playlist, of: other, at: url, isNumberedAlike: true, begun: begun)
            #expect(manifest.isSuperseded(id) == (ending + kind).isEmpty && !manifest.isSuperseded(other))
        }
    }

    @Test("The whole playlist is requested at once after the first delta update that does not fit, and then as usual")
    func unmatchedDelta() throws {
        var manifest = try manifest()
        _ = try take(try media(0..<6, Self.blocking), into: &manifest, at: 0)
        let strange = try media(100..<110, Self.blocking, skipped: 4)
        let first = try take(strange, into: &manifest, at: 2)
        #expect(first.reloadAt == Loading.instant(2) && query(first) == "?_HLS_msn=6")
        #expect(try take(strange, into: &manifest, at: 2.25).reloadAt == Loading.instant(3.25))
        #expect(try take(strange, into: &manifest, at: 3.25).reloadAt == Loading.instant(4.25))
    }

    @Test("An older state of the segment in production is no news, and takes no part away")
    func alternatingEdges() throws {
        var manifest = try manifest()
        let tags = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n#EXT-X-PART-INF:PART-TARGET=0.4\n"
        let part = "#EXT-X-PART:DURATION=0.4,URI=\"p.ts\"\n"
        _ = try take(try media(0..<6, tags, part + part), into: &manifest, at: 0)
        for (count, seconds) in [(1, 1.0), (2, 2), (0, 3), (2, 4)] {
            let tail = String(repeating: part, count: count)
            let state = try take(try media(0..<6, tags, tail), into: &manifest, at: seconds)
            #expect(state.timeline?.openSegment?.parts.count == 2)
            #expect(state.reloadAt == Loading.instant(seconds).advanced(by: .milliseconds(400)))
        }
        let state = try take(try media(0..<6, tags, part + part + part), into: &manifest, at: 5)
        #expect(state.timeline?.openSegment?.parts.count == 3)
        #expect(state.reloadAt == Loading.instant(5).advanced(by: .milliseconds(100)))
    }

    @Test("A report on a playlist names the segment to wait for, if the server holds requests")
    func reports() throws {
        let report = "#EXT-X-RENDITION-REPORT:URI=\"v800000.m3u8\",LAST-MSN=7\n"
        for (tags, expected) in [(Self.blocking, "?_HLS_msn=7"), ("", "")] {
            var manifest = try manifest()
            _ = try take(try media(0..<6, tags, report), into: &manifest, at: 0)
            let id = try #require(manifest.variant(at: 1)?.main)
            guard case .fetch(_, let url, _)? = manifest.indexFetch(of: id) else {
                Issue.record("no request")
                return
            }
            #expect(String(url.secretText.drop { $0 != "?" }) == expected)
        }
    }

    @Test("Reports on playlists that the stream does not have are not kept")
    func strangeReports() throws {
        var manifest = try manifest()
        for round in 0..<10 {
            let reports = (0..<100).map { "#EXT-X-RENDITION-REPORT:URI=\"\(round)-\($0).m3u8\",LAST-MSN=1\n" }
            let tail = reports.joined() + "#EXT-X-RENDITION-REPORT:URI=\"v800000.m3u8\",LAST-MSN=7\n"
            _ = try take(try media(0..<6, Self.blocking, tail), into: &manifest, at: Double(round))
        }
        #expect(manifest.reportCount == 1)
    }
}
