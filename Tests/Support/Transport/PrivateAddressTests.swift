#if canImport(Glibc)
import CTransportShim
import Glibc
import InstrumentHTTP
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite("Private addresses", .ownThread)
struct PrivateAddressTests {
    @Test("A transport that refuses private addresses connects to no private address")
    func refused() async throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let transport = try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false))
        for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f.1"] {
            guard let url = try? HTTPURL("http://\(host):\(server.port)/") else { continue }
            await #expect(throws: HTTPError.self, "\(host)") { try await transport.send(HTTPRequest(.get, url)) }
        }
        #expect(server.connectionCount == 0)
    }

    @Test(
        "An address that is not globally reachable is private",
        arguments: [
            "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.2.1", "198.18.0.1", "198.19.255.255", "224.0.0.1",
            "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "fe80::1",
            "fc00::1",
            "fd12:3456::1", "ff02::1", "2001:db8::1", "2001::1", "3fff::1",
        ]
    )
    func isPrivate(text: String) { #expect(Self.isPrivate(text) == true) }

    @Test(
        "A globally reachable address is not private",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
            "192.167.255.255", "192.169.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
            "64:ff9b::808:808", "2002:808:808::1", "2001:200::1", "2001:4860:4860::8888",
        ]
    )
    func isPublic(text: String) { #expect(Self.isPrivate(text) == false) }

    @Test(
        "A host is private in every form in which it is an address of this machine or its network",
        arguments: [
            ("localhost", true), ("a.localhost", true), ("127.0.0.1", true), ("127.1", true), ("2130706433", true),
            ("0x7f.1", true), ("[::1]", true), ("[::ffff:10.0.0.1]", true), ("[fe90::1]", true), ("100.64.1.1", true),
            ("0.0.0.0", true), ("198.18.0.1", true), ("1.1.1.1", false), ("[2606:4700::1111]", false),
            ("example.com", false), ("localhost.example.com", false), ("10.example.com", false),
        ]
    )
    func privateHosts(host: String, isPrivate: Bool) throws {
        // An address that the URL's reader refuses is called by nobody.
        guard let url = try? HTTPURL("http://\(host):8080/live.m3u8") else { return }
        #expect(url.hasPrivateHost == isPrivate)
    }

    private static func isPrivate(_ text: String) -> Bool? {
        var storage = sockaddr_storage()
        return withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                address.pointee.sin6_family = sa_family_t(AF_INET6)
                return inet_pton(AF_INET6, text, &address.pointee.sin6_addr) == 1
            }
                || storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    address.pointee.sin_family = sa_family_t(AF_INET)
                    return inet_pton(AF_INET, text, &address.pointee.sin_addr) == 1
                }
                ? storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { transport_is_private($0) } : nil
        }
    }
}
#endif
