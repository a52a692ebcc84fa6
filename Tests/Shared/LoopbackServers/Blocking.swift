internal import Foundation

/// Runs `body`, which blocks, on a dedicated thread, and not on one of the few that tasks share.
///
/// The thread blocks no signal, so that a process that `body` starts does not either: threads of Swift's pool block all
/// of them, and children inherit that.
package func blocking<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            unblockSignals()
            continuation.resume(returning: Result(catching: body))
        }
    }
    return try result.get()
}

private func unblockSignals() {
    var signals = sigset_t()
    sigfillset(&signals)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
}
