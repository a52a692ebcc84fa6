import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentChrome

@Suite("The model of a media element")
struct MediaModelTests {
    @Test("A page that plays by itself starts at the begin of loading, and a person's playback with the person's act")
    func requests() {
        var automatic = MediaStage()
        automatic.see(.loadstart, at: 1)
        automatic.see(.play, at: 3) { $0.figures.isPaused = false }
        #expect(automatic.actions == [.streamLoad] && automatic.time(of: .streamLoad) == 1)
        var person = MediaStage()
        person.see(.loadstart, at: 1)
        person.see(.play, at: 3) { ($0.figures.isPaused, $0.figures.isUserActive) = (false, true) }
        #expect(person.time(of: .streamLoad) == 3)
        var later = MediaStage()
        later.see(.loadstart, at: 1)
        later.see(.play, at: 30) { $0.figures.isPaused = false }
        #expect(later.time(of: .streamLoad) == 30)
    }

    @Test("An element that only loads has no signal")
    func preloaded() {
        var stage = MediaStage()
        stage.see(.loadstart, at: 0)
        stage.see(.loadedmetadata, at: 1)
        stage.see(.emptied, at: 2)
        #expect(stage.signals.isEmpty)
    }

    @Test("An error names the failure of the latest request, and of no earlier one", arguments: [true, false])
    func failedRequest(isLatest: Bool) {
        var stage = MediaStage()
        stage.see(.loadstart, at: 0) { $0.figures.isPaused = false }
        let answers: [Int?] = isLatest ? [200, 404] : [404, 200]
        for status in answers {
            let request = FinishedRequest(
                kind: .segment,
                address: "http://h/a.mp4",
                time: .zero,
                bytes: 0,
                status: status
            )
            _ = stage.model.take(request, isReported: false, at: MediaStage.instant(1))
        }
        stage.see(.error, at: 2) { ($0.errorCode, $0.errorMessage) = (4, "Format error") }
        let words = stage.signals.last?.attributes[.errorDescription]
        #expect(words == (isLatest ? "Format error (the latest request failed: HTTP 404)" : "Format error"))
    }

    @Test("A stall has the instants of the playhead, although both are known later")
    func stall() {
        var stage = MediaStage()
        stage.start()
        stage.see(.waiting, at: 5)
        stage.see(.stands, at: 5, late: 0.1)
        stage.see(.moves, at: 7.5, late: 0.04)
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish])
        #expect(stage.time(of: .bufferBegin) == 5 && stage.time(of: .bufferFinish) == 7.5)
    }

    @Test("A wait without a playhead that stands is no stall")
    func waiting() {
        var stage = MediaStage()
        stage.start()
        stage.see(.waiting, at: 5)
        stage.see(.playing, at: 5.05)
        #expect(stage.actions == [.streamLoad, .start])
    }

    @Test("A seek ends when pictures move, or with the picture of a paused element")
    func seeks() {
        var stage = MediaStage()
        stage.start()
        stage.see(.seeking, at: 2) { $0.figures.isSeeking = true }
        stage.see(.seeked, at: 2.4) { $0.figures.isSeeking = false }
        stage.see(.moves, at: 2.5)
        stage.see(.pause, at: 3) { $0.figures.isPaused = true }
        stage.see(.seeking, at: 4) { $0.figures.isSeeking = true }
        stage.see(.seeked, at: 4.2) { $0.figures.isSeeking = false }
        stage.see(.play, at: 5) { $0.figures.isPaused = false }
        #expect(
            stage.actions == [
                .streamLoad, .start, .seekBegin, .seekFinish, .pauseBegin, .seekBegin, .seekFinish, .pauseFinish,
            ]
        )
        #expect(stage.time(of: .seekFinish) == 2.5)
    }

    @Test("The pause that a browser reports before an end is none, and a playback after the end is a new one")
    func end() {
        var stage = MediaStage()
        stage.start()
        stage.see(.pause, at: 60) { ($0.figures.isPaused, $0.figures.isEnded) = (true, true) }
        stage.see(.ended, at: 60)
        stage.see(.play, at: 70) { ($0.figures.isPaused, $0.figures.isEnded) = (false, false) }
        stage.see(.moves, at: 71)
        #expect(stage.actions == [.streamLoad, .start, .end, .streamLoad, .start])
    }

    @Test("An error ends the playback with the browser's code and words, without secrets")
    func error() throws {
        var stage = MediaStage()
        stage.start()
        stage.see(.stands, at: 3)
        stage.see(.error, at: 4) {
            ($0.errorCode, $0.errorMessage) = (2, "PIPELINE_ERROR_READ: https://u:p@a.example/x?token=secret")
        }
        #expect(stage.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .error])
        let error = try #require(stage.signals.last)
        #expect(error.attributes[.errorCode] == "MEDIA_ERR_NETWORK" && error.attributes[.isFatal] == true)
        #expect(error.attributes[.errorDescription] == "PIPELINE_ERROR_READ: https://a.example/x")
    }

    @Test("The position moves on with the rate between reports, and stands in a pause and a stall")
    func position() {
        var stage = MediaStage()
        stage.see(.loadstart, at: 0) { $0.figures.isPaused = false }
        stage.see(.moves, at: 1, late: 0.5) { ($0.figures.position, $0.figures.rate) = (1, 2) }
        #expect(stage.signals.last?.status?.position == .zero)
        #expect(stage.model.status(at: MediaStage.instant(3.5)).position == .seconds(5))
        stage.see(.pause, at: 4) { ($0.figures.isPaused, $0.figures.position) = (true, 6) }
        #expect(stage.model.status(at: MediaStage.instant(40)).position == .seconds(6))
        #expect(stage.model.status(at: MediaStage.instant(400)).duration == .seconds(60))
    }

    @Test("The source of media without an address is its manifest, else its page")
    func source() {
        var stage = MediaStage()
        stage.start()
        #expect(stage.model.status(at: MediaStage.instant(1)).source == "https://a.example/watch")
        stage.model.take(manifest: "https://cdn.example/a/master.m3u8?key=secret")
        #expect(stage.model.status(at: MediaStage.instant(1)).source == "https://cdn.example/a/master.m3u8")
    }

    @Test("A change of the picture's size while something plays is one of the quality")
    func quality() {
        var stage = MediaStage()
        stage.see(.loadstart, at: 0) { $0.figures.isPaused = false }
        stage.see(.resize, at: 0.5) { ($0.figures.width, $0.figures.height) = (320, 180) }
        stage.see(.moves, at: 1)
        stage.see(.resize, at: 2) { ($0.figures.width, $0.figures.height) = (640, 360) }
        stage.see(.resize, at: 3) { ($0.figures.width, $0.figures.height) = (320, 180) }
        #expect(stage.actions == [.streamLoad, .start, .qualityChangeUp, .qualityChangeDown])
    }

    @Test("What was left out is caught up with the state of the element")
    func catchUp() {
        var stage = MediaStage()
        stage.start()
        stage.see(.state, at: 2) { ($0.figures.isPaused, $0.figures.rate) = (true, 1.5) }
        stage.see(.state, at: 3) { $0.figures.isPaused = false }
        stage.see(.state, at: 4) { $0.figures.isEnded = true }
        #expect(
            stage.actions == [.streamLoad, .start, .pauseBegin, .playbackRateChange, .pauseFinish, .end]
        )
    }

    @Test("Signals alternate as a hub expects them, in order and declared, for any order of events", arguments: 0..<300)
    func property(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var stage = MediaStage()
        var second = 0.0
        let kinds: [MediaObservation.Kind] = [
            .joined, .state, .moves, .stands, .loadstart, .loadedmetadata, .play, .playing, .pause, .waiting, .seeking,
            .seeked, .ratechange, .volumechange, .resize, .ended, .error, .encrypted, .emptied, .moves, .play, .left,
        ]
        for _ in 0..<150 {
            // What is known late happened before what is known already.
            second = max(0, second + .random(in: -0.2...1, using: &generator))
            let kind = kinds.randomElement(using: &generator) ?? .moves
            stage.see(kind, at: second, late: .random(in: 0...0.2, using: &generator)) { observation in
                observation.figures.isPaused = .random(using: &generator)
                observation.figures.isSeeking = .random(using: &generator)
                observation.figures.isEnded = .random(in: 0...9, using: &generator) == 0
                observation.figures.position = [nil, -1, 0, 1e9, 30].randomElement(using: &generator) ?? nil
                observation.figures.duration = [nil, 60, 8e9].randomElement(using: &generator) ?? nil
                observation.figures.rate = [nil, 1, 2, -1, 0].randomElement(using: &generator) ?? nil
                observation.figures.width = .random(in: 0...1_000_000_000, using: &generator)
                observation.figures.height = .random(in: 0...1_000_000_000, using: &generator)
                observation.figures.bufferedAhead = 3
                observation.figures.droppedFrames = 1
            }
        }
        SignalRules.check(stage.signals + stage.model.gone("gone", at: MediaStage.instant(second)), "seed \(seed)")
    }
}

/// The rules that the signals of a player keep.
enum SignalRules {
    static func check(_ signals: [PlayerSignal], _ label: String) {
        var (isLoaded, isStarted, isPaused, isSeeking, isBuffering) = (false, false, false, false, false)
        var last: MonotonicInstant?
        for signal in signals {
            let action = signal.action
            switch action {
            case .streamLoad:
                #expect(!isLoaded, "\(label): two requests")
                isLoaded = true
            case .start:
                #expect(isLoaded && !isStarted, "\(label): a start without a request")
                isStarted = true
            case .end, .stop, .error:
                #expect(isLoaded && !isPaused && !isSeeking && !isBuffering, "\(label): \(action) in a block")
                (isLoaded, isStarted) = (false, false)
            case .pauseBegin, .pauseFinish:
                #expect(isStarted && isPaused == (action == .pauseFinish), "\(label): pauses alternate")
                isPaused.toggle()
            case .seekBegin, .seekFinish:
                #expect(isStarted && isSeeking == (action == .seekFinish), "\(label): seeks alternate")
                isSeeking.toggle()
            case .bufferBegin, .bufferFinish:
                #expect(isStarted && isBuffering == (action == .bufferFinish), "\(label): stalls alternate")
                isBuffering.toggle()
            default: #expect(isLoaded, "\(label): \(action) outside of a playback")
            }
            if let last, let now = signal.instant { #expect(last <= now, "\(label): \(action) is out of order") }
            last = signal.instant ?? last
            let names = signal.attributes.map(\.name) + (signal.status?.attributes.map(\.name) ?? [])
            for name in names {
                let isDeclared = PrivacyCatalogue.vocabulary[name] != nil || PrivacyCatalogue.chrome[name] != nil
                #expect(isDeclared, "\(name) is not declared")
            }
        }
    }
}
