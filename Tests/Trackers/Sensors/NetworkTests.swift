#if os(Linux)
import Foundation
import Instrument
import TestTraits
import Testing

@testable import InstrumentSensors

@Suite("Network", .ownThread, .serialized)
struct NetworkTests {
    private static let header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    @Test("Addresses are those of interfaces that are up, without loopback, each once")
    func addresses() {
        let interfaces = [
            NetworkInterface(name: "lo", isUp: true, isLoopback: true, address: "127.0.0.1"),
            NetworkInterface(name: "eth0", isUp: true, isLoopback: false),
            NetworkInterface(name: "eth0", isUp: true, isLoopback: false, address: "192.0.2.7"),
            NetworkInterface(name: "eth0", isUp: true, isLoopback: false, address: "2001:db8::7"),
            NetworkInterface(name: "br0", isUp: true, isLoopback: false, address: "192.0.2.7"),
            NetworkInterface(name: "wlan0", isUp: false, isLoopback: false, address: "192.0.2.8"),
        ]
        #expect(NetworkAddressSource(interfaces: { interfaces }).current() == .reading(["192.0.2.7", "2001:db8::7"]))
    }

    @Test("The system has a loopback interface, which is not reported")
    func system() {
        let interfaces = NetworkInterface.all()
        #expect(interfaces.contains { $0.isLoopback && $0.address == "127.0.0.1" })
        #expect(!NetworkInterface.addresses(of: interfaces).contains("127.0.0.1"))
    }

    @Test(
        "The machine is online when a default route leads through an interface that is up",
        arguments: [
            ("eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0", "", true),
            ("eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0", "", false),
            ("wlan0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0", "", false),
            ("lo\t00000000\t00000000\t0003\t0\t0\t0\t00000000\t0\t0\t0", "", false),
            ("eth0\t00000000\t0102000A\t0002\t0\t0\t0\t00000000\t0\t0\t0", "", false),
            (
                "",
                "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 "
                    + "00000400 00000001 00000000 00450003 eth0", true
            ),
            (
                "",
                "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 "
                    + "ffffffff 00000001 00000000 00200200 eth0", false
            ),
            ("eth0", "garbage", false),
        ]
    )
    func routes(four: String, six: String, isOnline: Bool) throws {
        let tree = try Tree(["/proc/net/route": Self.header + four + "\n", "/proc/net/ipv6_route": six + "\n"])
        let interfaces = [
            NetworkInterface(name: "lo", isUp: true, isLoopback: true),
            NetworkInterface(name: "eth0", isUp: true, isLoopback: false),
            NetworkInterface(name: "wlan0", isUp: false, isLoopback: false),
        ]
        #expect(NetworkReachability(root: tree.root, interfaces: { interfaces }).isOnline == isOnline)
    }

    @Test("A new network state reaches the queue's reachability")
    func changes() async throws {
        let tree = try Tree(["/proc/net/route": Self.header])
        let up = [NetworkInterface(name: "eth0", isUp: true, isLoopback: false)]
        let reachability = NetworkReachability(root: tree.root, interfaces: { up })
        #expect(!reachability.isOnline)
        var changes = reachability.changes().makeAsyncIterator()
        try tree.write(
            "/proc/net/route",
            Self.header + "eth0\t00000000\t0102000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        )
        reachability.update()
        #expect(await changes.next() == true)
    }

    @Test("The monitor has one thread while there is a listener, and none before and after")
    func threads() async {
        #expect(await eventually { sensorThreadCount() == 0 })
        let sensors = Sensors.linux(root: "/nowhere")
        let seen = Collected<[String]>()
        let run = sensors.networkAddresses.listen { if let reading = $0.reading { seen.add(reading) } }
        #expect(await eventually { seen.values.count == 1 })
        #expect(sensorThreadCount() == 1)
        sensors.suspend()
        #expect(await eventually { sensorThreadCount() == 0 })
        sensors.resume()
        #expect(await eventually { sensorThreadCount() == 1 })
        run.stop()
        #expect(await eventually { sensorThreadCount() == 0 })
    }

    @Test(
        "A program in a separate network namespace receives changes of addresses and routes"
    )
    func netlink() throws {
        guard ["unshare", "nsenter", "ip"].allSatisfy({ isInstalled($0, for: "the kernel's notices") }) else { return }
        let child = try Child("unshare", "-n", Child.program, "network")
        defer { child.end() }
        guard child.waits(for: ["online false", "addresses "]) else {
            return print("SKIPPED: the kernel's notices, because this process may make no network namespace")
        }
        func change(_ command: String) throws -> Bool {
            let arguments = ["-t", "\(child.id)", "-n"] + command.split(separator: " ").map { String($0) }
            return try Child("nsenter", arguments).succeeds()
        }
        guard try change("ip link add v0 type veth peer name v1") else {
            return print("SKIPPED: the kernel's notices, because it has no virtual Ethernet")
        }
        // Without IPv6, whose addresses come when they like.
        _ = try change("ip link set dev v0 addrgenmode none")
        #expect(try change("ip address add 192.0.2.7/24 dev v0"))
        #expect(try change("ip link set v1 up"))
        #expect(try change("ip link set v0 up"))
        #expect(child.waits(for: ["addresses 192.0.2.7"]))
        #expect(try change("ip route add default via 192.0.2.1"))
        #expect(child.waits(for: ["online true"]))
        #expect(try change("ip link set v0 down"))
        #expect(child.waits(for: ["online false", "addresses "]))
    }
}
#endif
