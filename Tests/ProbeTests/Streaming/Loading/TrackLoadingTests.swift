import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Loading of one track")
struct TrackLoadingTests {
    private let noon = WallTime(milliseconds: 0)

    /// The sequence number of the segment that a plan of the rendition leads to.
    private func next(_ track: inout TrackLoading, _ manifest: ManifestLoading, _ id: Rendition.ID) throws -> Int64? {
        track.choose(rung: 0, rendition: id)
        let index = try #require(manifest[id]?.index)
        guard track.step(in: index, at: noon) == .chosen else { return nil }
        return track.plan?.segment?.sequence
    }

    @Test("A track starts with the segment at its position, continues behind it, and ends behind the last")
    func order() throws {
        let (manifest, id) = try Loading.manifest(0..<3)
        var track = TrackLoading(at: Loading.nanoseconds(2.5))
        #expect(try next(&track, manifest, id) == 1)
        let segment = try #require(track.plan?.segment)
        #expect(track.step(in: try #require(manifest[id]?.index), at: noon) == .fetch(segment))
        track.finish(segment, end: Loading.nanoseconds(4.01))
        #expect(track.loadedEnd == Loading.nanoseconds(4.01) && track.rung == 0 && track.segmentCount == 1)
        #expect(!track.hasLoadedAll(of: manifest))
        #expect(try next(&track, manifest, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        #expect(track.hasLoadedAll(of: manifest))
        track.choose(rung: 0, rendition: id)
        #expect(track.step(in: try #require(manifest[id]?.index), at: noon) == .end)
        #expect(track.isAtEnd && track.plan == nil)
    }

    @Test("A track waits for the next segment of a live playlist, and reports one that has left the window")
    func live() throws {
        let (early, id) = try Loading.manifest(0..<3, isComplete: false)
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(try next(&track, early, id) == 2)
        track.finish(try #require(track.plan?.segment), end: Loading.nanoseconds(6))
        track.choose(rung: 0, rendition: id)
        #expect(track.step(in: try #require(early[id]?.index), at: noon) == .wait)
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
        #expect(track.step(in: index, at: noon) == .expired(first: first))
    }

    @Test("A track reports a declared gap, and a skipped segment moves it on without counting as loaded")
    func gap() throws {
        let (manifest, id) = try Loading.manifest(0..<3, gaps: [0])
        var track = TrackLoading(at: 0)
        #expect(try next(&track, manifest, id) == 0)
        let gap = try #require(track.plan?.segment)
        #expect(track.step(in: try #require(manifest[id]?.index), at: noon) == .gap(gap))
        track.skip(gap)
        #expect(track.segmentCount == 0 && track.rung == nil && track.loadedEnd == Loading.nanoseconds(2))
        #expect(try next(&track, manifest, id) == 1)
    }

    @Test("After a jump a track forgets its plan, its end and the level that the rule asked for")
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

    @Test("A track wants the profile's maximum buffer, or less where the rule asked for less")
    func level() throws {
        let profile = PlayerProfile.plain(maximum: .seconds(20))
        var track = TrackLoading(at: Loading.nanoseconds(4))
        #expect(track.level(at: Loading.nanoseconds(1)) == Loading.nanoseconds(3))
        #expect(track.level(at: Loading.nanoseconds(9)) == 0)
        #expect(track.wantedLevel(profile, nil) == Loading.nanoseconds(20))
        track.wait(untilBuffered: 7)
        #expect(track.wantedLevel(profile, nil) == 7)
    }
}
