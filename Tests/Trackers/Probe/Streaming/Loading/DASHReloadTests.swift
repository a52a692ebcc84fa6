import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Reloads of an MPD")
struct DASHReloadTests {
    /// A live MPD since 1970 with segments of two seconds.
    private func presentation(_ period: String, audio language: String = "en", at seconds: Double) throws
        -> Presentation
    {
        let template = "<SegmentTemplate media=\"$RepresentationID$-$Number$.m4s\" duration=\"2\"/>"
        let text = """
            <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" \
            timeShiftBufferDepth="PT20S"><Period id="p" start="PT0S" \(period)>\
            <AdaptationSet contentType="video" mimeType="video/mp4">\(template)\
            <Representation id="v" bandwidth="500000"/></AdaptationSet>\
            <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="\(language)">\(template)\
            <Representation id="s" bandwidth="64000"/></AdaptationSet></Period></MPD>
            """
        let wallTime = Loading.at(seconds).wallTime
        return try Presentation(parsing: Array(text.utf8), at: Loading.url("live.mpd"), now: wallTime)
    }

    @Test("An audio rendition that leaves the manifest changes the ladder, although the variants stay")
    func audioGone() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        let first = try presentation("", at: 100)
        _ = try manifest.take(first, begun: Loading.instant(100))
        let same = try manifest.take(try presentation("", at: 102), begun: Loading.instant(102))
        #expect(same == [.durationChanged(nil)])
        let other = try presentation("", audio: "und", at: 104)
        let effects = try manifest.take(other, begun: Loading.instant(104))
        guard case .ladderChanged(let change)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        let (old, new) = (try #require(first.variants[0].audio.first), try #require(other.variants[0].audio.first))
        #expect(old != new && change.renditions.contains(new) && !change.renditions.contains(old))
        #expect(change.rung(for: 0) == 0)
        var track = TrackLoading(at: 0)
        track.choose(rung: 0, rendition: old)
        #expect(!track.adopt(change) && track.plan == nil)
    }

    @Test("A template is late and then stale only after the last segment of its period")
    func endOfTemplate() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: .targetDurations(3.5))
        let first = try presentation("duration=\"PT120S\"", at: 100)
        _ = try manifest.take(first, begun: Loading.instant(100))
        let id = try #require(first.variants.first?.main)
        let fetches = FetchTable(ProbeConfiguration())
        func findings(_ seconds: Double) -> [StreamEffect] {
            let now = Loading.at(seconds)
            return manifest.refresh([id], fetches, wallTime: now.wallTime, now: now.instant).filter {
                if case .fetch = $0 { false } else { true }
            }
        }
        for seconds in [101.0, 110, 119, 121, 122.9] { #expect(findings(seconds).isEmpty, "\(seconds)") }
        guard case .warned(let warning)? = findings(123.5).first else {
            Issue.record("no warning")
            return
        }
        #expect(warning.kind == .latePlaylist && warning.url == Loading.base + "live.mpd")
        guard case .stale(let stale, let error)? = findings(127.5).first else {
            Issue.record("not stale")
            return
        }
        #expect(stale == id && error.code == .stalePlaylist)
    }
}
