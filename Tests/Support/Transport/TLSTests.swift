#if os(Linux)
import Foundation
import Instrument
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@Suite(
    "TLS",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: TLSServer.isPossible, "openssl and python3 are needed")
)
struct TLSTests {
    private func send(_ address: String, trusting file: String?) async throws -> HTTPResponse {
        let transport = try SystemTransport(TransportConfiguration(additionalCAFile: file))
        return try await transport.send(HTTPRequest(.get, try HTTPURL(address)))
    }

    private func refusal(_ address: String, trusting file: String?) async -> HTTPError? {
        await #expect(throws: HTTPError.self) { try await send(address, trusting: file) }
    }

    @Test("An untrusted certificate is refused and reported")
    func untrusted() async throws {
        let server = try TLSServer()
        let error = await refusal("https://localhost:\(server.port)/?secret", trusting: nil)
        #expect(error?.code == .tls)
        #expect(error?.message.contains("certificate") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("The same certificate is accepted when its authority is configured")
    func trusted() async throws {
        let server = try TLSServer()
        let response = try await send("https://localhost:\(server.port)/", trusting: server.certificate)
        #expect(response.status == 200)
        #expect(response.body == Array("hello".utf8))
        #expect(response.timings.tls.map { $0 > .zero } == true)
        #expect(response.timings.nameLookup != nil)
    }

    @Test("A trusted certificate for another name is refused")
    func otherName() async throws {
        let server = try TLSServer()
        let error = await refusal("https://127.0.0.1:\(server.port)/", trusting: server.certificate)
        #expect(error?.code == .tls)
    }

    @Test("A server without TLS is refused")
    func plain() async throws {
        // It speaks first: the blank line that ends a request never comes.
        let server = try TestServer(greeting: Array("220 hello\r\n".utf8)) { _ in [] }
        #expect(await refusal("https://127.0.0.1:\(server.port)/", trusting: nil)?.code == .tls)
    }

    @Test("A redirect from https to http is refused")
    func downgrade() async throws {
        let server = try TLSServer()
        let transport = try SystemTransport(TransportConfiguration(additionalCAFile: server.certificate))
        let url = try HTTPURL("https://localhost:\(server.port)/down")
        let error = await #expect(throws: HTTPError.self) {
            try await transport.send(HTTPRequest(.get, url, redirects: .follow(atMost: 3)))
        }
        #expect(error?.code == .redirectRefused)
    }

    @Test(
        "A file without certificates is an error when the transport is created",
        arguments: ["/nonexistent", "/etc/hostname", "/"]
    )
    func badFile(path: String) {
        let error = #expect(throws: HTTPError.self) {
            try SystemTransport(TransportConfiguration(additionalCAFile: path))
        }
        #expect(error?.code == .configuration)
    }
}
#endif
