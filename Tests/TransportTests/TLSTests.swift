#if os(Linux)
import Foundation
import Instrument
import InstrumentTransport
import LoopbackServers
import Testing

@Suite("TLS", .timeLimit(.minutes(1)), .enabled(if: TLSServer.isPossible, "openssl and python3 are needed"))
struct TLSTests {
    private func send(_ address: String, trusting file: String?) async throws -> HTTPResponse {
        let transport = try SystemTransport(TransportConfiguration(additionalCAFile: file))
        return try await transport.send(HTTPRequest(.get, try HTTPURL(address)))
    }

    private func refusal(_ address: String, trusting file: String?) async -> HTTPError? {
        await #expect(throws: HTTPError.self) { try await send(address, trusting: file) }
    }

    @Test("A certificate that nobody vouches for is refused and reported")
    func untrusted() async throws {
        let server = try TLSServer()
        let error = await refusal("https://localhost:\(server.port)/?secret", trusting: nil)
        #expect(error?.code == .tls)
        #expect(error?.message.contains("certificate") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("The same certificate is accepted from a server of one's own")
    func trusted() async throws {
        let server = try TLSServer()
        let response = try await send("https://localhost:\(server.port)/", trusting: server.certificate)
        #expect(response.status == 200)
        #expect(response.body == Array("hello".utf8))
        #expect(response.timings.tls.map { $0 > .zero } == true)
        #expect(response.timings.nameLookup != nil)
    }

    @Test("A certificate for another name is refused, however trusted")
    func otherName() async throws {
        let server = try TLSServer()
        let error = await refusal("https://127.0.0.1:\(server.port)/", trusting: server.certificate)
        #expect(error?.code == .tls)
    }

    @Test("A server that speaks no TLS is refused")
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
        "A file of certificates that is none is an error at the beginning",
        arguments: ["/nonexistent", "/etc/hostname", "/"]
    )
    func badFile(path: String) {
        let error = #expect(throws: HTTPError.self) {
            try SystemTransport(TransportConfiguration(additionalCAFile: path))
        }
        #expect(error?.code == .configuration)
    }
}

/// A server with a certificate of its own making for `localhost`, which lives for half a minute at most.
private final class TLSServer {
    let port: Int
    let certificate: String
    private let directory: URL
    private let process: Process

    static var isPossible: Bool {
        ["openssl", "python3"].allSatisfy { (try? run(["sh", "-c", "command -v \($0)"])) != nil }
    }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "certificate.pem").path
        let key = directory.appending(path: "key.pem").path
        try Self.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
        ])
        let output = Pipe()
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.program, certificate, key]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw NoServer(why: "python3 said: \(line)")
        }
        self.port = port
    }

    deinit {
        // Threads of the pool block the gentler signals, and children inherit that.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    @discardableResult
    private static func run(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NoServer(why: "\(arguments) failed") }
        return process.terminationStatus
    }

    private static let program = """
        import http.server, os, ssl, sys, threading
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(302 if self.path == "/down" else 200)
                self.send_header("Location", "http://localhost/")
                self.send_header("Content-Length", "5")
                self.end_headers()
                self.wfile.write(b"hello")
            def log_message(self, *arguments):
                pass
        threading.Timer(30, lambda: os._exit(0)).start()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """
}
#endif
