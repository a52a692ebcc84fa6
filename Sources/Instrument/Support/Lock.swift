#if canImport(Darwin)
internal import Synchronization
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A value behind a mutual exclusion lock.
///
/// The one lock of the project: `Synchronization.Mutex` on Apple platforms, a pthread mutex elsewhere.
///
/// On Linux, `Mutex` is a priority-inheritance futex, which the kernel passes to the thread that waits longest. The
/// lock then belongs to a thread that does not run yet, threads that do run queue behind it, and each call costs a
/// switch of threads until nobody is left: 8 threads that share such a lock do a third of the work of one. A pthread
/// mutex belongs to the thread that runs and takes it first.
///
/// A function, or an optional one, must not be the whole state; make it a property of a structure. With each access to
/// such a state, the compiler wraps the function in two conversions and stores the result, so that every access makes
/// later calls deeper, until the stack overflows (`scripts/check-locks.sh`).
package final class Lock<State: ~Copyable>: Sendable {
    #if canImport(Darwin)
    private let mutex: Mutex<State>

    package init(_ state: consuming sending State) { mutex = Mutex(state) }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        let turns = LockTurns.ofThread
        turns?.take(ObjectIdentifier(self), isPoint: false)
        defer { turns?.release(ObjectIdentifier(self)) }
        #endif
        return try mutex.withLock(body)
    }
    #else
    /// The mutex and what it guards, in memory that never moves: two addresses, because the code for any state, which
    /// other modules call, would have to ask the language's runtime where a state behind a mutex begins.
    private struct Guarded: ~Copyable, @unchecked Sendable {
        // Sendable: `state` is touched only between lock and unlock of `mutex`.
        let mutex: UnsafeMutablePointer<pthread_mutex_t>
        let state: UnsafeMutablePointer<State>
    }

    private let guarded: Guarded

    package init(_ state: consuming sending State) {
        guarded = Guarded(mutex: .allocate(capacity: 1), state: .allocate(capacity: 1))
        guarded.mutex.initialize(to: pthread_mutex_t())
        guarded.state.initialize(to: state)
        pthread_mutex_init(guarded.mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(guarded.mutex)
        guarded.mutex.deallocate()
        guarded.state.deinitialize(count: 1)
        guarded.state.deallocate()
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        let turns = LockTurns.ofThread
        turns?.take(ObjectIdentifier(self), isPoint: false)
        // After the release.
        defer { turns?.release(ObjectIdentifier(self)) }
        #endif
        // Through the property, Thread Sanitizer would take each call for a change of the property.
        let (mutex, state) = (guarded.mutex, guarded.state)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }
    #endif
}

extension Lock: CustomReflectable {
    /// Shows nothing, so that no dump of what has a lock tells what is behind it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
