#if os(Linux)
public import Instrument

/// The addresses of interfaces that are up, without loopback; reported again when they change.
public struct NetworkAddressSource: SensorSource {
    private let interfaces: @Sendable () -> [NetworkInterface]

    /// Creates a source; `interfaces` lists what there is, by default what the system has.
    public init(interfaces: @escaping @Sendable () -> [NetworkInterface] = { NetworkInterface.all() }) {
        self.interfaces = interfaces
    }

    /// The current addresses; an empty list without a connection.
    public func current() -> SensorUpdate<[String]> { .reading(NetworkInterface.addresses(of: interfaces())) }

    /// Reports the addresses at once and after each change, on a separate thread.
    public func start(_ receive: @escaping @Sendable (SensorUpdate<[String]>) -> Void) -> SensorRun {
        let last = Lock<[String]?>(nil)
        return NetlinkMonitor.start {
            let addresses = NetworkInterface.addresses(of: interfaces())
            let isNew = last.withLock { last in
                defer { last = addresses }
                return last != addresses
            }
            if isNew { receive(.reading(addresses)) }
        }
    }
}

/// Whether there is a way out of this machine: what can be said without contacting anybody.
///
/// True means that a default route, IPv4 or IPv6, leads through an interface that is up, has a carrier and is not loopback. It
/// does not mean that anybody answers: a router without a connection, a captive portal or a firewall look the same. False means
/// that only the machine itself and its own subnets can be reached. Machines whose only servers are in their subnet have to say
/// themselves what online is: with a `ReachabilitySwitch`.
///
/// ```swift
/// let reachability = NetworkReachability()
/// let monitoring = reachability.start()
/// let instrument = Instrument(hub: CoreHub(), backends: [backend], reachability: reachability)
/// ```
public final class NetworkReachability: Reachability {
    private let routes: RoutingTable
    private let interfaces: @Sendable () -> [NetworkInterface]
    private let state: ReachabilitySwitch

    /// Creates it; nothing is watched until ``start()``.
    ///
    /// - Parameters:
    ///   - root: where `/proc/net` is.
    ///   - interfaces: lists what there is, by default what the system has.
    public init(
        root: String = "/",
        interfaces: @escaping @Sendable () -> [NetworkInterface] = { NetworkInterface.all() }
    ) {
        routes = RoutingTable(tree: FileTree(root: root))
        self.interfaces = interfaces
        state = ReachabilitySwitch()
        update()
    }

    /// What was found last. Quick: nothing is asked.
    public var isOnline: Bool { state.isOnline }
    /// What is found from now on.
    public func changes() -> AsyncStream<Bool> { state.changes() }

    /// Watches the kernel's notices on a separate thread, until the result is stopped.
    public func start() -> SensorRun { NetlinkMonitor.start { [weak self] in self?.update() } }

    /// Looks now.
    public func update() {
        let usable = Set(interfaces().filter { $0.isUp && !$0.isLoopback }.map(\.name))
        state.set(isOnline: !routes.defaultInterfaces().isDisjoint(with: usable))
    }
}
#endif
