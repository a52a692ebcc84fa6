#if DEBUG
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Decides when a thread may take a lock, and on which thread the jobs of lanes run, so that a test can choose how
/// threads and tasks interleave.
///
/// A debug build asks the turns of the calling thread at every lock. Without turns, a lock costs one lookup more.
package final class LockTurns: Sendable {
    /// Takes the jobs of an executor, and runs each at its turn.
    package typealias JobLine = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    private let willTake: @Sendable (_ lock: ObjectIdentifier, _ isPoint: Bool) -> Void
    private let didRelease: @Sendable (_ lock: ObjectIdentifier) -> Void
    /// Creates the line in which the jobs of an executor wait for their turn.
    package let makeJobLine: @Sendable () -> JobLine

    /// Creates turns.
    ///
    /// - Parameters:
    ///   - willTake: returns when the thread may take the lock; `isPoint` is true for a lock that is a point of choice
    ///     also for a thread that holds another lock.
    ///   - didRelease: called after the thread has released the lock.
    ///   - makeJobLine: creates the line for the jobs of an executor that the thread creates.
    package init(
        willTake: @escaping @Sendable (_ lock: ObjectIdentifier, _ isPoint: Bool) -> Void,
        didRelease: @escaping @Sendable (_ lock: ObjectIdentifier) -> Void,
        makeJobLine: @escaping @Sendable () -> JobLine
    ) {
        (self.willTake, self.didRelease, self.makeJobLine) = (willTake, didRelease, makeJobLine)
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The turns of the calling thread; nil unless a test has set them.
    package static var ofThread: LockTurns? {
        pthread_getspecific(key).map { Unmanaged<LockTurns>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Applies these turns to the calling thread during `body`.
    package func apply<Result>(_ body: () throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
            defer { pthread_setspecific(Self.key, nil) }
            return try body()
        }
    }

    /// Returns when the thread may take the lock.
    package func take(_ lock: ObjectIdentifier, isPoint: Bool) { suspended { willTake(lock, isPoint) } }

    /// Records that the thread has released the lock.
    package func release(_ lock: ObjectIdentifier) { suspended { didRelease(lock) } }

    /// The locks of the turns themselves have no turns.
    private func suspended(_ body: () -> Void) {
        pthread_setspecific(Self.key, nil)
        body()
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    }
}
#endif
