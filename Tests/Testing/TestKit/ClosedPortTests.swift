import Foundation
import LoopbackServers
import Testing

@Suite("Closed ports of tests")
struct ClosedPortTests {
    @Test("Ports are outside the range that the kernel gives to other sockets, and differ")
    func outsideTheEphemeralRange() throws {
        let ports = try (0..<200).map { _ in try TestServer.closedPort() }
        #expect(Set(ports).count == ports.count)
        #if os(Linux)
        let text = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let range = text.split(whereSeparator: \.isWhitespace).compactMap { UInt16($0) }
        let ephemeral = try #require(range.first)...(try #require(range.last))
        // A kernel that gives away nearly all ports leaves no choice.
        if ephemeral.lowerBound > 12_288 { #expect(!ports.contains(where: ephemeral.contains)) }
        #endif
    }
}
