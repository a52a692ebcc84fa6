#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Wakes one thread that waits, at the latest at an instant of the monotonic clock.
///
/// Dispatch's semaphores count time limits with the calendar on Linux, so that a clock that is set back would delay
/// them. `@unchecked Sendable`, because `hasRung` is touched only between lock and unlock of `mutex`, and the POSIX
/// objects are made for several threads; they never move.
final class Bell: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var hasRung = false

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Ends the wait, or the next one if no thread waits.
    func ring() {
        pthread_mutex_lock(mutex)
        hasRung = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until the bell rings, or until `deadline`.
    func wait(until deadline: MonotonicInstant) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !hasRung, SystemClock().now < deadline {
            #if canImport(Darwin)
            var time = Self.time(max(0, SystemClock().now.duration(to: deadline).nanoseconds))
            pthread_cond_timedwait_relative_np(condition, mutex, &time)
            #else
            var time = Self.time(deadline.nanoseconds)
            pthread_cond_timedwait(condition, mutex, &time)
            #endif
        }
        hasRung = false
    }

    private static func time(_ nanoseconds: Int64) -> timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
