import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Feeding the playback model")
struct MediaFeedTests {
    private let manifest: ManifestLoading
    private let id: Rendition.ID

    init() throws { (manifest, id) = try Loading.manifest(0..<6) }

    private func delivery(
        _ number: Int,
        _ role: StreamRole = .main,
        roles: Set<StreamRole> = [.main]
    ) throws -> MediaFeed.Delivery {
        let index = try #require(manifest[id]?.index)
        var track = TrackLoading(at: index[number].start)
        for _ in 0...number { track.choose(rung: 0, rendition: id) }
        _ = track.step(in: try #require(manifest[id]?.timeline), at: WallTime(milliseconds: 0))
        let plan = try #require(track.plan)
        return MediaFeed.Delivery(
            role: role,
            plan: plan,
            segment: try #require(plan.segment),
            roles: roles,
            variant: manifest.variant(at: 0)
        )
    }

    private func media(_ effects: [StreamEffect]) -> [MediaArrival] {
        effects.compactMap { if case .received(let media) = $0 { media } else { nil } }
    }

    private let closed = PlaybackView(now: Loading.at(5))
    private var open: PlaybackView { PlaybackView(now: Loading.at(5), model: Loading.model(until: 2)) }

    @Test("A whole segment starts playback, and its media counts from its last byte, with any first timestamp")
    func whole() throws {
        var feed = MediaFeed(.complete)
        let content = Loading.content([.video, .audio], from: 1000)
        let effects = feed.take(
            content,
            Loading.arrivals(at: 3, rest: 4),
            isWhole: true,
            try delivery(0),
            closed
        )
        #expect(
            effects == [
                .qualityChanges(Quality(width: 0, height: 0, bitrate: 400_000), at: 0),
                .opened(OpenedTracks(hasVideo: true, hasAudio: true, isTransmuxed: true, instant: Loading.instant(4))),
                .received(MediaArrival(track: .video, end: Loading.nanoseconds(2), instant: Loading.instant(4))),
                .received(MediaArrival(track: .audio, end: Loading.nanoseconds(2), instant: Loading.instant(4))),
            ]
        )
        #expect(feed.finish(content, try delivery(0)) == Loading.nanoseconds(2))
        #expect(!feed.needsInspection(id))
    }

    @Test("With a progressive profile, each part of a segment counts once, from the instant of its last byte")
    func parts() throws {
        var feed = MediaFeed(.progressive)
        let delivery = try delivery(0)
        let content = Loading.content([.video], from: 0)
        var half = ArrivalLog()
        half.add(600, at: Loading.instant(3))
        let first = feed.take(content, half, isWhole: false, delivery, closed)
        #expect(
            media(first) == [MediaArrival(track: .video, end: Loading.nanoseconds(1), instant: Loading.instant(3))]
        )
        let rest = feed.take(content, Loading.arrivals(at: 3, rest: 4), isWhole: true, delivery, open)
        #expect(
            media(rest) == [MediaArrival(track: .video, end: Loading.nanoseconds(2), instant: Loading.instant(4))]
        )
    }

    @Test("A part with pictures alone counts once a segment has shown which tracks there are")
    func picturesFirst() throws {
        var feed = MediaFeed(.progressive)
        var part = Loading.content([.video, .audio], from: 0)
        part.audio = nil
        #expect(feed.take(part, Loading.arrivals(at: 1, rest: 1), isWhole: false, try delivery(0), closed).isEmpty)
        let whole = Loading.content([.video, .audio], from: 0)
        _ = feed.take(whole, Loading.arrivals(at: 1, rest: 2), isWhole: true, try delivery(0), closed)
        var next = Loading.content([.video, .audio], from: 2)
        next.audio = nil
        let effects = feed.take(next, Loading.arrivals(at: 3, rest: 4), isWhole: false, try delivery(1), open)
        #expect(
            media(effects) == [MediaArrival(track: .video, end: Loading.nanoseconds(3), instant: Loading.instant(3))]
        )
    }

    @Test("A demuxer that reads blocks and looks for later pictures returns media later, and the last at the end")
    func lookahead() throws {
        var feed = MediaFeed(.progressive, PlayerProfile.DemuxerLookahead(blockSize: 700, pictures: 1))
        func segment(_ number: Int) throws -> [MediaArrival] {
            var content = Loading.content([.video, .audio], from: Double(2 * number))
            content.wrap = SegmentContent.transportStreamWrap
            let time = Double(2 * number + 1)
            let arrivals = Loading.arrivals(first: 600, at: time, rest: time + 1)
            return media(feed.take(content, arrivals, isWhole: true, try delivery(number), closed))
        }
        func arrival(_ track: PlaybackModel.Track, _ end: Double, _ instant: Double) -> MediaArrival {
            MediaArrival(track: track, end: Loading.nanoseconds(end), instant: Loading.instant(instant))
        }
        // The block of 700 bytes is there with the rest of the segment.
        #expect(try segment(0) == [arrival(.video, 1, 2), arrival(.audio, 2, 2)])
        #expect(try segment(1).contains(arrival(.video, 3, 4)))
        #expect(feed.takeHeldPictures(at: Loading.instant(9)) == [arrival(.video, 4, 9)])
        #expect(feed.takeHeldPictures(at: Loading.instant(9)).isEmpty)
    }

    @Test("Media waits until every track is known, and is then passed on in the order of arrival")
    func waiting() throws {
        var feed = MediaFeed(.complete)
        let roles: Set<StreamRole> = [.main, .audio]
        let video = feed.take(
            Loading.content([.video], from: 0),
            Loading.arrivals(at: 3, rest: 4),
            isWhole: true,
            try delivery(0, roles: roles),
            closed
        )
        #expect(media(video).isEmpty && video.count == 1)
        let audio = feed.take(
            Loading.content([.audio], from: 0),
            Loading.arrivals(at: 1, rest: 2),
            isWhole: true,
            try delivery(0, .audio, roles: roles),
            closed
        )
        #expect(
            audio.first
                == .opened(
                    OpenedTracks(hasVideo: true, hasAudio: true, isTransmuxed: true, instant: Loading.instant(2))
                )
        )
        #expect(media(audio).map(\.track) == [.audio, .video])
        var dropped = MediaFeed(.complete)
        _ = dropped.take(
            Loading.content([.video], from: 0),
            Loading.arrivals(at: 3, rest: 4),
            isWhole: true,
            try delivery(0, roles: roles),
            closed
        )
        dropped.dropWaiting()
        #expect(media(dropped.skip(try delivery(1).segment, .main, open)).count == 1)
    }

    @Test("A segment whose timestamps jump is placed after the previous segment, with a warning")
    func jump() throws {
        var feed = MediaFeed(.complete)
        let log = Loading.arrivals(at: 3, rest: 4)
        let first = Loading.content([.video], from: 0)
        _ = feed.take(first, log, isWhole: true, try delivery(0), closed)
        _ = feed.finish(first, try delivery(0))
        let second = Loading.content([.video], from: 500)
        let effects = feed.take(second, log, isWhole: true, try delivery(1), open)
        guard case .warned(let warning)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(warning.kind == .timestampJump)
        #expect(feed.finish(second, try delivery(1)) == Loading.nanoseconds(4))
    }

    @Test("During playback the quality follows the media; before the start it precedes the media")
    func qualityOrder() throws {
        var feed = MediaFeed(.complete)
        let log = Loading.arrivals(at: 3, rest: 4)
        _ = feed.take(Loading.content([.video, .audio], from: 0), log, isWhole: true, try delivery(0), closed)
        let effects = feed.take(
            Loading.content([.video, .audio], from: 2),
            log,
            isWhole: true,
            try delivery(1),
            open
        )
        #expect(
            effects.last == .qualityChanges(Quality(width: 0, height: 0, bitrate: 400_000), at: Loading.nanoseconds(2))
        )
    }

    @Test("A part is demuxed again only when it has grown by a sixteenth, or by a 4096th while playback starves")
    func growth() throws {
        var feed = MediaFeed(.progressive)
        let plan = try delivery(0).plan
        func takes(_ count: Int, isStarving: Bool = false) -> Bool {
            feed.takePart(of: count, .main, plan, isStarving: isStarving)
        }
        #expect(!takes(2047) && takes(2048) && !takes(4095) && takes(1_000_000))
        #expect(!takes(1_062_499) && !takes(1_000_243, isStarving: true) && takes(1_000_244, isStarving: true))
        #expect(takes(1_200_000))
    }

    @Test("Parts matter while playback waits or starves, and never where the profile plays whole segments")
    func urgency() {
        #expect(MediaFeed(.complete).urgency(closed) == nil)
        #expect(MediaFeed(.progressive).urgency(closed) == false)
        let model = Loading.model(until: 2)
        let playing = PlaybackView(now: Loading.at(1), model: model)
        #expect(MediaFeed(.progressive).urgency(playing) == nil)
        #expect(MediaFeed(.progressive).urgency(PlaybackView(now: Loading.at(2), model: model)) == true)
    }

    @Test(
        "Timestamps that jump inside a segment do not make the segment longer than twice its duration and ten seconds"
    )
    func longest() throws {
        var feed = MediaFeed(.complete)
        var content = Loading.content([.video], from: 0)
        content.video?.end = Loading.nanoseconds(86_400)
        let effects = feed.take(content, Loading.arrivals(at: 3, rest: 4), isWhole: true, try delivery(0), closed)
        #expect(media(effects).map(\.end) == [Loading.nanoseconds(12)])
    }
}
