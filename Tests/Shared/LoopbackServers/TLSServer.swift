#if os(Linux)
internal import Foundation

/// A server with a generated certificate for `localhost`, which answers everything with `hello`, and ends with this
/// process.
package final class TLSServer {
    package let port: Int
    package let certificate: String
    private let directory: URL
    private let process: Process
    private let input = Pipe.forChild()

    package static var isPossible: Bool {
        ["openssl", "python3"].allSatisfy { (try? run(["sh", "-c", "command -v \($0)"])) != nil }
    }

    /// - Parameter isExpired: whether its certificate was good until yesterday.
    package init(isExpired: Bool = false) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "certificate.pem").path
        let key = directory.appending(path: "key.pem").path
        let request = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key]
        if isExpired {
            let asked = directory.appending(path: "request.pem").path
            try Self.run(request + ["-out", asked])
            try Self.signInThePast(asked, key, certificate, directory)
        } else {
            let more = ["-x509", "-days", "1", "-addext", "subjectAltName=DNS:localhost", "-out", certificate]
            try Self.run(request + more)
        }
        let output = Pipe.forChild()
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.program, certificate, key]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
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

    /// `openssl req` has no option for the end date; `openssl ca` has one.
    private static func signInThePast(
        _ request: String,
        _ key: String,
        _ certificate: String,
        _ directory: URL
    ) throws {
        let folder = directory.path
        let settings = """
            [ca]
            default_ca = authority
            [authority]
            database = \(folder)/index.txt
            serial = \(folder)/serial
            new_certs_dir = \(folder)
            default_md = sha256
            policy = policy
            [policy]
            commonName = supplied
            [names]
            subjectAltName = DNS:localhost
            """
        for (name, text) in [("settings", settings), ("index.txt", ""), ("serial", "01\n")] {
            try Data(text.utf8).write(to: directory.appending(path: name))
        }
        let dates = ["-startdate", "20200101000000Z", "-enddate", "20210101000000Z"]
        try run(
            [
                "openssl", "ca", "-batch", "-selfsign", "-notext", "-config", folder + "/settings", "-extensions",
                "names",
            ]
                + dates + ["-keyfile", key, "-in", request, "-out", certificate]
        )
    }

    @discardableResult
    private static func run(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NoServer(why: "\(arguments) failed") }
        return process.terminationStatus
    }

    private static let program = """
        import http.server, os, socketserver, ssl, sys, threading
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(302 if self.path == "/down" else 200)
                self.send_header("Location", "http://localhost/")
                self.send_header("Content-Length", "5")
                self.end_headers()
                self.wfile.write(b"hello")
            def log_message(self, *arguments):
                pass
        class Server(http.server.ThreadingHTTPServer):
            # Without the look-up of the address's name, for which a resolver may take seconds.
            def server_bind(self):
                socketserver.TCPServer.server_bind(self)
                self.server_name, self.server_port = self.server_address[:2]
        # The pipe ends with the process that holds its other end.
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        server = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """
}
#endif
