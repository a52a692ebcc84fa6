#if canImport(Network)
internal import Dispatch
public import Instrument
internal import Network

/// Whether this device has a network path, by the Network framework (`NWPathMonitor`), without network traffic.
///
/// Compiled against declarations of Network on Linux, with its logic tested there; not run on an Apple platform.
public final class PathReachability: Reachability {
    private let state = ReachabilitySwitch()

    /// Creates a monitor, which is online until ``start()`` has the first result.
    public init() {}

    /// The latest state. Returns immediately.
    public var isOnline: Bool { state.isOnline }
    /// The states from now on.
    public func changes() -> AsyncStream<Bool> { state.changes() }

    /// Observes until the result is stopped.
    public func start() -> SensorRun {
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { [state] path in state.set(isOnline: path.status == .satisfied) }
        monitor.start(queue: DispatchQueue(label: "instrument.path"))
        return SensorRun { monitor.cancel() }
    }
}
#endif
