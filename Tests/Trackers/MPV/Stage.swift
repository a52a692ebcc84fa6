import Instrument
import InstrumentJSON

@testable import InstrumentMPV

/// A model whose questions are answered as a script says.
struct Stage {
    var model = MPVModel()
    var signals: [PlayerSignal] = []
    var now = MonotonicInstant(nanoseconds: 0)
    /// What mpv would answer now.
    var truth: [MPVProperty: JSONValue] = [.idleActive: true, .coreIdle: true, .isPaused: false]
    var isAnswering = true

    var actions: [Action] { signals.map(\.action) }

    mutating func connect() { run(model.connected()) }
    mutating func disconnect() { run(model.disconnected(at: now)) }

    mutating func answer(_ question: Int) {
        run(model.answered(.init(question: question, values: truth, isHeard: true), at: now))
    }

    mutating func play(_ events: MPVEvent...) {
        for event in events {
            now = now.advanced(by: .seconds(1))
            run(model.handle(event, at: now))
        }
    }

    mutating func set(_ property: MPVProperty, _ value: JSONValue?) {
        truth[property] = value
        play(.property(property, value))
    }

    /// A file's beginning as mpv reports it.
    mutating func begin(_ path: String = "/film.mkv") {
        truth[.path] = .string(path)
        truth[.idleActive] = false
        play(.startFile, .fileLoaded, .playbackRestart)
        set(.coreIdle, false)
    }

    private mutating func run(_ effects: [MPVModel.Effect]) {
        for effect in effects {
            switch effect {
            case .signal(let signal): signals.append(signal)
            case .ask(let question):
                guard isAnswering else { continue }
                let values = truth.filter { question.properties.contains($0.key) }
                run(model.answered(.init(question: question.number, values: values, isHeard: true), at: now))
            }
        }
    }
}
