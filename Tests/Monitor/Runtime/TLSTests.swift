import Foundation
import Instrument
import InstrumentJSON
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

/// A certificate of `localhost` that openssl made, which is its own authority.
private struct TestCertificate {
    let certificate: String
    let key: String

    init(in scratch: Scratch, named name: String, options: [String] = ["-nodes"], days: Int = 1) async throws {
        (certificate, key) = (scratch.file("\(name).pem"), scratch.file("\(name)-key.pem"))
        let request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-days", "\(days)"] + options
        let subject = ["-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        let result = try await command(request + subject + ["-keyout", key, "-out", certificate])
        try #require(result.status == 0, "\(result.errors)")
    }

    var identity: TLSIdentity { get throws { try TLSIdentity(certificate: certificate, key: key) } }
}

@Suite(
    "TLS of the monitor's server",
    .ownThread,
    .enabled(
        if: installedProgram("openssl") != nil && installedProgram("curl") != nil,
        "SKIPPED: needs openssl and curl"
    )
)
struct TLSTests {
    private func withServer(
        _ identity: TLSIdentity,
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (MonitorServer) async throws -> Void
    ) async throws {
        var configuration = ServerConfiguration()
        configuration.tls = identity
        change(&configuration)
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
        let server = try await MonitorServer.start(configuration) { request in
            switch request.path {
            case "/large": ServerReply(200, "text/plain", large)
            default: .text(200, "ok")
            }
        }
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func curl(_ server: MonitorServer, _ path: String, _ options: String...) async throws -> CommandResult {
        try await command(["curl", "-sS", "--noproxy", "*"] + options + ["https://localhost:\(server.port)\(path)"])
    }

    @Test("A client that knows the authority is answered over TLS 1.2 and 1.3, and no other")
    func versions() async throws {
        let scratch = try Scratch()
        let made = try await TestCertificate(in: scratch, named: "one")
        try await withServer(try made.identity) { server in
            for version in ["1.2", "1.3"] {
                let result = try await curl(server, "/x", "--cacert", made.certificate, "--tls-max", version)
                #expect(result.output == "ok\n", "\(result.errors)")
            }
            let old = try await curl(
                server,
                "/x",
                "--cacert",
                made.certificate,
                "--tls-max",
                "1.1",
                "--ciphers",
                "DEFAULT@SECLEVEL=0"
            )
            #expect(old.status != 0 && old.output.isEmpty)
            #expect(try await curl(server, "/x").status != 0)
            let large = try await curl(server, "/large", "--cacert", made.certificate)
            #expect(large.output.utf8.count == 3_000_000)
            let address = "localhost:\(server.port)"
            let client = try await command(["openssl", "s_client", "-connect", address, "-CAfile", made.certificate])
            #expect(client.output.contains("Verify return code: 0 (ok)"), "\(client.output)")
        }
    }

    @Test("Requests that follow each other use one connection")
    func keepsAlive() async throws {
        let scratch = try Scratch()
        let made = try await TestCertificate(in: scratch, named: "one")
        try await withServer(try made.identity) { server in
            let address = "https://localhost:\(server.port)"
            let result = try await command(
                [
                    "curl", "-sS", "--noproxy", "*", "-v", "--cacert", made.certificate, address + "/a",
                    address + "/large",
                ]
            )
            #expect(result.output.utf8.count == 3_000_003)
            #expect(result.errors.contains("Re-using existing connection"), "\(result.errors)")
        }
    }

    @Test("A client that speaks plain HTTP learns to use https")
    func plain() async throws {
        let scratch = try Scratch()
        let made = try await TestCertificate(in: scratch, named: "one")
        try await withServer(try made.identity) { server in
            let answer = try RawClient.get("/metrics", port: server.port)
            #expect(answer.status == 400 && answer.body == "this port speaks https; use https://\n")
            // Bytes that are neither.
            let client = try RawClient(port: server.port)
            client.send("\u{01}\u{02}\u{03}\u{04}\u{05}\u{06}\u{07}\u{08}")
            #expect(!client.read().contains("HTTP"))
            #expect(try await curl(server, "/x", "--cacert", made.certificate).output == "ok\n")
        }
    }

    @Test("A client that begins a handshake and sends no more is disconnected, and keeps nobody out")
    func slowHandshake() async throws {
        let scratch = try Scratch()
        let made = try await TestCertificate(in: scratch, named: "one")
        let change = { (configuration: inout ServerConfiguration) in
            (configuration.requestSeconds, configuration.maxConnections) = (2, 8)
        }
        try await withServer(try made.identity, change) { server in
            let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
            for client in clients { client.send("\u{16}\u{03}\u{01}") }
            #expect(try await curl(server, "/x", "--cacert", made.certificate).output == "ok\n")
            for client in clients { #expect(client.read().isEmpty) }
        }
    }

    @Test("Another certificate takes effect without a restart, and a bad one changes nothing")
    func reload() async throws {
        let scratch = try Scratch()
        let (one, two) = (
            try await TestCertificate(in: scratch, named: "one"), try await TestCertificate(in: scratch, named: "two")
        )
        let identity = try one.identity
        try await withServer(identity) { server in
            #expect(try await curl(server, "/x", "--cacert", one.certificate).output == "ok\n")
            #expect(throws: TLSIdentity.Failure.self) {
                try identity.reload(certificate: two.certificate, key: one.key)
            }
            #expect(try await curl(server, "/x", "--cacert", one.certificate).output == "ok\n")
            try identity.reload(certificate: two.certificate, key: two.key)
            #expect(try await curl(server, "/x", "--cacert", one.certificate).status != 0)
            #expect(try await curl(server, "/x", "--cacert", two.certificate).output == "ok\n")
        }
    }

    @Test("Files that cannot be used are an error that says which and why")
    func badFiles() async throws {
        let scratch = try Scratch()
        let (one, two) = (
            try await TestCertificate(in: scratch, named: "one"), try await TestCertificate(in: scratch, named: "two")
        )
        let locked = try await TestCertificate(in: scratch, named: "locked", options: ["-passout", "pass:x"])
        let text = try scratch.write("no certificate", "text.pem")
        let pairs = [
            (one.certificate, two.key, "key of the certificate"),
            (text, one.key, "must have a certificate in PEM form"),
            (one.certificate, text, "must have, in PEM form"), (scratch.file("none"), one.key, "cannot be read"),
            (locked.certificate, locked.key, "without a passphrase"),
        ]
        for (certificate, key, words) in pairs {
            do {
                _ = try TLSIdentity(certificate: certificate, key: key)
                Issue.record("\(certificate) and \(key) are accepted")
            } catch {
                #expect(error.description.contains(words), "\(error)")
            }
        }
        #expect(try one.identity.warning == "the certificate of --listen expires in 23 hours; renew it")
        let server = try TLSServer(isExpired: true)
        let old = server.certificate
        let key = old.replacingOccurrences(of: "certificate.pem", with: "key.pem")
        #expect(try TLSIdentity(certificate: old, key: key).warning?.contains("has expired") == true)
        // Its files are there as long as the server.
        withExtendedLifetime(server) {}
        #expect(try await TestCertificate(in: scratch, named: "new", days: 30).identity.warning == nil)
    }

    @Test(
        "The command serves https, `top` and `incidents` reach it with --ca, and a new file is read without a restart"
    )
    func commands() async throws {
        let scratch = try Scratch()
        let (one, two) = (
            try await TestCertificate(in: scratch, named: "one"), try await TestCertificate(in: scratch, named: "two")
        )
        let file = try scratch.write(
            "streams:\n  - { name: news, url: \"http://127.0.0.1:9/x.m3u8\" }\n"
                + "access: { tls: { certificate: \"\(one.certificate)\", key: \"\(one.key)\" } }\n",
            "m.yaml"
        )
        let watch = try RunningWatch(["--listen", "127.0.0.1:0", file])
        await watch.wait(for: "listening on https://127.0.0.1:")
        let line = watch.output.components(separatedBy: "listening on https://127.0.0.1:").last ?? ""
        let address = "https://127.0.0.1:" + line.prefix { $0.isNumber }
        let program = siblingProgram("player-monitor")
        let top = try await command([program, "top", "--plain", "--ca", one.certificate, address])
        #expect(top.status == 0 && top.output.contains("news"), "\(top.errors)")
        let list = try await command([program, "incidents", "--ca", one.certificate, "--at", address])
        #expect(list.status == 0 && list.output.contains("no open incidents"), "\(list.errors)")
        let stranger = try await command([program, "top", "--plain", address])
        #expect(stranger.status == 1 && stranger.errors.contains("certificate"))
        for (from, to) in [(two.certificate, one.certificate), (two.key, one.key)] {
            try FileManager.default.removeItem(atPath: to)
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
        await watch.wait(for: "the certificate of --listen was read again")
        let again = try await command([program, "top", "--plain", "--ca", two.certificate, address])
        #expect(again.status == 0, "\(again.errors)")
        watch.send(SIGTERM)
        #expect(await watch.waitUntilExit() == 0, "\(watch.output)")
    }
}
