#if !canImport(Darwin)
internal import CTransportShim
internal import Instrument

/// The transport's thread, which the end of the process waits for.
enum CurlThread {
    /// Runs `body` on a new thread, which ends with `body`; false if the process has reached its thread limit.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        SystemThread.hand(body) { transport_thread_start($0, $1) }
    }
}
#endif
