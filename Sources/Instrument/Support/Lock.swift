#if THREAD_SANITIZER
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
#else
internal import Synchronization
#endif

/// A value behind a mutual exclusion lock.
///
/// The one lock of the project. It is `Synchronization.Mutex`; builds with `-DTHREAD_SANITIZER` use a pthread lock
/// instead, because the sanitizer does not understand `Mutex` on Linux and reports false races.
///
/// A function, or an optional one, must not be the whole state; make it a property of a structure. With each access to
/// such a state, the compiler wraps the function in two conversions and stores the result, so that every access makes
/// later calls deeper, until the stack overflows (`scripts/check-locks.sh`).
package final class Lock<State: ~Copyable>: Sendable {
    #if THREAD_SANITIZER
    private final class Storage: @unchecked Sendable {
        // Sendable: `state` is touched only between lock and unlock of `mutex`, which never moves.
        let mutex: UnsafeMutablePointer<pthread_mutex_t>
        var state: State

        init(_ state: consuming sending State) {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            self.state = state
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }
    }
    private let storage: Storage

    package init(_ state: consuming sending State) { storage = Storage(state) }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(storage.mutex)
        defer { pthread_mutex_unlock(storage.mutex) }
        return try body(&storage.state)
    }
    #else
    private let mutex: Mutex<State>

    package init(_ state: consuming sending State) { mutex = Mutex(state) }

    package func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
    #endif
}

extension Lock: CustomReflectable {
    /// Shows nothing, so that no dump of what has a lock tells what is behind it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
