internal import Dispatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Ctrl-C, a closed terminal or a polite kill end a playback in order; the same signal again ends the process at once.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]

    /// Calls `action` for the first signal of each kind.
    init(_ action: @escaping @Sendable () -> Void) {
        // A reader that goes away is no reason to die with samples in the queue.
        signal(SIGPIPE, SIG_IGN)
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                action()
            }
            source.resume()
            return source
        }
    }
}
