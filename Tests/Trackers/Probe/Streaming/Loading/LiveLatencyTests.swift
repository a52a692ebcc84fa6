import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

/// The latency of a live stream that declares none.
@Suite("Latency of live streams by profile")
struct LiveLatencyTests {
    /// A live MPD with segments of two seconds since 1970, at 100 s.
    private func state(_ attributes: String) throws -> RenditionState {
        let text = """
            <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" \(attributes)><Period id="p" start="PT0S">\
            <AdaptationSet contentType="video" mimeType="video/mp4"><SegmentTemplate media="$Number$.m4s" duration="2"/>\
            <Representation id="v" bandwidth="500000"/></AdaptationSet></Period></MPD>
            """
        let presentation = try Presentation(
            parsing: Array(text.utf8),
            at: Loading.url("live.mpd"),
            now: Loading.at(100).wallTime
        )
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(presentation, begun: Loading.instant(100))
        let id = try #require(presentation.variants.first?.main)
        return try #require(manifest[id])
    }

    /// From the live edge to the start position, in seconds.
    private func latency(_ profile: PlayerProfile, _ attributes: String) throws -> Double {
        var live = LivePositioning(profile.live)
        let position = live.place(in: try state(attributes), offset: nil, PlaybackView(now: Loading.at(100)))
        return 100 - Double(position) / 1e9
    }

    @Test("Shaka takes 1.5 × minBufferTime from a segment behind the clock, or the window if that is shorter")
    func shaka() throws {
        // lib/dash/dash_parser.js:785, lib/media/presentation_timeline.js:740.
        #expect(try latency(.shaka, #"minBufferTime="PT4S" timeShiftBufferDepth="PT60S""#) == 6 + 2)
        #expect(try latency(.shaka, #"minBufferTime="PT40S" timeShiftBufferDepth="PT20S""#) == 20)
    }

    @Test("dash.js takes four segments")
    func dashJS() throws {
        // src/streaming/controllers/PlaybackController.js:449, 476.
        #expect(try latency(.dashJS, #"minBufferTime="PT4S" timeShiftBufferDepth="PT60S""#) == 8)
    }

    @Test("Media3 takes 30 s, and the standard profile three segments")
    func others() throws {
        #expect(try latency(.exoPlayer, #"minBufferTime="PT4S" timeShiftBufferDepth="PT60S""#) == 30)
        #expect(try latency(.standard, #"minBufferTime="PT4S" timeShiftBufferDepth="PT60S""#) == 6)
    }

    @Test(
        "A delay that the MPD suggests overrides the profile's",
        arguments: [PlayerProfile.shaka, .dashJS, .exoPlayer, .standard]
    )
    func declared(profile: PlayerProfile) throws {
        let attributes = #"minBufferTime="PT4S" timeShiftBufferDepth="PT60S" suggestedPresentationDelay="PT10S""#
        #expect(try latency(profile, attributes) == (profile.live.edgeOfDASH == .newestSegment ? 12 : 10))
    }
}
