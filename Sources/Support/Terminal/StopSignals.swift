internal import CSignalShim
internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The signals that ask a command to end: `SIGINT` (Ctrl-C), `SIGTERM`, and `SIGHUP` (the terminal was closed).
///
/// The first signal of a kind is reported; the same signal for a second time ends the process at once. `SIGHUP` stays
/// ignored where the parent process ignores it, so `nohup` works. `SIGPIPE` is ignored: a write to a closed pipe fails
/// instead.
package enum StopSignals {
    private struct State: ~Copyable {
        var action: (@Sendable () -> Void)?
        /// Called for `SIGHUP` in place of `action`.
        var reload: (@Sendable () -> Void)?
        /// Reads what the handlers write. They write to a pipe, so a signal that comes before the first read waits in
        /// it.
        var notes: (any DispatchSourceRead)?
    }

    private static let state = Mutex(State())

    /// Reports to `action`, on a queue of Dispatch, every stop signal from now on; replaces an action that was set
    /// before.
    ///
    /// Once this function has returned, no signal is lost. If the system refuses a pipe for the signals, its defaults
    /// stay: a signal ends the process at once.
    package static func report(to newAction: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.action = newAction
            if state.notes == nil { state.notes = installedNotes(reloads: state.reload != nil) }
        }
    }

    /// Reports `SIGINT` and `SIGTERM` to `action`, and each `SIGHUP` to `reload`: for a service that reads its
    /// configuration again. Call this function before ``report(to:)``, which would watch `SIGHUP` as a stop signal.
    package static func report(
        reloadsTo reload: @escaping @Sendable () -> Void,
        to action: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.reload = reload }
        report(to: action)
    }

    /// Waits for the first signal.
    package static func first() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        report { continuation.yield() }
        for await _ in signals { return }
    }

    private static func installedNotes(reloads: Bool) -> sending (any DispatchSourceRead)? {
        signal(SIGPIPE, SIG_IGN)
        let descriptor = signal_shim_open()
        guard descriptor >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "instrument.stop-signals")
        )
        source.setEventHandler {
            var number: UInt8 = 0
            guard read(descriptor, &number, 1) == 1 else { return }
            let isReload = Int32(number) == SIGHUP
            state.withLock { isReload ? $0.reload ?? $0.action : $0.action }?()
        }
        source.resume()
        // A shell without job control starts its background jobs with `SIGINT` ignored, and `kill -INT` is still meant
        // to end them.
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        for number in [SIGINT, SIGTERM] { _ = signal_shim_watch(number) }
        _ = reloads ? signal_shim_watch_repeatedly(SIGHUP) : signal_shim_watch(SIGHUP)
        return source
    }
}
