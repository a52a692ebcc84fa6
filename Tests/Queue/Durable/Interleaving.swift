import Foundation
import InstrumentTestKit

@testable import Instrument

/// Runs threads and the jobs of lanes one at a time, and chooses by a seed which one continues: at every lock of the
/// store, at every other lock that a thread takes while it holds none, and after every job.
///
/// The same seed chooses the same order again. A thread that wants a lock that another one holds is not chosen.
///
/// With an even seed, each choice is even, so that threads alternate. With an odd one, the thread of the highest rank
/// continues, and ranks change now and then: a thread may do all its work between two steps of another one, which even
/// choices never let it (Burckhardt and others, A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs,
/// 2010).
final class Interleaving: Sendable {
    fileprivate enum Phase {
        case ready, running, ended
        /// The line has no job.
        case idle
        case waiting(for: ObjectIdentifier)
    }

    fileprivate struct Member {
        let turn = DispatchSemaphore(value: 0)
        var phase = Phase.ready
        var heldCount = 0
        var rank: UInt64 = 0
        /// The jobs that wait in this line; nil for a thread with a body.
        var jobs: [@Sendable () -> Void]?
    }

    fileprivate struct State {
        var generator: SeededGenerator
        var members: [Member] = []
        var held: [ObjectIdentifier: (member: Int, depth: Int)] = [:]
        var isEnding = false
        let hasRanks: Bool
    }

    private let state: Lock<State>
    /// Signalled when no thread can continue.
    private let rest = DispatchSemaphore(value: 0)

    init(seed: UInt64) {
        state = Lock(State(generator: SeededGenerator(seed: seed), hasRanks: seed % 2 == 1))
    }

    /// Runs each body on a thread. Returns once all have ended.
    static func run(seed: UInt64, _ bodies: [@Sendable () -> Void]) {
        let interleaving = Interleaving(seed: seed)
        interleaving.run(bodies)
        interleaving.end()
    }

    /// Creates objects whose lanes run in this interleaving. Their jobs wait until the next run.
    func prepare<Result>(_ body: () throws -> Result) rethrows -> Result {
        try LockTurns(
            willTake: { _, _ in },
            didRelease: { _ in },
            makeJobLine: { [self] in makeJobLine() }
        ).apply(body)
    }

    /// Runs each body on a thread, and the jobs of lanes. Returns once all bodies have ended and no job waits.
    func run(_ bodies: [@Sendable () -> Void] = []) {
        for body in bodies {
            let index = add(Member())
            Thread.detachNewThread { [self] in
                waitForTurn(index)
                turns(of: index).apply(body)
                state.withLock { $0.members[index].phase = .ended }
                passTurn()
            }
        }
        passTurn()
        rest.wait()
    }

    /// Ends the threads of the lanes. Later jobs run elsewhere.
    func end() {
        let idle = state.withLock { state in
            state.isEnding = true
            return state.members.filter { if case .idle = $0.phase { true } else { false } }.map(\.turn)
        }
        for turn in idle { turn.signal() }
    }

    private func add(_ member: Member) -> Int {
        state.withLock { state in
            state.members.append(member)
            state.drawRank(state.members.count - 1)
            return state.members.count - 1
        }
    }

    private func turns(of index: Int) -> LockTurns {
        LockTurns(
            willTake: { [self] lock, isPoint in willTake(lock, isPoint, index) },
            didRelease: { [self] lock in didRelease(lock, index) },
            makeJobLine: { [self] in makeJobLine() }
        )
    }

    private func willTake(_ lock: ObjectIdentifier, _ isPoint: Bool, _ index: Int) {
        let waits = state.withLock { state -> Bool in
            if let holder = state.held[lock], holder.member == index {
                state.held[lock] = (index, holder.depth + 1)
                return false
            }
            // A thread that waits with a lock makes others wait that the interleaving does not know.
            if !isPoint, state.held[lock] == nil, state.members[index].heldCount > 0 {
                state.take(lock, index)
                return false
            }
            state.members[index].phase = .waiting(for: lock)
            return true
        }
        if !waits { return }
        passTurn()
        waitForTurn(index)
    }

    private func didRelease(_ lock: ObjectIdentifier, _ index: Int) {
        state.withLock { state in
            guard let holder = state.held[lock] else { return }
            if holder.depth > 1 {
                state.held[lock] = (index, holder.depth - 1)
            } else {
                state.held[lock] = nil
                state.members[index].heldCount -= 1
            }
        }
    }

    private func waitForTurn(_ index: Int) { state.withLock { $0.members[index].turn }.wait() }

    private func makeJobLine() -> LockTurns.JobLine {
        var member = Member()
        (member.phase, member.jobs) = (.idle, [])
        let index = add(member)
        Thread.detachNewThread { [self] in runJobs(index) }
        return { [self] job in
            let isEnding = state.withLock { state -> Bool in
                if state.isEnding { return true }
                state.members[index].jobs?.append(job)
                if case .idle = state.members[index].phase { state.members[index].phase = .ready }
                return false
            }
            if isEnding { DispatchQueue.global().async { job() } }
        }
    }

    private func runJobs(_ index: Int) {
        let turns = turns(of: index)
        while true {
            waitForTurn(index)
            let next = state.withLock { state -> (@Sendable () -> Void)? in
                state.isEnding ? nil : state.members[index].jobs?.removeFirst()
            }
            guard let next else { return }
            turns.apply(next)
            state.withLock { state in
                state.members[index].phase = state.members[index].jobs?.isEmpty ?? true ? .idle : .ready
            }
            passTurn()
        }
    }

    private func passTurn() {
        let next = state.withLock { state -> DispatchSemaphore? in
            let free = state.members.indices.filter { index in
                switch state.members[index].phase {
                case .ready: true
                case .waiting(let lock): state.held[lock] == nil
                case .running, .ended, .idle: false
                }
            }
            guard let chosen = state.choose(free) else {
                let areDone = state.members.allSatisfy { member in
                    switch member.phase {
                    case .ended, .idle: true
                    case .ready, .running, .waiting: false
                    }
                }
                precondition(areDone, "each thread waits for a lock of another one")
                return nil
            }
            if case .waiting(let lock) = state.members[chosen].phase { state.take(lock, chosen) }
            state.members[chosen].phase = .running
            return state.members[chosen].turn
        }
        if let next { next.signal() } else { rest.signal() }
    }
}

extension Interleaving.State {
    /// Chooses one of the members that can continue; nil without one.
    fileprivate mutating func choose(_ free: [Int]) -> Int? {
        if !hasRanks { return free.randomElement(using: &generator) }
        if generator.next() % 16 == 0, let member = members.indices.randomElement(using: &generator) {
            drawRank(member)
        }
        return free.max { members[$0].rank < members[$1].rank }
    }

    fileprivate mutating func drawRank(_ member: Int) { members[member].rank = generator.next() }

    fileprivate mutating func take(_ lock: ObjectIdentifier, _ index: Int) {
        held[lock] = (index, 1)
        members[index].heldCount += 1
    }
}
