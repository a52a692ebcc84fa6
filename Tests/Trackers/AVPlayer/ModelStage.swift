import Instrument

@testable import InstrumentAVPlayer

/// A step of a scripted player. Times are in seconds.
enum Step: Sendable {
    /// The player shows something.
    case see(AVPlayerObservation)
    /// Time passes, and nothing is shown.
    case wait(Double)
    /// Plays at a speed for a duration, with an observation every quarter of a second.
    case run(Double, at: Double = 1)
    /// The playhead jumps without a notice.
    case jump(to: Double)

    /// The usual beginning: an item is loaded, and plays after half a second of waiting.
    static func begin(_ number: Int = 1, duration: Double = 60) -> [Step] {
        [
            .see(.rate(0)), .see(.timeControl(.paused)), .see(.item(ItemFacts(id: ItemID(number: number)))),
            .see(.duration(ItemID(number: number), duration)), .see(.time(0)), .see(.rate(1)),
            .see(.timeControl(.waiting(.evaluatingBufferingRate))), .wait(0.5), .see(.time(0)),
            .see(.timeControl(.playing)), .run(1),
        ]
    }

    static let stall: [Step] = [.see(.timeControl(.waiting(.toMinimizeStalls)))]
    static func live(edge: Double, keepsOffset: Bool) -> [Step] {
        [.see(.seekableWindow(first, SeekableWindow(start: 0, end: edge, keepsOffset: keepsOffset)))]
    }
    static let pause: [Step] = [.see(.rate(0)), .see(.timeControl(.paused))]
    static let resume: [Step] = [.see(.rate(1)), .see(.timeControl(.playing))]
}

let first = ItemID(number: 1)
let second = ItemID(number: 2)

/// A model and its signals.
struct ModelStage {
    var model = AVPlayerModel()
    var now = MonotonicInstant(nanoseconds: 0)
    var position = 0.0
    var signals: [PlayerSignal] = []

    init(_ steps: [Step] = []) { play(steps) }

    mutating func play(_ steps: [Step]) { for step in steps { play(step) } }

    mutating func play(_ step: Step) {
        switch step {
        case .see(let observation):
            if case .item(let facts) = observation, facts?.id != model.item?.id { position = 0 }
            if case .time(let seconds) = observation, seconds.isFinite { position = seconds }
            if case .timeJumped(model.item?.id, let seconds) = observation, seconds.isFinite { position = seconds }
            see(observation)
        case .wait(let seconds): now = now.advanced(by: .seconds(seconds))
        case .run(let seconds, let speed):
            for _ in 0..<Int((seconds * 4).rounded()) {
                now = now.advanced(by: .milliseconds(250))
                position += 0.25 * speed
                see(.time(position))
            }
        case .jump(let target):
            position = target
            see(.time(target))
        }
    }

    mutating func see(_ observation: AVPlayerObservation) { signals += model.observe(observation, at: now) }

    /// `Action@milliseconds`, for each signal.
    var story: [String] { signals.map { "\($0.action.name)@\(($0.instant ?? now).milliseconds)" } }
    var actions: [String] { signals.map(\.action.name) }
}
