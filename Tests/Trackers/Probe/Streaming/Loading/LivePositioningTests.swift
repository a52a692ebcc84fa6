import Instrument
import InstrumentManifests
import Testing

@testable import InstrumentProbe

@Suite("Position in a live stream")
struct LivePositioningTests {
    /// Ten segments of two seconds: the live edge is at 20 s, and the stream declares three target durations.
    private let manifest: ManifestLoading
    private let state: RenditionState

    init() throws {
        let (manifest, id) = try Loading.manifest(0..<10, isComplete: false, at: 12)
        self.manifest = manifest
        state = try #require(manifest[id])
    }

    private func policy(
        maximum: Double? = nil,
        onStall increase: Double = 0,
        catchUp: LivePolicy.CatchUp = .none
    ) -> LivePolicy {
        LivePolicy(
            targetLatency: .duration(.seconds(6)),
            followsStream: false,
            maximumLatency: maximum.map { .duration(.seconds($0)) },
            targetIncreaseOnStall: .duration(.seconds(increase)),
            catchUp: catchUp
        )
    }

    private func view(_ seconds: Double, _ model: PlaybackModel? = nil, stalls: Int = 0) -> PlaybackView {
        PlaybackView(now: Loading.at(seconds), model: model, stallCount: stalls)
    }

    @Test("Playback starts at the target latency, or at the viewer's choice inside the window")
    func start() {
        var live = LivePositioning(policy())
        #expect(live.place(in: state, offset: nil, view(12)) == Loading.nanoseconds(14))
        #expect(live.isPlaced)
        let choice = PlaybackView(now: Loading.at(12), pendingSeek: Loading.nanoseconds(100))
        #expect(live.place(in: state, offset: nil, choice) == Loading.nanoseconds(20))
    }

    @Test("An event that grows starts at the target latency, too (RFC 8216, section 6.3.3)")
    func event() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:EVENT\n"
            + (0..<10).map { "#EXTINF:2,\ns\($0).ts\n" }.joined()
        var manifest = ManifestLoading(Loading.source, staleAfter: .targetDurations(3.5))
        let presentation = try Loading.multivariant([400_000])
        _ = try manifest.take(presentation, begun: Loading.instant(12))
        let (id, url) = (presentation.variants[0].main, try Loading.url("v.m3u8"))
        let playlist = try HLSPlaylist(parsing: Array(text.utf8), at: url)
        _ = try manifest.take(playlist, of: id, at: url, isNumberedAlike: true, begun: Loading.instant(12))
        var live = LivePositioning(policy())
        #expect(live.place(in: try #require(manifest[id]), offset: nil, view(12)) == Loading.nanoseconds(14))
    }

    @Test("A seek is limited to the window, and to the target latency behind the edge")
    func destination() {
        var live = LivePositioning(policy())
        #expect(live.destination(of: Loading.nanoseconds(1000), in: state, view(12)) == Loading.nanoseconds(1000))
        _ = live.place(in: state, offset: nil, view(12))
        #expect(live.destination(of: Loading.nanoseconds(1000), in: state, view(12)) == Loading.nanoseconds(14))
        #expect(live.destination(of: -5, in: state, view(12)) == 0)
    }

    @Test("Each stall adds the increase to the target latency once")
    func stalls() {
        var live = LivePositioning(policy(onStall: 1.5))
        _ = live.place(in: state, offset: nil, view(12))
        let model = Loading.model(until: 20)
        for (stalls, target) in [(0, 6.0), (1, 7.5), (1, 7.5), (3, 10.5)] {
            _ = live.follow(state, view(13, model, stalls: stalls))
            #expect(live.context?.target == .seconds(target), "\(stalls) stalls")
        }
        #expect(live.destination(of: .max, in: state, view(13)) == Loading.nanoseconds(9.5))
    }

    @Test("An increase in target durations uses the stream's target duration")
    func stallsInTargetDurations() {
        var policy = policy()
        policy.targetIncreaseOnStall = .targetDurations(0.5)
        var live = LivePositioning(policy)
        _ = live.place(in: state, offset: nil, view(12))
        _ = live.follow(state, view(13, Loading.model(until: 20), stalls: 1))
        #expect(live.context?.target == .seconds(7))
    }

    @Test(
        "The increase of stalls stops at the policy's maximum",
        arguments: [(1, 7.25), (2, 8.0), (100, 8.0), (Int.max, 8.0)]
    )
    func cappedStalls(stalls: Int, target: Double) {
        var policy = policy(onStall: 1.25)
        policy.maximumTargetIncrease = .targetDurations(1)
        var live = LivePositioning(policy)
        _ = live.place(in: state, offset: nil, view(12))
        _ = live.follow(state, view(13, Loading.model(until: 20), stalls: stalls))
        #expect(live.context?.target == .seconds(target))
    }

    @Test("The hls.js profile adds one second for each stall, and at most one target duration")
    func hlsJSStalls() {
        var live = LivePositioning(PlayerProfile.hlsJS.live)
        _ = live.place(in: state, offset: nil, view(12))
        // The stream declares no latency: three target durations of two seconds.
        for (stalls, target) in [(0, 6.0), (1, 7.0), (2, 8.0), (3, 8.0), (1000, 8.0)] {
            _ = live.follow(state, view(13, Loading.model(until: 20), stalls: stalls))
            #expect(live.context?.target == .seconds(target), "\(stalls) stalls")
        }
    }

    @Test("The live edge moves on from the response, however long the server held the request")
    func heldRequest() throws {
        func playlist(parts: Int) throws -> HLSPlaylist {
            var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n#EXT-X-PART-INF:PART-TARGET=0.5\n"
            text += "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n#EXT-X-MEDIA-SEQUENCE:0\n"
            for number in 0..<10 { text += "#EXTINF:2,\ns\(number).mp4\n" }
            for part in 0..<parts { text += "#EXT-X-PART:DURATION=0.5,URI=\"p\(part).mp4\",INDEPENDENT=YES\n" }
            return try HLSPlaylist(parsing: Array(text.utf8), at: Loading.url("v.m3u8"))
        }
        var manifest = ManifestLoading(
            Loading.source,
            staleAfter: nil,
            reloading: PlaylistReloading(usesParts: true)
        )
        let presentation = try Loading.multivariant([400_000])
        _ = try manifest.take(presentation, begun: Loading.instant(20))
        let (id, url) = (presentation.variants[0].main, try Loading.url("v.m3u8"))
        func take(parts: Int, begun: Double, received: Double) throws {
            _ = try manifest.take(
                try playlist(parts: parts),
                of: id,
                at: url,
                isNumberedAlike: true,
                begun: Loading.instant(begun),
                received: Loading.instant(received)
            )
        }
        try take(parts: 1, begun: 20.4, received: 20.5)
        var live = LivePositioning(policy())
        _ = live.place(in: try #require(manifest[id]), offset: nil, view(20.5))
        let model = Loading.model(until: 40)
        func latency(_ seconds: Double) throws -> StreamEffect? {
            live.follow(try #require(manifest[id]), view(seconds, model)).first
        }
        // The playhead is at the time of the clock, and the server lists each part when it is complete.
        #expect(try latency(20.5) == .latencyMeasured(.zero) && latency(20.9) == .latencyMeasured(.zero))
        try take(parts: 2, begun: 20.6, received: 21)
        #expect(try latency(21) == .latencyMeasured(.zero) && latency(21.4) == .latencyMeasured(.zero))
    }

    @Test("A latency above the maximum causes a jump to the target, and a lower latency changes the rate")
    func follow() throws {
        let catchUp = LivePolicy.CatchUp.fixed(minimum: 0.9, maximum: 1.1, tolerance: .milliseconds(100))
        var live = LivePositioning(policy(maximum: 10, catchUp: catchUp))
        let model = Loading.model(until: 20)
        #expect(live.follow(state, view(12, model)).isEmpty)
        _ = live.place(in: state, offset: nil, view(12))
        // The playhead is at 12 s, the edge at 20 s.
        #expect(
            live.follow(state, view(12, model)) == [.latencyMeasured(.seconds(8)), .catchUp(rate: 1.1)]
        )
        // The playhead is at 5 s, the edge at 20 s.
        let late = PlaybackView(now: Loading.at(5), model: model)
        let effects = live.follow(state, late)
        #expect(effects.last == .jump(to: Loading.nanoseconds(14)))
    }

    @Test(
        "Behind the live window, playback continues where the profile says, and at the target latency at most",
        arguments: [
            (LivePolicy.BehindWindow.jumpsToTarget, 14.0), (.jumpsToStart(offset: .zero), 0),
            (.jumpsToStart(offset: .seconds(5)), 5), (.jumpsToStart(offset: .seconds(-5)), 0),
            (.jumpsToStart(offset: .seconds(100)), 14), (.ends, nil),
        ] as [(LivePolicy.BehindWindow, Double?)]
    )
    func behindWindow(rule: LivePolicy.BehindWindow, position: Double?) throws {
        var policy = policy()
        policy.behindWindow = rule
        let first = try #require(state.index?.first)
        let found = LivePositioning(policy).destination(behind: first, in: state, view(12))
        #expect(found == position.map(Loading.nanoseconds))
    }

    private static let dash = """
        <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" \
        timeShiftBufferDepth="PT60S"><ServiceDescription id="0">SERVICE</ServiceDescription><Period id="p" start="PT0S">\
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="$Number$.m4s"/><Representation id="v" bandwidth="200000"/>\
        </AdaptationSet></Period></MPD>
        """

    private func state(ofDASH service: String, in mpd: String = Self.dash) throws -> RenditionState {
        let presentation = try Presentation(
            parsing: Array(mpd.replacing("SERVICE", with: service).utf8),
            at: Loading.url("live.mpd"),
            now: WallTime(milliseconds: 60_000)
        )
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(presentation, begun: Loading.instant(12))
        return try #require(manifest[presentation.variants[0].main])
    }

    private func state(ofHLS control: String) throws -> RenditionState {
        var (manifest, id) = try Loading.manifest(0..<10, isComplete: false, at: 12)
        let segments = (0..<10).map { "#EXTINF:2,\ns\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n\(control)\n\(segments)"
        let url = try Loading.url("v.m3u8")
        let playlist = try HLSPlaylist(parsing: Array(text.utf8), at: url)
        _ = try manifest.take(playlist, of: id, at: url, isNumberedAlike: true, begun: Loading.instant(12))
        return try #require(manifest[id])
    }

    @Test("ExoPlayer changes the playback rate only in streams that ask for it, and leaves their target after a stall")
    func declaredCatchUp() throws {
        let control = "#EXT-X-SERVER-CONTROL:"
        let plain = try [state(ofHLS: ""), state(ofHLS: control + "CAN-SKIP-UNTIL=12"), state(ofDASH: "")]
        let asking = try [
            state(ofHLS: control + "HOLD-BACK=6"), state(ofHLS: control + "PART-HOLD-BACK=3"),
            state(ofDASH: "<Latency target=\"3000\"/>"), state(ofDASH: "<PlaybackRate min=\"0.97\" max=\"1.03\"/>"),
        ]
        let now = Timestamp(instant: Loading.instant(12), wallTime: WallTime(milliseconds: 60_000))
        for (states, rate, increase) in [(plain, 1.0, Duration.zero), (asking, 1.03, Duration.milliseconds(500))] {
            for state in states {
                var live = LivePositioning(PlayerProfile.exoPlayer.live)
                let view = PlaybackView(now: now, model: Loading.model(until: 20))
                _ = live.place(in: state, offset: nil, view)
                let effects = live.follow(state, view)
                #expect(effects.last == .catchUp(rate: rate))
                let target = try #require(live.context?.target)
                // Where ExoPlayer follows the target, half of it is enough media to start with.
                #expect(effects.contains(.sufficientMedia(target / 2)) == (rate > 1))
                let stalled = PlaybackView(now: now, model: Loading.model(until: 20), stallCount: 1)
                _ = live.follow(state, stalled)
                // The target begins to fall at once, by 0.06 s at the fastest rate, where the buffer allows it.
                let raised = try #require(live.context?.target) - target
                #expect(raised <= increase && raised >= max(.zero, increase - .milliseconds(61)))
            }
        }
    }

    @Test("Where the newest segment is the live edge, playback starts a segment earlier, or that far behind a list")
    func newestSegment() throws {
        // Segments of two seconds end at 58.5 s, half a second of the next one has come.
        let now = Timestamp(instant: Loading.instant(12), wallTime: WallTime(milliseconds: 58_500))
        let target = "<Latency target=\"6000\"/>"
        let list = "<SegmentTimeline><S t=\"0\" d=\"2\" r=\"28\"/></SegmentTimeline></SegmentTemplate>"
        let listed = Self.dash.replacing(" duration=\"2\"", with: "").replacing(".m4s\"/>", with: ".m4s\">" + list)
        let chunked = Self.dash.replacing(
            "startNumber",
            with: "availabilityTimeOffset=\"1\" availabilityTimeComplete=\"false\" startNumber"
        )
        for (mpd, edge, start) in [
            (Self.dash, LivePolicy.EdgeOfDASH.timeOfDay, 52.5), (Self.dash, .newestSegment, 50.5),
            (listed, .timeOfDay, 52.5), (listed, .newestSegment, 52), (chunked, .timeOfDay, 52.5),
            (chunked, .newestSegment, 51.5),
        ] {
            let state = try state(ofDASH: target, in: mpd)
            var policy = PlayerProfile.shaka.live
            #expect(policy.edgeOfDASH == .newestSegment)
            (policy.edgeOfDASH, policy.serviceTarget) = (edge, .timeOfDay)
            var live = LivePositioning(policy)
            let position = live.place(in: state, offset: nil, PlaybackView(now: now))
            #expect(position == Loading.nanoseconds(start), "\(edge), \(mpd)")
        }
    }

    @Test("Shaka starts at the suggested delay, and its rate alone follows the target of the service description")
    func rateFromStart() throws {
        // lib/player.js:8246: the latency counts from the end of the seek range. Segments are available a second early.
        let now = Timestamp(instant: Loading.instant(12), wallTime: WallTime(milliseconds: 58_500))
        let chunks = "availabilityTimeOffset=\"1\" availabilityTimeComplete=\"false\" startNumber"
        let mpd = Self.dash.replacing("startNumber", with: chunks)
        let service = "<Latency target=\"2500\" min=\"1500\" max=\"3000\"/><PlaybackRate min=\"0.96\" max=\"1.04\"/>"
        let delayed = mpd.replacing("type=\"dynamic\"", with: "type=\"dynamic\" suggestedPresentationDelay=\"PT6S\"")
        for (mpd, service, start, rates) in [
            (delayed, service, 51.5, [(51.5, 0.96), (49.6, 0.96), (49.4, 1), (48.6, 1), (48.4, 1.04)]),
            // Without a suggested delay, playback starts at the edge; without a target, the rate is the normal one.
            (mpd, service, 57.5, [(57.5, 0.96), (55, 1)]),
            (delayed, "<PlaybackRate min=\"0.96\" max=\"1.04\"/>", 51.5, [(51.5, 1), (40, 1)]),
        ] {
            let state = try state(ofDASH: service, in: mpd)
            var live = LivePositioning(PlayerProfile.shaka.inLowLatency.live)
            #expect(live.place(in: state, offset: nil, PlaybackView(now: now)) == Loading.nanoseconds(start))
            for (playhead, rate) in rates {
                let moment = Timestamp(instant: Loading.instant(playhead), wallTime: now.wallTime)
                let effects = live.follow(state, PlaybackView(now: moment, model: Loading.model(until: 60)))
                #expect(effects.last == .catchUp(rate: rate), "at \(playhead) s: \(effects)")
            }
        }
    }

    /// A live MPD since 1970 with segments of two seconds, and a service description.
    private func described(_ service: String) throws -> RenditionState {
        let text = """
            <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S">\
            <ServiceDescription>\(service)</ServiceDescription><Period id="p" start="PT0S">\
            <AdaptationSet contentType="video" mimeType="video/mp4">\
            <SegmentTemplate media="$Number$.m4s" duration="2"/><Representation id="v" bandwidth="500000"/>\
            </AdaptationSet></Period></MPD>
            """
        let now = Loading.at(20).wallTime
        let presentation = try Presentation(parsing: Array(text.utf8), at: Loading.url("live.mpd"), now: now)
        var manifest = ManifestLoading(Loading.source, staleAfter: nil)
        _ = try manifest.take(presentation, begun: Loading.instant(20))
        return try #require(manifest[presentation.renditions[0].id])
    }

    @Test(
        "The target latency stays inside the limits of the service description, if the player follows the stream",
        arguments: [
            ("<Latency min=\"8000\"/>", true, 8.0), ("<Latency max=\"4000\"/>", true, 4.0), ("", true, 6.0),
            ("<Latency min=\"8000\"/>", false, 6.0), ("<Latency target=\"3000\" max=\"3500\"/>", true, 3.5),
        ]
    )
    func limitedLatency(service: String, followsStream: Bool, target: Double) throws {
        let state = try described(service)
        var policy = policy(onStall: service.contains("target") ? 1 : 0)
        policy.followsStream = followsStream
        var live = LivePositioning(policy)
        _ = live.place(in: state, offset: nil, view(20))
        _ = live.follow(state, view(20, Loading.model(until: 20), stalls: 1))
        #expect(live.context?.target == .seconds(target))
    }

    @Test(
        "The rates of the service description replace those of the profile, if the player follows the stream",
        arguments: [
            ("<PlaybackRate min=\"0.96\" max=\"1.04\"/>", true, 1.04, 0.96), ("", true, 1.5, 0.5),
            ("<PlaybackRate min=\"0.96\" max=\"1.04\"/>", false, 1.5, 0.5),
            ("<PlaybackRate max=\"2\"/>", true, 2, 0.5), ("<PlaybackRate min=\"1.1\" max=\"0.9\"/>", true, 1.5, 0.5),
        ]
    )
    func limitedRate(service: String, followsStream: Bool, fastest: Double, slowest: Double) throws {
        let state = try described(service)
        for catchUp in [
            LivePolicy.CatchUp.fixed(minimum: 0.5, maximum: 1.5, tolerance: .milliseconds(100)),
            .proportional(factor: 100, minimum: 0.5, maximum: 1.5, tolerance: .milliseconds(100)),
            .sigmoid(minimum: 0.5, maximum: 1.5, minimumBuffer: .zero),
        ] {
            var policy = policy(catchUp: catchUp)
            policy.followsStream = followsStream
            var live = LivePositioning(policy)
            _ = live.place(in: state, offset: nil, view(20))
            // The target is 6 s behind the clock, which is at 20 s.
            for (playhead, expected) in [(5.0, fastest), (20, slowest)] {
                let moment = Timestamp(instant: Loading.instant(playhead), wallTime: Loading.at(20).wallTime)
                let effects = live.follow(state, PlaybackView(now: moment, model: Loading.model(until: 20)))
                guard case .catchUp(let rate)? = effects.last else {
                    Issue.record("\(effects)")
                    return
                }
                #expect(abs(rate - expected) < 0.001, "\(catchUp)")
            }
        }
    }

    @Test("A rendition that was not played for a while says nothing of the latency before its playlist comes again")
    func outdated() {
        var live = LivePositioning(policy())
        _ = live.place(in: state, offset: nil, view(12))
        // The playlist was loaded at 12 s, and is due at 14 s.
        #expect(!live.follow(state, view(16, Loading.model(until: 20))).isEmpty)
        #expect(live.follow(state, view(16.1, Loading.model(until: 20))).isEmpty)
    }

    @Test("A stream that is complete is not followed")
    func complete() throws {
        let (manifest, id) = try Loading.manifest(0..<10)
        let state = try #require(manifest[id])
        var live = LivePositioning(policy(maximum: 1))
        #expect(live.place(in: state, offset: nil, view(0)) == 0)
        #expect(live.follow(state, view(1, Loading.model(until: 20))).isEmpty)
    }
}
