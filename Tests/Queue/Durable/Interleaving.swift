import Foundation
import Instrument
import InstrumentTestKit

@testable import InstrumentDurableQueue

/// Runs threads one at a time, and chooses by a seed which one continues at every lock that they take.
///
/// The same seed chooses the same order again. A thread that wants a lock that another one holds is not chosen.
final class Interleaving: Sendable {
    private enum Phase {
        case ready, running, ended
        case waiting(for: ObjectIdentifier)
    }

    private struct State {
        var generator: SeededGenerator
        var phases: [Phase]
        var held: Set<ObjectIdentifier> = []
    }

    private let state: Lock<State>
    private let turns: [DispatchSemaphore]
    private let end = DispatchSemaphore(value: 0)

    private init(seed: UInt64, threadCount: Int) {
        let generator = SeededGenerator(seed: seed)
        state = Lock(State(generator: generator, phases: Array(repeating: .ready, count: threadCount)))
        turns = (0..<threadCount).map { _ in DispatchSemaphore(value: 0) }
    }

    /// Runs each body on a thread. Returns once all have ended.
    static func run(seed: UInt64, _ bodies: [@Sendable () -> Void]) {
        let interleaving = Interleaving(seed: seed, threadCount: bodies.count)
        for (index, body) in bodies.enumerated() {
            Thread.detachNewThread { interleaving.run(index, body) }
        }
        interleaving.passTurn()
        interleaving.end.wait()
    }

    private func run(_ index: Int, _ body: @Sendable () -> Void) {
        turns[index].wait()
        let lockTurns = LockTurns(
            willTake: { [self] lock in
                state.withLock { $0.phases[index] = .waiting(for: lock) }
                passTurn()
                turns[index].wait()
            },
            didRelease: { [self] lock in _ = state.withLock { $0.held.remove(lock) } }
        )
        lockTurns.apply(body)
        state.withLock { $0.phases[index] = .ended }
        passTurn()
    }

    private func passTurn() {
        let next = state.withLock { state -> Int? in
            let free = state.phases.indices.filter { index in
                switch state.phases[index] {
                case .ready: true
                case .waiting(let lock): !state.held.contains(lock)
                case .running, .ended: false
                }
            }
            guard let chosen = free.randomElement(using: &state.generator) else {
                let haveEnded = state.phases.allSatisfy { if case .ended = $0 { true } else { false } }
                precondition(haveEnded, "each thread waits for a lock of another one")
                return nil
            }
            if case .waiting(let lock) = state.phases[chosen] { state.held.insert(lock) }
            state.phases[chosen] = .running
            return chosen
        }
        if let next { turns[next].signal() } else { end.signal() }
    }
}
