#if os(Linux)
public import Instrument

/// The addresses of interfaces that are up, without loopback; reported again when they change.
package struct NetworkAddressSource: SensorSource {
    private let interfaces: @Sendable () -> [NetworkInterface]

    /// Creates a source; `interfaces` lists the interfaces, by default those of the system.
    package init(interfaces: @escaping @Sendable () -> [NetworkInterface] = { NetworkInterface.all() }) {
        self.interfaces = interfaces
    }

    /// The current addresses; an empty list without a connection.
    package func current() -> SensorUpdate<[String]> { .reading(NetworkInterface.addresses(of: interfaces())) }

    /// Reports the addresses immediately and after each change, on a separate thread.
    package func start(_ receive: @escaping @Sendable (SensorUpdate<[String]>) -> Void) -> SensorRun {
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

/// Whether this machine has a network route to others, determined without network traffic.
///
/// True means that a default route, IPv4 or IPv6, leads through an interface that is up, has a carrier and is not
/// loopback. It does not mean that a server responds: a router without a connection, a captive portal or a firewall
/// look the same. False means that only the machine itself and its subnets are reachable. An app whose servers are
/// all in its subnet sets the state itself, with a `ReachabilitySwitch`.
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

    /// Creates a monitor of this machine, which observes nothing until ``start()``.
    public convenience init() { self.init(root: "/") }

    /// Creates a monitor of the routes in `/proc/net` below `root`.
    package init(
        root: String,
        interfaces: @escaping @Sendable () -> [NetworkInterface] = { NetworkInterface.all() }
    ) {
        routes = RoutingTable(tree: FileTree(root: root))
        self.interfaces = interfaces
        state = ReachabilitySwitch()
        update()
    }

    /// The latest state. Returns immediately.
    public var isOnline: Bool { state.isOnline }
    /// The states from now on.
    public func changes() -> AsyncStream<Bool> { state.changes() }

    /// Observes the kernel's notifications on a separate thread, until the result is stopped.
    public func start() -> SensorRun { NetlinkMonitor.start { [weak self] in self?.update() } }

    /// Reads the state now.
    package func update() {
        let usable = Set(interfaces().filter { $0.isUp && !$0.isLoopback }.map(\.name))
        state.set(isOnline: !routes.defaultInterfaces().isDisjoint(with: usable))
    }
}
#endif
