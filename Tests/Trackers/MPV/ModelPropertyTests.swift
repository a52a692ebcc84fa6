import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentMPV

@Suite("mpv's events in any order")
struct ModelPropertyTests {
    private func stage() -> Stage {
        var stage = Stage()
        stage.connect()
        return stage
    }

    @Test("Signals alternate as a hub expects them, for any order of events", arguments: 0..<300)
    func property(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var stage = stage()
        for _ in 0..<120 {
            stage.isAnswering = UInt8.random(in: 0...3, using: &generator) > 0
            switch UInt8.random(in: 0...14, using: &generator) {
            case 0: stage.play(.startFile)
            case 1: stage.play(.fileLoaded)
            case 2: stage.play(.seek)
            case 3: stage.play(.playbackRestart)
            case 4: stage.play(.endFile(.endOfFile))
            case 5:
                stage.play(.endFile([.stop, .quit, .redirect, .error("x")].randomElement(using: &generator) ?? .stop))
            case 6: stage.play(.random(using: &generator) ? .idle : .mediaIncomplete)
            case 7: stage.set(.eofReached, .bool(.random(using: &generator)))
            case 8: stage.set(.keepOpen, .bool(.random(using: &generator)))
            case 9, 10: stage.set(.coreIdle, .bool(.random(using: &generator)))
            case 11: stage.set(.isPaused, .bool(.random(using: &generator)))
            case 12: stage.set(.isPausedForCache, .bool(.random(using: &generator)))
            case 13: stage.set(.decodedPicture, ["w": .int(.random(in: 1...9, using: &generator)), "h": 3])
            default:
                stage.disconnect()
                stage.connect()
            }
        }
        stage.disconnect()
        Self.check(stage.signals, "seed \(seed)")
        for name in stage.signals.flatMap({ $0.attributes.map(\.name) + ($0.status?.attributes.map(\.name) ?? []) }) {
            #expect(PrivacyCatalogue.vocabulary[name] != nil, "\(name) is not declared")
        }
    }

    private static func check(_ signals: [PlayerSignal], _ label: String) {
        var (isStarted, isPaused, isSeeking, isBuffering) = (false, false, false, false)
        var last: MonotonicInstant?
        for signal in signals {
            switch signal.action {
            case .start:
                #expect(!isStarted, "\(label): two starts")
                (isStarted, isPaused) = (true, false)
            case .end, .stop, .next: isStarted = false
            case .error: (isStarted, isSeeking, isBuffering) = (false, false, false)
            case .pauseBegin, .pauseFinish:
                #expect(isStarted, "\(label): a pause outside of a playback")
                isPaused = signal.action == .pauseBegin
            case .seekBegin, .seekFinish:
                #expect(isSeeking == (signal.action == .seekFinish), "\(label): seeks alternate")
                isSeeking.toggle()
            case .bufferBegin, .bufferFinish:
                #expect(isBuffering == (signal.action == .bufferFinish), "\(label): stalls alternate")
                isBuffering.toggle()
            default: break
            }
            _ = isPaused
            if let last, let now = signal.instant, signal.action != .start {
                #expect(last <= now, "\(label): \(signal.action) is out of order")
            }
            last = signal.instant ?? last
        }
    }
}
