import Foundation
import Instrument
import InstrumentBackends
import InstrumentNATS
import LoopbackServers
import TestTraits
import Testing

@Suite(
    "NATS over TLS with a real server",
    .ownThread,
    .timeLimit(.minutes(30)),
    .enabled(if: NATSServer.isInstalled && Certificates.isPossible, "scripts/install-servers.sh installs nats-server")
)
struct NATSTLSTests {
    private func deliver(
        _ server: NATSServer,
        _ tls: TLSFiles?,
        host: String = "localhost",
        _ numbers: Range<Int> = 0..<500
    ) async throws -> DeliveryOutcome {
        let endpoint = try NATSEndpoint(servers: ["\(host):\(server.port)"], subject: "samples", tls: tls)
        let backend = try NATSBackend(endpoint, configuration: NATSConfiguration(timeout: .seconds(300)))
        let outcome = await backend.deliver(SessionSamples.batch(numbers))
        await backend.end()
        return outcome
    }

    private func refusal(_ outcome: DeliveryOutcome) throws -> String {
        guard case .unauthorized(let reason) = outcome else { throw NoServer(why: "\(outcome)") }
        return reason
    }

    @Test("Samples arrive over TLS, and a certificate that is not trusted leads to a long back-off")
    func tls() async throws {
        let certificates = try Certificates()
        let server = try await NATSServer(certificates.settings + "\nallow_non_tls: true")
        let client = try NATSClient(port: server.port)
        try client.createStream()
        let trusted = TLSFiles(authorityFile: certificates.authority)
        #expect(try await deliver(server, trusted) == .acknowledged)
        #expect(try await deliver(server, trusted, host: "127.0.0.1", 500..<600) == .acknowledged)
        #expect(try client.stored().compactMap(\.number) == Array(0..<600))
        #expect(try refusal(await deliver(server, TLSFiles(), 0..<1)).contains("certificate is not accepted"))
    }

    @Test("A certificate of another host leads to a long back-off, for names and for addresses")
    func otherHost() async throws {
        let certificates = try Certificates(names: "DNS:other.example,IP:127.0.0.9")
        let server = try await NATSServer(certificates.settings)
        let trusted = TLSFiles(authorityFile: certificates.authority)
        #expect(try refusal(await deliver(server, trusted, 0..<1)).contains("hostname mismatch"))
        #expect(try refusal(await deliver(server, trusted, host: "127.0.0.1", 0..<1)).contains("IP address mismatch"))
    }

    @Test("A server that requires TLS gets TLS, and a client's certificate if it asks for one")
    func required() async throws {
        let certificates = try Certificates()
        let server = try await NATSServer(certificates.settings(verifiesClients: true))
        var tls = TLSFiles(authorityFile: certificates.authority)
        // TLS 1.3 refuses a client after its handshake.
        let without = try await deliver(server, tls, 0..<1)
        #expect("\(without)".contains("certificate") || "\(without)".contains("connection"))
        (tls.certificateFile, tls.keyFile) = (certificates.certificate, certificates.key)
        #expect(try refusal(await deliver(server, tls, 0..<1)).contains("create a stream"))
        // Without settings the system's authorities apply.
        #expect(try refusal(await deliver(server, nil, 0..<1)).contains("certificate is not accepted"))
    }

    @Test("An app that wants TLS does not talk to a server without TLS")
    func noTLS() async throws {
        let server = try await NATSServer()
        #expect(try refusal(await deliver(server, TLSFiles(), 0..<1)).contains("offers no TLS"))
    }

    @Test("A file that cannot be read is refused when the backend is created")
    func files() throws {
        for tls in [
            TLSFiles(authorityFile: "/no/file"), TLSFiles(certificateFile: "/no/file"), TLSFiles(keyFile: "/no/file"),
        ] {
            let endpoint = try NATSEndpoint(servers: ["localhost"], subject: "samples", tls: tls)
            let error = #expect(throws: NATSError.self) { try NATSBackend(endpoint) }
            #expect(error?.code == .invalidCertificate && error?.description.contains("/no/file") == true)
        }
    }
}

/// An authority and a certificate for `localhost` and 127.0.0.1, made by openssl.
private final class Certificates: Sendable {
    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

    private let scratch: Scratch
    var authority: String { scratch.file("ca.pem") }
    var certificate: String { scratch.file("server.pem") }
    var key: String { scratch.file("server.key") }
    var settings: String { settings(verifiesClients: false) }

    func settings(verifiesClients: Bool) -> String {
        "tls { cert_file: \"\(certificate)\", key_file: \"\(key)\", ca_file: \"\(authority)\", "
            // Within this time, a client has to begin its handshake; a busy machine is slower than the default of 2 s.
            + "timeout: 600, verify: \(verifiesClients) }"
    }

    init(names: String = "DNS:localhost,IP:127.0.0.1") throws {
        scratch = try Scratch()
        let script = """
            set -e
            cd '\(scratch.path)'
            openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem
            openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr
            printf 'subjectAltName=\(names)\\nextendedKeyUsage=serverAuth,clientAuth\\n' > extensions
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out server.pem
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw NoServer(why: "openssl failed") }
    }
}
