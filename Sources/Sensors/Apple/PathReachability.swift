#if canImport(Network)
internal import Dispatch
public import Instrument
internal import Network

/// Whether there is a way out of this device, as the Network framework sees it (`NWPathMonitor`). Nobody is contacted.
///
/// Not verified: written from Apple's documentation, never compiled or run.
public final class PathReachability: Reachability {
    private let state = ReachabilitySwitch()

    /// Creates it; online until ``start()`` has found out.
    public init() {}

    /// What was found last. Quick: nothing is asked.
    public var isOnline: Bool { state.isOnline }
    /// What is found from now on.
    public func changes() -> AsyncStream<Bool> { state.changes() }

    /// Watches until the result is stopped.
    public func start() -> SensorRun {
        let watched = Watched()
        watched.monitor.pathUpdateHandler = { [state] path in state.set(isOnline: path.status == .satisfied) }
        watched.monitor.start(queue: DispatchQueue(label: "instrument.path"))
        return SensorRun { watched.monitor.cancel() }
    }

    // Sendable: what `start` set up is only cancelled afterwards, which any thread may do, and more than once.
    private struct Watched: @unchecked Sendable { let monitor = NWPathMonitor() }
}
#endif
