import Foundation
import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Loading of one track")
struct TrackLoadingTests {
    private let noon = WallTime(milliseconds: 0)

    /// The sequence number of the segment that a plan of the rendition selects.
    private func next(_ track: inout TrackLoading, _ manifest: ManifestLoading, _ id: Rendition.ID) throws -> Int64? {
        track.choose(rung: 0, rendition: id)
        let timeline = try #require(manifest[id]?.timeline)
        guard track.step(in: timeline, at: noon) == .chosen else { return nil }
        return track.plan?.segment?.sequence
    }

    @Test(
        "A track starts with the segment at its position, continues with the following segments, and ends after the last"
    )
    func order() throws {
        let (manifest, id) = try Loading.manifest(0..<3)
        var track = TrackLoading(at: Loading.nanoseconds(2.5))
        #expect(try next(&track, manifest, id) == 1)
        let segment = try #require(track.plan?.segment)
        #expect(track.step(in: try #require(manifest[id]?.timeline), at: noon) == .fetch(segment))
        track.finish(segment, end: Loading.nanoseconds(4.01))
        #expect(track.loadedEnd == Loading.nanoseconds(4.01) && track.rung == 0 && track.segmentCount == 1)
        #expect(!track.hasLoadedAll(of: manifest))
        #expect(try next(&track, manifest, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        #expect(track.hasLoadedAll(of: manifest))
        track.choose(rung: 0, rendition: id)
        #expect(track.step(in: try #require(manifest[id]?.timeline), at: noon) == .end)
        #expect(track.isAtEnd && track.plan == nil)
    }

    @Test("A track waits for the next segment of a live playlist, and reports a segment that has left the window")
    func live() throws {
        let (early, id) = try Loading.manifest(0..<3, isComplete: false)
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(try next(&track, early, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        track.choose(rung: 0, rendition: id)
        #expect(track.step(in: try #require(early[id]?.timeline), at: noon) == .wait)
        var late = early
        _ = try late.take(
            try Loading.media(5..<8, isComplete: false),
            of: id,
            at: try Loading.url("v.m3u8"),
            isNumberedAlike: true,
            begun: Loading.instant(10)
        )
        let index = try #require(late[id]?.index)
        let first = try #require(index.first)
        #expect(first.sequence == 5)
        #expect(track.step(in: try #require(late[id]?.timeline), at: noon) == .expired(first: first))
    }

    /// A live playlist with dates, its segments of two seconds `delay` milliseconds late.
    private func dated(_ numbers: Range<Int>, delay: Int) throws -> HLSPlaylist {
        let date = String(format: "2026-11-25T10:00:%02d.%03dZ", numbers.lowerBound * 2, delay)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n"
        for number in numbers { text += "#EXTINF:2,\ns\(number).ts\n" }
        return try HLSPlaylist(parsing: Array(text.utf8), at: Loading.url("media.m3u8"))
    }

    /// Takes a playlist of the variant at a rung. Returns its rendition.
    private func take(
        _ playlist: HLSPlaylist,
        rung: Int,
        into manifest: inout ManifestLoading,
        at seconds: Double
    ) throws -> Rendition.ID {
        let id = try #require(manifest.variant(at: rung)?.main)
        let url = try Loading.url("v\(rung).m3u8")
        _ = try manifest.take(playlist, of: id, at: url, isNumberedAlike: true, begun: Loading.instant(seconds))
        return id
    }

    @Test(
        "A track that changes the rendition or the server reports media that has left the window",
        arguments: [false, true]
    )
    func expiredInOtherRendition(isServerChanged: Bool) throws {
        var (manifest, id) = try Loading.manifest(0..<3, isComplete: false)
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(try next(&track, manifest, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        if isServerChanged { track.continueByTime(in: [id]) }
        // Segments 3 and 4 came and went.
        let window = try Loading.media(5..<8, isComplete: false)
        let other = try take(window, rung: 1, into: &manifest, at: 10)
        track.choose(rung: 1, rendition: other)
        let timeline = try #require(manifest[other]?.timeline)
        let first = try #require(timeline.index.first)
        #expect(first.sequence == 5 && first.start == Loading.nanoseconds(10))
        #expect(track.step(in: timeline, at: noon) == .expired(first: first))
    }

    @Test("A track that changes the rendition at the live edge waits for the segment after a small remainder")
    func edgeOfOtherRendition() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(try Loading.multivariant([400_000, 800_000]), begun: Loading.instant(0))
        let id = try take(try dated(0..<3, delay: 0), rung: 0, into: &manifest, at: 0)
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(try next(&track, manifest, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        let other = try take(try dated(0..<3, delay: 10), rung: 1, into: &manifest, at: 1)
        #expect(manifest[other]?.index?.end == Loading.nanoseconds(6.01))
        track.choose(rung: 1, rendition: other)
        #expect(track.step(in: try #require(manifest[other]?.timeline), at: noon) == .wait)
        _ = try take(try dated(1..<4, delay: 10), rung: 1, into: &manifest, at: 2)
        #expect(track.step(in: try #require(manifest[other]?.timeline), at: noon) == .chosen)
        #expect(track.plan?.segment?.sequence == 3)
    }

    @Test("A player that loads again begins another rendition at the live edge with its newest segment")
    func newestAgain() throws {
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(try Loading.multivariant([400_000, 800_000]), begun: Loading.instant(0))
        let id = try take(try dated(0..<3, delay: 0), rung: 0, into: &manifest, at: 0)
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(try next(&track, manifest, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        // The same rendition has nothing new.
        track.choose(rung: 0, rendition: id)
        #expect(track.step(in: try #require(manifest[id]?.timeline), at: noon, change: .loadsAgain) == .wait)
        let other = try take(try dated(0..<3, delay: 0), rung: 1, into: &manifest, at: 1)
        let timeline = try #require(manifest[other]?.timeline)
        track.choose(rung: 1, rendition: other)
        #expect(track.step(in: timeline, at: noon, change: .waits) == .wait)
        #expect(track.step(in: timeline, at: noon, change: .loadsAgain) == .chosen)
        let again = try #require(track.plan?.segment)
        #expect(again.sequence == 2 && track.hasMedia(of: again))
        track.finish(again, end: Loading.nanoseconds(6))
        #expect(track.rung == 1 && track.loadedEnd == Loading.nanoseconds(6))
        track.choose(rung: 1, rendition: other)
        #expect(track.step(in: timeline, at: noon, change: .loadsAgain) == .wait)
    }

    /// A live playlist of two segments, and of parts of the third that last half a second, of which the first and the
    /// third can be decoded by themselves.
    private func open(parts: Int) throws -> HLSPlaylist {
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n#EXT-X-PART-INF:PART-TARGET=0.5\n"
        text += "#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:2,\ns0.mp4\n"
        for part in 0..<4 { text += tag(1, part) }
        text += "#EXTINF:2,\ns1.mp4\n"
        for part in 0..<parts { text += tag(2, part) }
        return try HLSPlaylist(parsing: Array(text.utf8), at: Loading.url("media.m3u8"))
    }

    private func tag(_ segment: Int, _ part: Int) -> String {
        "#EXT-X-PART:DURATION=0.5,URI=\"s\(segment).\(part).mp4\"\(part % 2 == 0 ? ",INDEPENDENT=YES" : "")\n"
    }

    @Test(
        "A player that loads again changes the rendition between two parts, at the last part that can be decoded",
        arguments: [(0, 1, 2), (1, 2, 0), (2, 2, 0), (3, 2, 2)]
    )
    func betweenParts(listed: Int, sequence: Int64, part: Int) throws {
        let reloading = PlaylistReloading(usesParts: true)
        var manifest = ManifestLoading(Loading.source, staleAfter: nil, reloading: reloading)
        _ = try manifest.take(try Loading.multivariant([400_000, 800_000]), begun: Loading.instant(0))
        let id = try take(try open(parts: listed), rung: 0, into: &manifest, at: 0)
        let own = try #require(manifest[id]?.timeline)
        var track = TrackLoading(at: Loading.nanoseconds(3))
        for _ in 0..<(2 + listed) {
            track.choose(rung: 0, rendition: id)
            #expect(track.step(in: own, at: noon) == .chosen)
            let segment = try #require(track.plan?.segment)
            // Between two parts that are listed, nobody changes.
            if segment.part.map({ $0 > 0 }) == true, track.rendition != nil {
                #expect(track.segmentInParts(of: manifest, change: .loadsAgain)?.rendition == id)
            }
            track.finish(segment, end: segment.end)
        }
        #expect(track.segmentInParts(of: manifest, change: .loadsAgain) == nil)
        #expect((track.segmentInParts(of: manifest, change: .waits) != nil) == (listed > 0))
        // A part that comes after a wait gets a new decision.
        var (waiting, later) = (track, manifest)
        waiting.choose(rung: 0, rendition: id)
        #expect(waiting.step(in: own, at: noon, change: .loadsAgain) == .wait)
        waiting.awaitSegment(from: Loading.instant(1), interval: .zero)
        _ = try take(try open(parts: listed + 1), rung: 0, into: &later, at: 1)
        #expect(waiting.segmentInParts(of: later, change: .loadsAgain) == nil)
        #expect((track.segmentInParts(of: later, change: .loadsAgain) != nil) == (listed > 0))
        let other = try take(try open(parts: listed), rung: 1, into: &manifest, at: 1)
        let timeline = try #require(manifest[other]?.timeline)
        track.choose(rung: 1, rendition: other)
        #expect(track.step(in: timeline, at: noon, change: .loadsAgain) == .chosen)
        let segment = try #require(track.plan?.segment)
        #expect(segment.sequence == sequence && segment.part == part)
    }

    @Test("A track reports a declared gap, and skips a segment without counting it as loaded")
    func gap() throws {
        let (manifest, id) = try Loading.manifest(0..<3, gaps: [0])
        var track = TrackLoading(at: 0)
        #expect(try next(&track, manifest, id) == 0)
        let gap = try #require(track.plan?.segment)
        #expect(track.step(in: try #require(manifest[id]?.timeline), at: noon) == .gap(gap))
        track.skip(gap)
        #expect(track.segmentCount == 0 && track.rung == nil && track.loadedEnd == Loading.nanoseconds(2))
        #expect(try next(&track, manifest, id) == 1)
    }

    @Test("A seek resets a track's plan, its end and the rule's buffer level")
    func move() throws {
        let (manifest, id) = try Loading.manifest(0..<3)
        var track = TrackLoading(at: 0)
        #expect(try next(&track, manifest, id) == 0)
        track.wait(untilBuffered: 5)
        track.end()
        track.move(to: Loading.nanoseconds(4))
        #expect(!track.isAtEnd && track.plan == nil && track.waitUntilBuffered == nil)
        #expect(try next(&track, manifest, id) == 2)
    }

    @Test("A track keeps its plan when a reloaded manifest has the rendition, and drops it otherwise")
    func adopt() throws {
        let (manifest, id) = try Loading.manifest(0..<3)
        let ladder = try #require(manifest.ladder)
        var track = TrackLoading(at: 0)
        #expect(try next(&track, manifest, id) == 0)
        let number = track.plan?.number
        #expect(track.adopt(LadderChange(rungs: [0: 1], ladder: ladder, renditions: [id])) == true)
        #expect(track.plan?.rung == 1 && track.plan?.number == number)
        #expect(track.adopt(LadderChange(rungs: [:], ladder: ladder, renditions: [])) == false)
        #expect(track.plan == nil)
    }

    @Test("A track buffers up to the profile's maximum, or the rule's lower level")
    func level() throws {
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(track.level(at: Loading.nanoseconds(1)) == Loading.nanoseconds(3))
        #expect(track.level(at: Loading.nanoseconds(9)) == 0)
        #expect(track.wantedLevel(maximum: .seconds(20)) == Loading.nanoseconds(20))
        track.wait(untilBuffered: 7)
        #expect(track.wantedLevel(maximum: .seconds(20)) == 7)
    }

    @Test("A full buffer is looked at in a fixed rhythm, and at once after the next segment")
    func rhythm() throws {
        let (manifest, id) = try Loading.manifest()
        var track = TrackLoading(at: 0)
        let interval = Duration.milliseconds(500)
        let looks = { (track: TrackLoading, seconds: Double) in
            track.looks(at: Loading.instant(seconds), interval: interval)
        }
        #expect(looks(track, 1))
        track.looksLater(than: Loading.instant(1), interval: interval)
        #expect(!looks(track, 1.49) && looks(track, 1.5))
        // Room at 1.7 s is found at 2.0 s, room at 1.2 s at 1.5 s, room at 2.0 s at once.
        #expect(track.check(for: Loading.instant(1.7), interval: interval) == Loading.instant(2))
        #expect(track.check(for: Loading.instant(1.2), interval: interval) == Loading.instant(1.5))
        #expect(track.check(for: Loading.instant(2), interval: interval) == Loading.instant(2))
        // An event in between, or a late one, does not change the rhythm.
        track.looksLater(than: Loading.instant(1.3), interval: interval)
        track.looksLater(than: Loading.instant(2.1), interval: interval)
        #expect(!looks(track, 2.4) && looks(track, 2.5))
        // A look that nobody took is over: what comes later waits for the next one.
        #expect(looks(track, 2.55) && !looks(track, 2.56) && !looks(track, 2.9) && looks(track, 3))
        // The player that came too late takes the next look, however late.
        track.looksLater(than: Loading.instant(2.6), interval: interval, hasMissed: true)
        #expect(!looks(track, 2.9) && looks(track, 3) && looks(track, 3.3))
        track.choose(rung: 0, rendition: id)
        #expect(looks(track, 2.2))
        _ = manifest
    }

    @Test("Without an interval, room is found at once")
    func noRhythm() {
        var track = TrackLoading(at: 0)
        track.looksLater(than: Loading.instant(1), interval: .zero)
        #expect(track.looks(at: Loading.instant(1), interval: .zero))
        #expect(track.check(for: Loading.instant(1.2), interval: .zero) == Loading.instant(1.2))
    }

    @Test("Media of lower rungs is fetched again from a position on, and other media is kept")
    func replacement() throws {
        let (manifest, id) = try Loading.manifest(0..<6)
        var track = TrackLoading(at: 0)
        for number in 0..<4 {
            track.choose(rung: number == 2 ? 1 : 0, rendition: id)
            _ = track.step(in: try #require(manifest[id]?.timeline), at: noon)
            track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(Double(2 * number + 2)))
        }
        // Segment 2 has the rung already.
        track.replaceMedia(below: 1, from: Loading.nanoseconds(5))
        #expect(try next(&track, manifest, id) == 4)
        track.dropPlan()
        track.replaceMedia(below: 1, from: Loading.nanoseconds(3))
        track.choose(rung: 1, rendition: id)
        _ = track.step(in: try #require(manifest[id]?.timeline), at: noon)
        let again = try #require(track.plan?.segment)
        #expect(again.sequence == 1 && track.hasMedia(of: again))
        track.finish(again, end: Loading.nanoseconds(4))
        #expect(track.loadedEnd == Loading.nanoseconds(8))
        // What follows is fetched again as well.
        #expect(try next(&track, manifest, id) == 2)
        // The replaced segment has the new rung, and media behind the playhead is forgotten.
        track.dropPlan()
        track.leaveBehind(Loading.nanoseconds(2))
        track.replaceMedia(below: 1, from: Loading.nanoseconds(3))
        track.replaceMedia(below: 1, from: Loading.nanoseconds(1))
        #expect(try next(&track, manifest, id) == 2)
        // Outside the buffer nothing is replaced.
        track.dropPlan()
        track.replaceMedia(below: 9, from: Loading.nanoseconds(30))
        #expect(try next(&track, manifest, id) == 2)
    }
}
