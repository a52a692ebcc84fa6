import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentGStreamer

/// The order and the instants of messages are those of GStreamer 1.22, recorded beside its displayed pictures.
@Suite("The model of GStreamer", .serialized, .ownThread, .timeLimit(.minutes(30)))
struct ModelTests {
    @Test("A start is the instant since which pictures move")
    func start() {
        let stage = Stage()
        stage.play()
        #expect(stage.actions == [.streamLoad, .start] && stage.instants == [100, 1_000])
        let status = stage.last?.status
        #expect(status?.resolutionWidth == 640 && status?.framesPerSecond == 25 && status?.duration == .seconds(24))
        #expect(status?.source == "https://example.com/film.m3u8" && status?.title == "film.m3u8")
        #expect(status?.position == .zero)
        #expect(stage.watch.status.position == .milliseconds(961))
    }

    @Test("A first picture whose time is later than the clock's begin stands until it is due")
    func lateFirstPicture() {
        let stage = Stage()
        stage.state(.null, .ready, pending: .playing, at: 0)
        stage.call(.caps(sink: 1, media: .video, .init(width: 320, height: 180, framesPerSecond: 25)), at: 90)
        stage.picture(700, isPreroll: true, at: 92)
        stage.state(.ready, .paused, pending: .playing, at: 92)
        stage.state(.paused, .playing, at: 92)
        stage.pictures(from: 740, count: 3, at: 792)
        #expect(stage.actions == [.streamLoad, .start] && stage.instants.last == 791)
    }

    @Test("Pictures that move before the pipeline says that it plays are the start")
    func earlyPictures() {
        let stage = Stage()
        stage.state(.null, .ready, pending: .playing, at: 0)
        stage.call(.caps(sink: 1, media: .video, .init(width: 320, height: 180, framesPerSecond: 25)), at: 90)
        stage.picture(0, isPreroll: true, at: 92)
        stage.state(.ready, .paused, pending: .playing, at: 92)
        stage.picture(40, at: 101)
        stage.state(.paused, .playing, at: 120)
        stage.pictures(from: 80, count: 2, at: 141)
        #expect(stage.actions == [.streamLoad, .start] && stage.instants.last == 100)
    }

    @Test("A pause of the app while the buffers are not full is a stall, until pictures move again")
    func stall() {
        let stage = Stage()
        stage.play()
        stage.call(.buffering(percent: 6, isLive: false), at: 2_001)
        stage.state(.playing, .paused, at: 2_002)
        stage.call(.asyncDone, at: 2_002)
        for percent in 7..<100 { stage.call(.buffering(percent: percent, isLive: false), at: 8_000) }
        stage.call(.buffering(percent: 100, isLive: false), at: 9_000)
        stage.state(.paused, .playing, at: 9_005)
        stage.picture(1_040, ahead: 33, at: 9_010)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish])
        #expect(stage.instants.suffix(2) == [2_002, 9_005])
    }

    @Test("Buffers that are empty for a moment are neither a stall nor a pause, although the app pauses after them")
    func shortShortage() {
        let stage = Stage()
        stage.play()
        // The app reads both messages when both are there.
        stage.call(.buffering(percent: 0, isLive: false), at: 2_001)
        stage.call(.buffering(percent: 100, isLive: false), at: 2_002)
        stage.state(.playing, .paused, at: 2_010)
        stage.state(.paused, .playing, at: 2_014)
        stage.pictures(from: 1_040, count: 5, at: 2_015)
        // The app is quicker.
        stage.call(.buffering(percent: 0, isLive: false), at: 2_216)
        stage.state(.playing, .paused, at: 2_217)
        stage.call(.buffering(percent: 100, isLive: false), at: 2_220)
        stage.state(.paused, .playing, at: 2_222)
        stage.pictures(from: 1_240, count: 20, at: 2_225)
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("Pictures that come late are a stall, although the pipeline plays on")
    func lateData() {
        let stage = Stage()
        stage.play()
        stage.call(.buffering(percent: 0, isLive: false), at: 2_001)
        // The last picture is due at 2,000 ms, for 40 ms. Nothing else is heard.
        stage.pass(to: 2_600)
        #expect(stage.actions.last == .bufferBegin && stage.instants.last == 2_040)
        for number in 0..<5 { stage.picture(1_040 + 40 * number, ahead: -4_000, isDropped: true, at: 6_000 + number) }
        stage.pictures(from: 5_040, count: 3, at: 6_010)
        #expect(stage.actions.suffix(2) == [.bufferBegin, .bufferFinish])
        #expect(abs((stage.instants.last ?? 0) - 6_049) <= 1)
    }

    @Test("Pictures that are meant to stand long are no stall")
    func slideShow() {
        let stage = Stage()
        stage.play()
        var slide = GStreamerBuffer(sink: 1, media: .video, position: 1_040_000_000)
        (slide.duration, slide.ahead) = (5_000_000_000, 39_000_000)
        stage.call(.buffer(slide), at: 2_001)
        (slide.position, slide.ahead) = (6_040_000_000, 5_000_000_000)
        stage.call(.buffer(slide), at: 2_041)
        stage.pass(to: 11_000)
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("A pause is the person's if the buffers are full, and so is a pipeline that stays paused")
    func pause() {
        let stage = Stage()
        stage.play()
        stage.state(.playing, .paused, at: 2_005)
        stage.call(.asyncDone, at: 2_005)
        stage.state(.paused, .playing, at: 3_500)
        stage.pictures(from: 1_040, count: 5, at: 3_501)
        #expect(stage.actions.suffix(2) == [.pauseBegin, .pauseFinish])
        #expect(stage.instants.suffix(2) == [2_005, 3_500])
        stage.call(.buffering(percent: 0, isLive: false), at: 3_702)
        stage.state(.playing, .paused, at: 3_703)
        // The person pauses meanwhile, which the pipeline does not say.
        stage.call(.buffering(percent: 100, isLive: false), at: 6_000)
        stage.pass(to: 6_700)
        #expect(stage.actions.suffix(3) == [.bufferBegin, .bufferFinish, .pauseBegin])
        #expect(stage.instants.suffix(3) == [3_703, 6_000, 6_000])
        stage.state(.paused, .playing, at: 8_000)
        #expect(stage.actions.last == .pauseFinish)
    }

    @Test("A live pipeline that reports buffers does not wait for them: its pause is a person's")
    func live() {
        let stage = Stage()
        stage.play(duration: nil)
        stage.call(.buffering(percent: 40, isLive: true), at: 2_001)
        stage.state(.playing, .paused, at: 2_005)
        #expect(stage.actions.last == .pauseBegin)
    }

    @Test("A flushing seek is a seek until pictures move at the new position, with its wait for buffers")
    func seek() {
        let stage = Stage()
        stage.play()
        stage.call(.seek(rate: 1, isFlushing: true, position: 12_000_000_000), at: 2_004)
        stage.call(.flushed(sink: 1), at: 2_004)
        stage.state(.paused, .paused, pending: .paused, at: 2_006)
        stage.call(.buffering(percent: 0, isLive: false), at: 2_008)
        stage.state(.paused, .paused, at: 2_050)
        stage.call(.segment(sink: 1, rate: 1, duration: 24_000_000_000), at: 2_100)
        stage.picture(12_000, isPreroll: true, at: 2_110)
        stage.call(.asyncDone, at: 2_111)
        stage.call(.buffering(percent: 100, isLive: false), at: 4_000)
        stage.state(.paused, .playing, at: 4_010)
        stage.pictures(from: 12_040, count: 3, at: 4_011)
        #expect(stage.actions == [.streamLoad, .start, .seekBegin, .seekFinish])
        #expect(stage.instants.suffix(2) == [2_004, 4_010])
        let positions = stage.signals.withLock { $0.suffix(2).map { $0.status?.position } }
        #expect(positions == [.milliseconds(1_004), .seconds(12)])
    }

    @Test("A seek while paused ends with its picture; a seek without a flush, for a loop, is none")
    func otherSeeks() {
        let stage = Stage()
        stage.play()
        stage.call(.segmentDone, at: 2_001)
        stage.call(.seek(rate: 1, isFlushing: false, position: 0), at: 2_002)
        stage.pictures(from: 0, count: 10, at: 2_003)
        #expect(stage.actions == [.streamLoad, .start])
        stage.state(.playing, .paused, at: 2_400)
        stage.call(.seek(rate: 1, isFlushing: true, position: 8_000_000_000), at: 3_000)
        stage.call(.flushed(sink: 1), at: 3_000)
        stage.state(.paused, .paused, pending: .paused, at: 3_001)
        stage.picture(8_000, isPreroll: true, at: 3_080)
        stage.state(.paused, .paused, at: 3_090)
        stage.call(.asyncDone, at: 3_090)
        #expect(stage.actions.suffix(3) == [.pauseBegin, .seekBegin, .seekFinish])
        #expect(stage.instants.last == 3_090 && stage.last?.status?.position == .seconds(8))
    }

    @Test("A segment that has ended ends the playback, unless the app continues")
    func segmentDone() {
        let stage = Stage()
        stage.play()
        stage.call(.segmentDone, at: 2_001)
        stage.pass(to: 3_000)
        #expect(stage.actions.last == .end && stage.instants.last == 2_040)
    }

    @Test("A seek to where the playhead is changes the rate, and is no seek")
    func rate() {
        let stage = Stage()
        stage.play()
        stage.call(.seek(rate: 2, isFlushing: true, position: 1_000_000_000), at: 2_004)
        stage.call(.flushed(sink: 1), at: 2_004)
        stage.state(.paused, .paused, pending: .paused, at: 2_005)
        stage.call(.segment(sink: 1, rate: 2, duration: nil), at: 2_006)
        stage.picture(1_000, isPreroll: true, at: 2_010)
        stage.state(.paused, .playing, at: 2_020)
        stage.pictures(from: 1_040, count: 4, at: 2_021)
        #expect(stage.actions == [.streamLoad, .start, .playbackRateChange])
        #expect(stage.last?.attributes[.playbackRate] == 2)
    }

    @Test("An end of the stream is an end, and far before the duration an error")
    func end() {
        let whole = Stage()
        whole.play(duration: 3_000)
        whole.call(.end, at: 2_041)
        whole.state(.playing, .paused, pending: .null, at: 2_100)
        #expect(whole.actions == [.streamLoad, .start, .end])
        let early = Stage()
        early.play()
        early.call(.end, at: 2_041)
        #expect(early.actions == [.streamLoad, .start, .error])
        #expect(early.last?.attributes[.errorDescription] == "GStreamer ended the playback at 1 s of 24 s")
        let endless = Stage()
        endless.play(duration: nil)
        endless.call(.end, at: 2_041)
        #expect(endless.actions.last == .end)
    }

    @Test("An error has its domain, code and text, the status of HTTP, and no secrets; what follows from it is silent")
    func errors() {
        let stage = Stage()
        stage.state(.null, .ready, pending: .playing, at: 0)
        let debug = "source.c(1683): parse_status ():\nNot Found (404), URL: https://a:b@example.com/x?key=secret,"
        let missing = GStreamerEvent.Failure(
            domain: "gst-resource-error-quark",
            code: 3,
            text: "Not Found",
            debug: debug,
            httpStatus: 404
        )
        stage.call(.failed(missing), at: 11)
        stage.call(.failed(.init(domain: "gst-stream-error-quark", code: 1, text: "Internal error")), at: 11)
        stage.state(.ready, .null, at: 20)
        #expect(stage.actions == [.streamLoad, .error])
        let attributes = stage.last?.attributes
        #expect(attributes?[.errorCode] == "HTTP 404" && attributes?[.isFatal] == true)
        let words = attributes?[.errorDescription] ?? ""
        #expect(words.hasPrefix("Not Found (Not Found (404), URL: https://example.com/x"))
        #expect(!words.contains("secret") && !words.contains("a:b"))
        let other = Stage()
        other.play()
        other.call(.warned(.init(domain: "gst-resource-error-quark", code: 9, text: "a cause")), at: 2_000)
        other.call(.failed(.init(domain: "gst-stream-error-quark", code: 6, text: "No decoder")), at: 2_001)
        #expect(other.last?.attributes[.errorCode] == "gst-stream-error-quark 6")
        #expect(other.last?.attributes[.errorDescription] == "No decoder; a cause")
    }

    @Test("A pipeline that is taken down stops, and plays again")
    func stop() {
        let stage = Stage()
        stage.play()
        stage.state(.playing, .paused, pending: .null, at: 2_100)
        stage.state(.paused, .ready, pending: .null, at: 2_101)
        stage.state(.ready, .null, at: 2_102)
        stage.state(.null, .ready, pending: .playing, at: 3_000)
        #expect(stage.actions == [.streamLoad, .start, .stop, .streamLoad])
        #expect(stage.instants.suffix(2) == [2_100, 3_000])
    }

    @Test("Another group of streams is the next entry of a playlist")
    func gapless() {
        let stage = Stage()
        stage.play()
        stage.element.use.withLock { $0.source = "/next.ts" }
        stage.call(.streamStart(group: 1), at: 2_001)
        stage.call(.streamStart(group: 2), at: 2_002)
        stage.pictures(from: 0, count: 3, at: 2_003)
        #expect(stage.actions == [.streamLoad, .start, .next, .streamLoad, .start])
        #expect(stage.last?.status?.source == "/next.ts")
    }

    @Test("Sound alone tells as pictures do")
    func soundAlone() {
        let stage = Stage()
        stage.state(.null, .ready, pending: .playing, at: 0)
        stage.call(.caps(sink: 1, media: .audio, .init()), at: 50)
        func sound(_ position: Int, at instant: Int) {
            var buffer = GStreamerBuffer(sink: 1, media: .audio, position: Int64(position) * 1_000_000)
            (buffer.duration, buffer.ahead) = (20_000_000, 200_000_000)
            stage.call(.buffer(buffer), at: instant)
        }
        stage.state(.ready, .paused, pending: .playing, at: 60)
        stage.state(.paused, .playing, at: 70)
        for number in 0..<50 { sound(20 * number, at: 80 + 20 * number) }
        stage.pass(to: 2_000)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin])
        // The last sound is played at 1,260 ms, for 20 ms.
        #expect(stage.instants == [0, 280, 1_280])
    }

    @Test("A larger picture is a better quality; sound, bit rates and dropped pictures are those of the messages")
    func quality() {
        let stage = Stage()
        stage.call(.sound(volume: 1, isMuted: false), at: 0)
        stage.play()
        stage.call(.tags(media: .video, bitrate: 800_000, language: nil, title: "Film"), at: 2_001)
        stage.call(.tags(media: .audio, bitrate: 128_000, language: "en", title: nil), at: 2_001)
        #expect(stage.watch.status.bitrate == 928_000 && stage.watch.status.language == "en")
        stage.call(.rendition(bitrate: 3_000_000), at: 2_002)
        stage.call(.caps(sink: 1, media: .video, .init(width: 1_280, height: 720, framesPerSecond: 25)), at: 2_003)
        stage.call(.caps(sink: 1, media: .video, .init(width: 320, height: 180, framesPerSecond: 25)), at: 2_004)
        stage.call(.sound(volume: 0.5, isMuted: false), at: 2_005)
        stage.call(.sound(volume: 0.5, isMuted: false), at: 2_006)
        stage.call(.dropped(count: 3, element: 9), at: 2_007)
        stage.call(.dropped(count: 5, element: 9), at: 2_007)
        stage.call(.dropped(count: 1, element: 8), at: 2_007)
        stage.state(.playing, .ready, at: 2_010)
        #expect(stage.actions.suffix(4) == [.qualityChangeUp, .qualityChangeDown, .volumeChange, .stop])
        let status = stage.last?.status
        #expect(status?.volume == 50 && status?.title == "Film" && status?.bitrate == 3_000_000)
        #expect(stage.last?.attributes[.droppedFrames] == 6)
    }

    @Test("The model keeps its promises whatever GStreamer reports", arguments: Rounds.seeds(200))
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = Stage()
        var now = 0
        let states: [GStreamerEvent.State] = [.none, .null, .ready, .paused, .playing]
        let times: [Int64?] = [.min, -1, 0, 1, 40_000_000, 3_000_000_000_000_000_000, .max, nil]
        let reals = [-Double.infinity, -1, 0, 0.5, 1, 2, 1e300, .infinity, .nan]
        for _ in 0..<150 {
            now += [0, 1, 40, 300].randomElement(using: &random) ?? 0
            let time = times.randomElement(using: &random) ?? nil
            let real = reals.randomElement(using: &random) ?? 0
            let state = { (random: inout SeededGenerator) in states.randomElement(using: &random) ?? .none }
            let kind: GStreamerEvent.Kind =
                switch Int.random(in: 0..<15, using: &random) {
                case 0...2: .state(from: state(&random), to: state(&random), pending: state(&random))
                case 3: .thread
                case 4: .streamStart(group: Int.random(in: 0..<3, using: &random))
                case 5: .asyncDone
                case 6: .buffering(percent: Int.random(in: -50...250, using: &random), isLive: false)
                case 7: .end
                case 8: .failed(.init(domain: "", code: .min, text: ""))
                case 9: .seek(rate: real, isFlushing: Bool.random(using: &random), position: time)
                case 10: .flushed(sink: 1)
                case 11: .caps(sink: 1, media: .video, .init(width: .max, height: .min, framesPerSecond: real))
                case 12: .segment(sink: 1, rate: real, duration: time)
                case 13: .sound(volume: real, isMuted: Bool.random(using: &random))
                default:
                    .buffer(
                        GStreamerBuffer(
                            sink: UInt64.random(in: 0..<3, using: &random),
                            media: Bool.random(using: &random) ? .video : .audio,
                            position: time,
                            duration: times.randomElement(using: &random) ?? nil,
                            ahead: (times.randomElement(using: &random) ?? nil) ?? 0,
                            rate: real,
                            isPreroll: Bool.random(using: &random)
                        )
                    )
                }
            stage.call(kind, at: now)
        }
        #expect(stage.instants == stage.instants.sorted())
        var open: Set<Action> = []
        let blocks: [Action: Action] = [
            .bufferFinish: .bufferBegin, .seekFinish: .seekBegin, .pauseFinish: .pauseBegin,
        ]
        for action in stage.actions {
            if blocks.values.contains(action) { #expect(open.insert(action).inserted, "\(action) twice") }
            if let begin = blocks[action] { #expect(open.remove(begin) != nil, "\(action) without a begin") }
            if [.end, .stop, .error, .next].contains(action) { #expect(open.isEmpty, "\(open) at \(action)") }
        }
    }
}
