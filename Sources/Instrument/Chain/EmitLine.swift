internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The line at the entrance of a chain: one thread is inside at a time, each does its own work, nothing re-enters.
///
/// Work that comes from the thread inside (a component emits) is put aside and done next by that same thread. Other
/// threads wait; the chain takes about a microsecond, so they spin, then yield, then nap. A thread that has waited
/// for `patience` leaves its work to the thread inside and goes: that one may itself be waiting for it, in a component
/// that waits for another thread, and nothing may deadlock.
final class EmitLine<Work: Sendable>: Sendable {
    private struct State {
        /// From the thread inside: done before anything else.
        var reentrant: [Work] = []
        /// From threads that lost patience.
        var left: [Work] = []
    }

    private static var patience: Int64 { 1_000_000_000 }

    /// The thread inside; 0 if nobody is.
    private let owner = Atomic<UInt>(0)
    /// Whether `state` may hold work, so that leaving an empty line costs no lock.
    private let hasMore = Atomic<Bool>(false)
    private let state = Lock(State())

    /// Does `work` through `body`, which may take it apart, and what is put aside meanwhile.
    func enter(_ work: inout Work, _ body: (inout Work) -> Void) {
        let me = Self.currentThread
        if owner.load(ordering: .relaxed) == me {
            put(work, in: \.reentrant)
        } else if claim(as: me) {
            body(&work)
            leave(as: me, body)
        } else {
            put(work, in: \.left)
            if tryClaim(as: me) { leave(as: me, body) }
        }
    }

    private func put(_ work: Work, in list: any WritableKeyPath<State, [Work]> & Sendable) {
        state.withLock { $0[keyPath: list].append(work) }
        hasMore.store(true, ordering: .sequentiallyConsistent)
    }

    /// Does what was put aside, and leaves. Looks again after leaving: work may have been left in that moment.
    private func leave(as me: UInt, _ body: (inout Work) -> Void) {
        repeat {
            while hasMore.load(ordering: .relaxed), var next = takeNext() { body(&next) }
            owner.store(0, ordering: .sequentiallyConsistent)
        } while hasMore.load(ordering: .sequentiallyConsistent) && tryClaim(as: me)
    }

    private func takeNext() -> Work? {
        state.withLock { state in
            if !state.reentrant.isEmpty { return state.reentrant.removeFirst() }
            if !state.left.isEmpty { return state.left.removeFirst() }
            hasMore.store(false, ordering: .sequentiallyConsistent)
            return nil
        }
    }

    private func tryClaim(as me: UInt) -> Bool {
        owner.compareExchange(expected: 0, desired: me, ordering: .sequentiallyConsistent).exchanged
    }

    /// Waits until nobody is inside; false if that takes too long.
    private func claim(as me: UInt) -> Bool {
        if tryClaim(as: me) { return true }
        // Two thousand looks take about as long as the chain: with two hundred, two threads got half as much done.
        var rounds = 0
        let start = SystemClock().now.nanoseconds
        while true {
            if owner.load(ordering: .relaxed) == 0, tryClaim(as: me) { return true }
            rounds += 1
            if rounds < 2000 { continue }
            if rounds < 2400 { sched_yield() } else { Self.nap() }
            if rounds.isMultiple(of: 64), SystemClock().now.nanoseconds - start > Self.patience { return false }
        }
    }

    private static func nap() {
        var time = timespec(tv_sec: 0, tv_nsec: 50_000)
        nanosleep(&time, nil)
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}
