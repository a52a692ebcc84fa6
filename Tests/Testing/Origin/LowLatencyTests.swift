import Instrument
import InstrumentHTTP
import InstrumentManifests
import NIOCore
import Testing

@testable import InstrumentOrigin

@Suite("Low-latency streams")
struct LowLatencyTests {
    private static let start = WallTime(milliseconds: 1_767_225_600_000)

    private func resource(_ path: String, _ query: String = "", at time: Int64) async throws -> Resource? {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let now = WallTime(milliseconds: Self.start.milliseconds + time)
        let moment = Moment(now: now, originStart: Self.start, sessionStart: Self.start)
        return site.resource(at: path, query: query, moment: moment)
    }

    private func text(_ resource: Resource?) throws -> String {
        let body = try #require(resource?.body)
        let bytes = try #require(body.bytes(at: 0, count: body.count))
        return String(decoding: bytes.readableBytesView, as: UTF8.self)
    }

    private func playlist(_ text: String) throws -> HLSMediaPlaylist {
        let url = try HTTPURL("http://origin.test/live/ll/v0.m3u8")
        guard case .media(let playlist) = try HLSPlaylist(parsing: Array(text.utf8), at: url) else {
            throw ManifestError(.malformed, "no media playlist")
        }
        return playlist
    }

    @Test("A playlist has the parts that exist, the hint of the next, and no notices", arguments: ["v0", "en"])
    func parts(track: String) async throws {
        // The stream began 60 s before the origin; segments of the picture end at whole multiples of 2 s.
        let playlist = try playlist(text(try await resource("/live/ll/\(track).m3u8", at: 1_100)))
        #expect(playlist.segments.last?.sequence == 29 && playlist.openSegment?.sequence == 30)
        #expect(playlist.openSegment?.parts.count == (track == "v0" ? 2 : 1))
        #expect(playlist.notices.isEmpty && playlist.segments.count == 15 && playlist.control.canBlockReload)
        let hint = try #require(playlist.preloadHint)
        #expect(hint.url.path == "/live/ll/\(track)/30.\(playlist.openSegment?.parts.count ?? 0).m4s")
        #expect(playlist.renditionReports.count == (track == "v0" ? 2 : 1))
        #expect(playlist.renditionReports.allSatisfy { $0.lastSequence == 30 })
    }

    @Test("A request for a part is held until the part exists, and answers as then")
    func blocking() async throws {
        let waiting = try #require(try await resource("/live/ll/v0.m3u8", "_HLS_msn=30&_HLS_part=2", at: 1_100))
        #expect(waiting.delay == .milliseconds(460))
        #expect(try playlist(text(waiting)).openSegment?.parts.count == 3)
        let known = try #require(try await resource("/live/ll/v0.m3u8", "_HLS_msn=30&_HLS_part=1", at: 1_100))
        #expect(known.delay == .zero)
        // A part behind the last one of a segment is the first one of the next segment.
        let next = try #require(try await resource("/live/ll/v0.m3u8", "_HLS_msn=30&_HLS_part=4", at: 1_100))
        #expect(next.delay == .milliseconds(1_420))
        #expect(try playlist(text(next)).openSegment?.parts.count == 1)
        #expect(try await resource("/live/ll/v0.m3u8", "_HLS_msn=40&_HLS_part=0", at: 1_100) == nil)
        let hinted = try #require(try await resource("/live/ll/v0/30.2.m4s", at: 1_100))
        #expect(hinted.delay == .milliseconds(460))
        #expect(try await resource("/live/ll/v0/30.9.m4s", at: 1_100) == nil)
    }

    @Test("A delta update leaves out the segments beyond the declared distance")
    func delta() async throws {
        let whole = try playlist(text(try await resource("/live/ll/v0.m3u8", at: 1_100)))
        let delta = try playlist(text(try await resource("/live/ll/v0.m3u8", "_HLS_skip=YES", at: 1_100)))
        #expect(delta.skippedCount > 0 && delta.skippedCount + delta.segments.count == whole.segments.count)
        #expect(delta.segments.map(\.sequence) == whole.segments.suffix(delta.segments.count).map(\.sequence))
        #expect(delta.openSegment?.parts == whole.openSegment?.parts)
    }

    @Test("The parts of a segment are its bytes")
    func bytes() async throws {
        var joined: [UInt8] = []
        for place in 0..<4 {
            let part = try #require(try await resource("/live/ll/v0/42.\(place).m4s", at: 30_000))
            joined += try #require(part.body.bytes(at: 0, count: part.body.count)).readableBytesView
        }
        let whole = try #require(try await resource("/live/ll/v0/42.m4s", at: 30_000))
        #expect(whole.production.isEmpty && whole.delay == .zero)
        #expect(whole.body.bytes(at: 0, count: whole.body.count).map { Array($0.readableBytesView) } == joined)
    }

    @Test("The bytes of a segment in production leave as its parts come into being")
    func production() async throws {
        let segment = try #require(try await resource("/live/ll/v0/30.m4s", at: 600))
        #expect(segment.delay == .zero)
        #expect(
            segment.production.map(\.after) == [.zero, .milliseconds(440), .milliseconds(960), .milliseconds(1_400)]
        )
        #expect(segment.production.last?.count == segment.body.count)
        #expect(try await resource("/live/ll/v0/60.m4s", at: 600) == nil)
    }

    @Test("The manifest offers segments before they are complete")
    func manifest() async throws {
        let text = try text(try await resource("/live/ll/low-latency.mpd", at: 600))
        let url = try HTTPURL("http://origin.test/live/ll/low-latency.mpd")
        let now = WallTime(milliseconds: Self.start.milliseconds + 600)
        let presentation = try Presentation(parsing: Array(text.utf8), at: url, requestedAs: url, now: now)
        #expect(presentation.live?.targetLatency == 2_500_000_000 && presentation.variants.count == 3)
        guard case .segments(let index)? = presentation.renditions.first?.source else {
            throw ManifestError(.malformed, "no segments")
        }
        let segment = try #require(index.segment(containing: 60_000_000_000))
        #expect(segment.availability?.milliseconds == Self.start.milliseconds + 600)
        #expect(segment.completion?.milliseconds == Self.start.milliseconds + 2_000)
        let timeline = RenditionTimeline(index, live: presentation.live, now: MonotonicInstant(nanoseconds: 0))
        #expect(timeline.liveEdge(at: now) == 60_600_000_000)
    }
}
