import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentVLC

/// The instants and counters of several tests are those of libVLC 3.0.24, recorded beside its displayed pictures.
@Suite("The model of libVLC")
struct ModelTests {
    @Test("A start is the instant since which pictures move, not the first picture")
    func start() {
        var stage = ModelStage()
        stage.observe(.opening(VLCMedia(source: "/film.ts", title: "Film")), at: 3)
        stage.observe(.playing, at: 17)
        stage.observe(.buffering(0), at: 581)
        stage.observe(.tracks(VLCTracks(width: 854, height: 480, framesPerSecond: 25), isShown: true), at: 597)
        stage.buffered(shown: 1, at: 1_250)
        stage.progress(0, shown: 12, at: 1_412)
        #expect(stage.actions == [.streamLoad])
        stage.progress(0, shown: 7, at: 1_692)
        #expect(stage.actions == [.streamLoad, .start])
        // The pictures moved since 1,287 ms. Refreshes of the first picture were counted as pictures.
        #expect(stage.instants == [3, 1_250])
        let status = stage.signals.last?.status
        #expect(status?.resolutionWidth == 854 && status?.title == "Film" && status?.source == "/film.ts")
    }

    @Test(
        "A stream without further data stalls when its last pictures have been displayed, and until pictures move again"
    )
    func stall() {
        var stage = ModelStage()
        stage.play(from: 1_250)
        stage.progress(3_087, shown: 77, at: 4_722)
        for (time, shown, instant) in [
            (3_060, 7, 5_002), (4_060, 7, 5_282), (4_060, 7, 5_562), (4_351, 3, 5_852), (4_602, 0, 6_103),
            (5_213, 0, 6_354), (5_465, 0, 6_607), (5_560, 0, 6_858), (5_560, 0, 7_109), (5_560, 0, 7_360),
        ] {
            stage.progress(Int64(time), shown: shown, at: Int64(instant))
        }
        // The last picture was displayed at 6,682 ms, for 40 ms.
        #expect(stage.actions.suffix(1) == [.bufferBegin] && stage.instants.last == 6_702)
        stage.progress(5_560, shown: 0, at: 7_611)
        // Data comes again; libVLC fills its buffers, shows one picture and refreshes it.
        stage.observe(.buffering(0), at: 10_070)
        stage.observe(.buffering(42), at: 10_300)
        stage.buffered(shown: 71, at: 10_690)
        stage.progress(4_740, shown: 5, at: 10_909)
        stage.progress(4_740, shown: 0, at: 11_189)
        stage.progress(6_140, shown: 7, at: 11_469)
        stage.progress(6_140, shown: 7, at: 11_749)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish])
        #expect(stage.instants.last == 11_189)
    }

    @Test("A start over a slow link is seen by the time, because the counters change now and then")
    func slowLink() {
        var stage = ModelStage()
        stage.observe(.opening(VLCMedia()), at: 2)
        stage.observe(.buffering(0), at: 1_856)
        stage.observe(.tracks(VLCTracks(width: 640, height: 360, framesPerSecond: 25), isShown: true), at: 1_880)
        stage.buffered(shown: 1, at: 3_567)
        stage.progress(25, shown: 32, at: 3_768)
        stage.progress(276, shown: 0, at: 4_019)
        #expect(stage.actions == [.streamLoad, .start])
        // The pictures moved since 3,667 ms.
        #expect(stage.instants.last == 3_667)
        stage.progress(248, shown: 7, at: 4_271)
        stage.progress(716, shown: 12, at: 4_523)
        stage.progress(968, shown: 0, at: 4_775)
        stage.progress(989, shown: 10, at: 5_036)
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("Refreshes of a long stand that are counted at once are no motion")
    func refreshes() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.buffering(0), at: 2_000)
        stage.buffered(at: 9_000)
        stage.progress(1_000, shown: 0, at: 9_200)
        stage.progress(1_000, shown: 90, at: 9_450)
        stage.progress(1_000, shown: 0, at: 9_700)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin])
        stage.progress(1_000, shown: 6, at: 9_950)
        #expect(stage.actions.last == .bufferFinish && stage.instants.last == 9_710)
        // Counted in the interval at whose end the pictures move: the motion began somewhere in it.
        stage.observe(.buffering(0), at: 10_500)
        stage.buffered(at: 18_000)
        stage.progress(1_000, shown: 90, at: 18_200)
        stage.progress(1_000, shown: 6, at: 18_440)
        #expect(stage.actions.suffix(2) == [.bufferBegin, .bufferFinish] && stage.instants.last == 18_100)
    }

    @Test("A time that libVLC repeats while pictures move is no stall")
    func repeatedTime() {
        var stage = ModelStage()
        stage.play()
        for number in 1...40 {
            stage.progress(Int64(number / 4) * 1_000, shown: 7, at: 1_440 + Int64(number) * 280)
        }
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("An input that sends no event stalls when it has nothing left to play, and continues where pictures move")
    func silence() {
        var stage = ModelStage()
        stage.play()
        stage.progress(4_400, shown: 7, at: 5_379)
        stage.observe(.silence, at: 6_500)
        #expect(stage.actions == [.streamLoad, .start])
        stage.observe(.silence, at: 6_750)
        #expect(stage.actions.last == .bufferBegin && stage.instants.last == 6_729)
        stage.observe(.buffering(0), at: 10_040)
        stage.buffered(shown: 79, at: 10_390)
        stage.progress(6_901, shown: 15, at: 10_801)
        stage.progress(7_400, shown: 12, at: 11_300)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish])
        #expect(stage.instants.last == 10_390)
    }

    @Test("Data that comes late without a silence is a stall from the refill of the buffers on")
    func refill() {
        var stage = ModelStage()
        stage.play()
        stage.progress(600, shown: 7, at: 1_720)
        stage.observe(.buffering(0), at: 1_900)
        stage.observe(.buffering(0), at: 1_910)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin] && stage.instants.last == 1_900)
    }

    @Test("Sound alone starts when it is played, and stalls with its counters")
    func sound() {
        var stage = ModelStage()
        var counters = VLCCounters()
        func progress(_ time: Int64, _ played: Int, _ instant: Int64) {
            counters.playedAudio += played
            stage.observe(.progress(VLCProgress(time: time, counters: counters, rate: 1)), at: instant)
        }
        stage.observe(.opening(VLCMedia()), at: 0)
        stage.buffered(at: 100)
        progress(0, 3, 300)
        progress(200, 12, 550)
        #expect(stage.actions == [.streamLoad, .start] && stage.instants.last == 100)
        progress(450, 0, 800)
        progress(500, 0, 1_050)
        progress(500, 0, 1_300)
        progress(500, 0, 1_550)
        #expect(stage.actions.last == .bufferBegin && stage.instants.last == 850)
    }

    @Test("A slow show of pictures does not stall between two of them")
    func slideshow() {
        var stage = ModelStage()
        stage.observe(.opening(VLCMedia()), at: 0)
        stage.observe(.tracks(VLCTracks(width: 64, height: 36, framesPerSecond: 0.5), isShown: true), at: 50)
        stage.buffered(at: 100)
        for number in 0...40 {
            stage.progress(Int64(number / 8) * 2_000, shown: number % 8 == 0 ? 1 : 0, at: 300 + Int64(number) * 250)
        }
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("A seek begins when the app asks for it, and ends when pictures move")
    func seek() {
        var stage = ModelStage()
        stage.play()
        stage.progress(4_000, shown: 7, at: 5_974)
        stage.observe(.seekAsked, at: 6_003)
        stage.observe(.buffering(0), at: 6_010)
        stage.observe(.buffering(50), at: 6_015)
        stage.buffered(shown: 2, at: 6_023)
        stage.progress(12_220, shown: 7, at: 6_278)
        stage.progress(12_217, shown: 7, at: 6_556)
        #expect(stage.actions == [.streamLoad, .start, .seekBegin, .seekFinish])
        #expect(stage.instants.suffix(2) == [6_003, 6_023])
        let positions = stage.signals.suffix(2).map { $0.status?.position?.seconds ?? -1 }
        #expect(positions[0] < 6 && positions[1] > 11.9)
    }

    @Test("A seek in a stall ends the stall")
    func seekInStall() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.buffering(0), at: 5_000)
        stage.observe(.seekAsked, at: 6_000)
        stage.observe(.buffering(0), at: 6_010)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .seekBegin])
    }

    @Test("A seek of a paused player ends when the new picture is there, and no seek stays open")
    func seekWhilePaused() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.paused, at: 2_001)
        stage.observe(.buffering(0), at: 3_002)
        stage.buffered(shown: 3, at: 3_023)
        stage.observe(.playing, at: 4_004)
        stage.progress(8_050, shown: 16, at: 4_014)
        stage.progress(8_260, shown: 7, at: 4_294)
        #expect(
            stage.actions == [.streamLoad, .start, .pauseBegin, .seekBegin, .seekFinish, .pauseFinish]
        )
        #expect(stage.instants.suffix(4) == [2_001, 3_002, 3_023, 4_004])
    }

    @Test("Pictures that are decoded and not displayed stand, as after a seek of a paused player")
    func frozen() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.paused, at: 2_001)
        stage.observe(.buffering(0), at: 3_002)
        stage.buffered(shown: 3, at: 3_023)
        stage.observe(.playing, at: 4_003)
        for (time, shown, instant) in [
            (8_050, 0, 4_004), (8_260, 0, 4_294), (8_257, 0, 4_571), (8_260, 0, 4_854), (8_274, 0, 5_134),
            (9_257, 3, 5_414), (9_257, 7, 5_694), (9_257, 7, 5_974),
        ] {
            stage.progress(Int64(time), shown: shown, decoded: 6, at: Int64(instant))
        }
        #expect(stage.actions.suffix(3) == [.pauseFinish, .bufferBegin, .bufferFinish])
        // The next picture was displayed at 5,294 ms.
        #expect(stage.instants.suffix(2) == [4_003, 5_294])
    }

    @Test("A pause in a stall is a pause, and the stall continues after it")
    func pauseInStall() {
        var stage = ModelStage()
        stage.play()
        for instant in stride(from: Int64(1_690), through: 2_690, by: 250) {
            stage.progress(500, shown: 0, at: instant)
        }
        #expect(stage.actions.last == .bufferBegin)
        stage.observe(.paused, at: 3_000)
        stage.observe(.playing, at: 5_000)
        for instant in stride(from: Int64(5_250), through: 6_250, by: 250) {
            stage.progress(500, shown: 0, at: instant)
        }
        #expect(
            stage.actions
                == [.streamLoad, .start, .bufferBegin, .bufferFinish, .pauseBegin, .pauseFinish, .bufferBegin]
        )
        #expect(stage.instants.suffix(4) == [3_000, 3_000, 5_000, 5_000])
    }

    @Test("A pause while the buffers fill is a pause, and the stall continues after it")
    func pauseWhileFilling() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.buffering(0), at: 2_000)
        stage.observe(.paused, at: 3_000)
        stage.observe(.playing, at: 4_000)
        stage.buffered(shown: 3, at: 5_000)
        stage.progress(1_000, shown: 0, at: 5_100)
        stage.progress(1_300, shown: 6, at: 5_350)
        #expect(
            stage.actions
                == [
                    .streamLoad, .start, .bufferBegin, .bufferFinish, .pauseBegin, .pauseFinish, .bufferBegin,
                    .bufferFinish,
                ]
        )
        #expect(stage.instants.suffix(4) == [3_000, 4_000, 4_000, 5_110])
    }

    @Test("A seek that an input does not take is none, and a later refill of the buffers is a stall")
    func refusedSeek() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.seekAsked, at: 2_000)
        for number in 1...8 { stage.progress(0, shown: 7, at: 2_000 + Int64(number) * 280) }
        stage.observe(.buffering(0), at: 4_300)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin])
    }

    @Test("An input that ends far before its length is an error with the messages of the log")
    func endedEarly() {
        var stage = ModelStage()
        stage.play(length: 24_000)
        stage.progress(4_751, shown: 7, at: 5_972)
        stage.observe(.message("http: HTTP 503 error"), at: 6_000)
        stage.observe(.message("http: HTTP 503 error"), at: 6_001)
        stage.observe(.endReached, at: 6_280)
        stage.observe(.stopped, at: 6_300)
        #expect(stage.actions == [.streamLoad, .start, .error])
        let attributes = stage.signals.last?.attributes
        #expect(attributes?[.isFatal] == true && attributes?[.errorCode] == "HTTP 503")
        let text = attributes?[.errorDescription] ?? ""
        #expect(text.contains("of 24.0 seconds: http: HTTP 503 error") && text.hasPrefix("libVLC ended the playback"))
    }

    @Test("An input that ends near its length, or without a length, has ended")
    func ended() {
        for length: Int64 in [6_000, 0] {
            var stage = ModelStage()
            stage.play(length: length)
            stage.progress(4_000, shown: 7, at: 5_000)
            stage.observe(.endReached, at: 6_000)
            stage.observe(.stopped, at: 6_001)
            #expect(stage.actions == [.streamLoad, .start, .end])
        }
    }

    @Test("Media that cannot be opened is an error, media too short to be seen moving starts and ends")
    func failedAndShort() {
        var failed = ModelStage()
        failed.observe(.opening(VLCMedia()), at: 0)
        failed.observe(.message("http: error: HTTP/1.1 404 Not Found"), at: 5)
        failed.observe(.failed, at: 10)
        #expect(failed.actions == [.streamLoad, .error])
        #expect(failed.signals.last?.attributes[.errorCode] == "HTTP 404")
        var short = ModelStage()
        short.observe(.opening(VLCMedia()), at: 0)
        short.buffered(at: 50)
        short.progress(0, shown: 3, at: 100)
        short.observe(.endReached, at: 250)
        #expect(short.actions == [.streamLoad, .start, .end])
        var empty = ModelStage()
        empty.observe(.opening(VLCMedia()), at: 0)
        empty.observe(.endReached, at: 10)
        #expect(empty.actions == [.streamLoad, .error])
    }

    @Test("A media that replaces another one, and a stop, end the playback and its blocks")
    func replaced() {
        var stage = ModelStage()
        stage.play()
        stage.observe(.buffering(0), at: 2_000)
        stage.observe(.mediaChanged, at: 3_000)
        stage.observe(.opening(VLCMedia(source: "/other.ts")), at: 3_100)
        stage.observe(.stopped, at: 3_200)
        stage.observe(.stopped, at: 3_300)
        #expect(
            stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .stop, .streamLoad, .stop]
        )
    }

    @Test("A larger picture is a better quality once it is displayed")
    func quality() {
        var stage = ModelStage()
        stage.play()
        let large = VLCTracks(width: 1_280, height: 720, framesPerSecond: 25, language: "en")
        stage.observe(.tracks(large, isShown: false), at: 2_000)
        #expect(stage.actions == [.streamLoad, .start])
        stage.observe(.tracks(VLCTracks(), isShown: true), at: 2_499)
        stage.observe(.tracks(large, isShown: true), at: 2_500)
        stage.observe(.tracks(large, isShown: true), at: 2_501)
        stage.observe(.tracks(VLCTracks(width: 320, height: 180), isShown: true), at: 3_000)
        #expect(stage.actions.suffix(2) == [.qualityChangeUp, .qualityChangeDown])
        #expect(stage.signals.suffix(2).first?.status?.language == "en")
    }

    @Test("A change of the volume counts while something is played")
    func volume() {
        var stage = ModelStage()
        stage.observe(.volume(1), at: 0)
        stage.observe(.muted(false), at: 0)
        stage.play()
        stage.observe(.volume(-1), at: 2_000)
        stage.observe(.volume(0.5), at: 2_001)
        stage.observe(.volume(0.5), at: 2_002)
        stage.observe(.muted(true), at: 2_003)
        #expect(stage.actions.suffix(2) == [.volumeChange, .volumeChange])
        #expect(stage.signals.last?.status?.volume == 50 && stage.signals.last?.status?.isMuted == true)
    }

    @Test("A playback that runs when the watch begins has joined late; one that just opens has not")
    func joined() {
        var stage = ModelStage()
        stage.observe(.joined(VLCMedia(source: "/film.ts"), isPaused: false), at: 1_000)
        stage.progress(20_000, shown: 500, at: 1_200)
        stage.progress(20_000, shown: 7, at: 1_450)
        stage.progress(20_000, shown: 7, at: 1_700)
        stage.progress(21_000, shown: 7, at: 1_950)
        #expect(stage.actions == [.streamLoad, .start])
        #expect(stage.signals.map { $0.attributes[.joinedLate] } == [true, true])
        var early = ModelStage()
        early.observe(.joined(VLCMedia(source: "/film.ts"), isPaused: false), at: 1_000)
        early.observe(.opening(VLCMedia(source: "/film.ts")), at: 999)
        #expect(early.actions == [.streamLoad])
    }

    @Test("The model keeps its promises whatever libVLC reports", arguments: Rounds.seeds(400))
    func anyOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (stage, now) = (ModelStage(), Int64(0))
        let numbers: [Int64] = [.min, -1, 0, 1, 40, 1_000, 3_600_000, 8_999_999_999_999, .max]
        let reals = [-Double.infinity, -1, 0, 0.5, 1, 25, 250, 1e300, .infinity, .nan]
        func counters() -> VLCCounters {
            let values = (0..<5).map { _ in Int(truncatingIfNeeded: numbers.randomElement(using: &random) ?? 0) }
            return VLCCounters(
                displayed: Int(Int32(clamping: values[0])),
                decodedVideo: Int(Int32(clamping: values[1])),
                decodedAudio: Int(Int32(clamping: values[2])),
                playedAudio: Int(Int32(clamping: values[3])),
                lost: Int(Int32(clamping: values[4]))
            )
        }
        for _ in 0..<300 {
            now += [0, 1, 40, 250, 5_000].randomElement(using: &random) ?? 0
            let number = numbers.randomElement(using: &random) ?? 0
            let real = reals.randomElement(using: &random) ?? 0
            let time = min(max(number, 0), 9_000_000_000_000)
            let observation: VLCObservation =
                switch Int.random(in: 0..<17, using: &random) {
                case 0: .opening(VLCMedia())
                case 1: .joined(VLCMedia(), isPaused: Bool.random(using: &random))
                case 2: .mediaChanged
                case 3: .buffering(0)
                case 4: .buffering(100)
                case 5: .playing
                case 6: .paused
                case 7: .stopped
                case 8: .endReached
                case 9: .failed
                case 10: .counters(counters())
                case 11: .seekAsked
                case 12: .length(number)
                case 13: .tracks(VLCTracks(width: 1 << 40, height: 1 << 40, framesPerSecond: 25), isShown: true)
                case 14: .volume(real)
                case 15: .silence
                default: .progress(VLCProgress(time: time, counters: counters(), rate: real))
                }
            stage.observe(observation, at: now)
        }
        #expect(stage.instants == stage.instants.sorted())
        var open: Set<Action> = []
        let blocks: [Action: Action] = [
            .bufferFinish: .bufferBegin, .seekFinish: .seekBegin, .pauseFinish: .pauseBegin,
        ]
        for action in stage.actions {
            if blocks.values.contains(action) { #expect(open.insert(action).inserted, "\(action) twice") }
            if let begin = blocks[action] { #expect(open.remove(begin) != nil, "\(action) without a begin") }
            if [.end, .stop, .error].contains(action) { #expect(open.isEmpty, "\(open) at \(action)") }
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
