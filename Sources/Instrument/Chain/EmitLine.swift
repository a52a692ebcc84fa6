internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The line at the entrance of a chain: one thread is inside at a time, each thread does its own work, and nothing
/// re-enters.
///
/// Work of the thread inside (a component emits) is deferred, and the same thread does it next. Other threads wait:
/// the chain takes about a microsecond, so they spin, then yield, then sleep for short intervals. A thread that has
/// waited for `patience` leaves its work to the thread inside and returns: the thread inside may be waiting for it,
/// in a component that waits for another thread, and this prevents the deadlock.
final class EmitLine<Work: Sendable>: Sendable {
    private struct State {
        /// Work of the thread inside, which is done first.
        var reentrant: [Work] = []
        /// Work of threads that stopped waiting.
        var left: [Work] = []
    }

    private static var patience: Int64 { 1_000_000_000 }

    /// The thread inside; 0 without one.
    private let owner = Atomic<UInt>(0)
    /// Whether `state` may contain work, so that leaving an empty line takes no lock.
    private let hasMore = Atomic<Bool>(false)
    private let state = Lock(State())

    /// Passes `work` to `body`, which may consume it, and then does the deferred work.
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

    /// Does the deferred work, and leaves. Checks again after leaving, because another thread may have left work
    /// meanwhile.
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

    /// Waits until no thread is inside; false after `patience`.
    private func claim(as me: UInt) -> Bool {
        if tryClaim(as: me) { return true }
        // Two thousand checks take about as long as the chain. With two hundred, two threads had half the throughput.
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
