import Foundation
import Instrument
import InstrumentJSON
import LoopbackServers

/// A real SMTP server (aiosmtpd) with a generated certificate for `localhost`. Python's parser of e-mail reads what it
/// got. It ends with this object, and with this process.
///
/// It refuses `refused@…` permanently, `busy@…` at the first attempt, and knows the user `monitor` with the password
/// `pass word`.
final class MailServer: Sendable {
    enum Kind: String, Sendable { case startTLS, implicit, plain, withLogin }

    private struct State {
        var lines: [String] = []
        var gates: [(count: Int, gate: Gate)] = []
    }

    let port: UInt16
    let certificate: String
    private let scratch: Scratch
    private let process: Lock<Process>
    private let input = Pipe.forChild()
    private let state = Lock(State())

    static var python: String? {
        let servers = ProcessInfo.processInfo.environment["SERVERS_DIRECTORY"] ?? packageRoot.path + "/.build/servers"
        let path = servers + "/mail/bin/python3"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    init(_ kind: Kind) async throws {
        guard let python = Self.python else { throw NoServer(why: "there is no aiosmtpd") }
        scratch = try Scratch()
        certificate = scratch.file("certificate.pem")
        let key = scratch.file("key.pem")
        let made = try await command([
            "openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-x509",
            "-days",
            "1", "-addext", "subjectAltName=DNS:localhost", "-out", certificate,
        ])
        guard made.status == 0 else { throw NoServer(why: made.errors) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", Self.program, kind.rawValue, certificate, key]
        let output = Pipe.forChild()
        (process.standardInput, process.standardOutput) = (input, output)
        process.standardError = FileHandle.nullDevice
        try process.start()
        let reader = output.fileHandleForReading
        let first = String(decoding: reader.availableData, as: UTF8.self)
        guard let port = UInt16(first.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw NoServer(why: "aiosmtpd said: \(first)")
        }
        self.port = port
        self.process = Lock(process)
        let state = state
        Thread.detachNewThread {
            var text = ""
            while case let data = reader.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
                while let end = text.firstIndex(of: "\n") {
                    let line = String(text[..<end])
                    text = String(text[text.index(after: end)...])
                    // The end of the line with the port may come later than the port.
                    if line.isEmpty { continue }
                    let gates = state.withLock { state in
                        state.lines.append(line)
                        return state.gates.filter { $0.count <= state.lines.count }.map(\.gate)
                    }
                    for gate in gates { gate.open() }
                }
            }
        }
    }

    deinit { process.withLock { if $0.isRunning { kill($0.processIdentifier, SIGKILL) } } }

    /// The mails, once this number of them has come.
    func mails(_ count: Int) async throws -> [JSONValue] {
        let gate = Gate()
        let isThere = state.withLock { state in
            state.gates.append((count, gate))
            return state.lines.count >= count
        }
        if !isThere { _ = await gate.wait() }
        return try state.withLock { $0.lines }.map { try JSONValue(parsing: $0) }
    }

    /// How many mails came so far.
    var count: Int { state.withLock { $0.lines.count } }

    private static let program = """
        import asyncio, email, email.policy, json, os, ssl, sys, threading
        from aiosmtpd.smtp import SMTP, AuthResult
        kind, certificate, key = sys.argv[1:4]
        busy = set()
        class Handler:
            async def handle_RCPT(self, server, session, envelope, address, options):
                if address.startswith("refused"):
                    return "550 5.1.1 no such user here"
                if address.startswith("busy") and address not in busy:
                    busy.add(address)
                    return "451 4.3.0 try again later"
                envelope.rcpt_tos.append(address)
                return "250 OK"
            async def handle_DATA(self, server, session, envelope):
                data = envelope.original_content
                message = email.message_from_bytes(data, policy=email.policy.default)
                parts = {p.get_content_type(): p.get_content() for p in message.walk() if not p.is_multipart()}
                defects = [type(d).__name__ for p in message.walk() for d in p.defects]
                defects += [type(d).__name__ for v in message.values() for d in getattr(v, "defects", [])]
                lines = data.split(b"\\r\\n")
                print(json.dumps({
                    "sender": envelope.mail_from, "recipients": envelope.rcpt_tos, "names": message.keys(),
                    "subject": str(message["Subject"]), "from": str(message["From"]), "to": str(message["To"]),
                    "id": str(message["Message-ID"]), "references": str(message["References"]),
                    "date": message["Date"].datetime.isoformat(), "defects": defects,
                    "text": parts.get("text/plain", ""), "html": parts.get("text/html", ""),
                    "longest": max(map(len, lines)), "bare": any(b"\\n" in l or b"\\r" in l for l in lines),
                    "ascii": data.isascii(), "tls": server.transport.get_extra_info("sslcontext") is not None,
                }), flush=True)
                return "250 2.0.0 taken"
        def authenticate(server, session, envelope, mechanism, data):
            good = getattr(data, "login", b"") == b"monitor" and getattr(data, "password", b"") == b"pass word"
            return AuthResult(success=good, handled=False)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        def make():
            if kind in ("startTLS", "withLogin"):
                return SMTP(Handler(), hostname="localhost", tls_context=context, require_starttls=True,
                            authenticator=authenticate, auth_required=kind == "withLogin")
            return SMTP(Handler(), hostname="localhost")
        async def main():
            loop = asyncio.get_running_loop()
            server = await loop.create_server(make, "127.0.0.1", 0, ssl=context if kind == "implicit" else None)
            print(server.sockets[0].getsockname()[1], flush=True)
            await server.serve_forever()
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        asyncio.run(main())
        """
}
