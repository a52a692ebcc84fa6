import Foundation
import Instrument
import InstrumentCompression
import InstrumentJSON
import InstrumentOrigin
import InstrumentTransport
import LoopbackServers
import Testing

extension CommandLineTests {
    private func body(_ request: TestServer.Received) throws -> String {
        guard request.header("Content-Encoding") == "gzip" else { return String(decoding: request.body, as: UTF8.self) }
        var gunzip = Gunzip()
        var bytes: [UInt8] = []
        try gunzip.unpack(request.body) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("A playback is written to InfluxDB, New Relic, a CMCD collector and an OTLP receiver at the same time")
    func openBackends() throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let run = try Run.playerMonitor(
            "play",
            "--speed",
            "max",
            "--backend",
            "influx:" + server.url("?db=media"),
            "--backend",
            "newrelic:42@" + server.url("/nr"),
            "--backend",
            "cmcd:" + server.url("/cmcd"),
            "--backend",
            "otlp:" + server.url("/otlp"),
            "--credentials-from",
            "influx=INFLUX",
            "--credentials-from",
            "newrelic=RELIC",
            "--credentials-from",
            "otlp=OTLP",
            Sample.path,
            environment: ["INFLUX": "me:the-password", "RELIC": "the-key", "OTLP": "Authorization:Bearer the-token"]
        )
        #expect(run.status == 0, "\(run.errors)")
        for secret in ["the-password", "the-key", "the-token"] { #expect(!(run.output + run.errors).contains(secret)) }
        let byPath = Dictionary(grouping: server.requests) {
            $0.target.split(separator: "?").first.map(String.init) ?? ""
        }
        #expect(
            Set(byPath.keys) == [
                "/write", "/nr/v1/accounts/42/events", "/nr/metric/v1", "/cmcd", "/otlp/v1/logs", "/otlp/v1/metrics",
            ]
        )
        let influx = try #require(byPath["/write"]?.first)
        #expect(influx.header("Authorization") == "Basic " + Data("me:the-password".utf8).base64EncodedString())
        #expect(try body(influx).contains("OAVT_EVENTS,action=Start"))
        #expect(byPath["/nr/metric/v1"]?.first?.header("Api-Key") == "the-key")
        #expect(byPath["/otlp/v1/logs"]?.first?.header("Authorization") == "Bearer the-token")
        let reports = try (byPath["/cmcd"] ?? []).map(body).joined(separator: "\n")
        #expect(reports.contains("e=ps,") && reports.contains("sta=e"))
        // The validating command accepts the sent reports.
        let path = NSTemporaryDirectory() + "cmcd-\(UUID().uuidString)"
        try reports.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let verdict = try Run.playerMonitor("cmcd", "validate", path)
        #expect(verdict.status == 0, "\(verdict.output)")
        #expect(verdict.output.split(separator: "\n").allSatisfy { $0.hasSuffix("\tevent\tvalid") })
    }

    @Test(
        "An address that a backend cannot use ends the run with code 2",
        arguments: [
            "influx:http://127.0.0.1:1", "influx:nonsense", "graphite:", "graphite:host:0", "newrelic:abc",
            "newrelic:1@mars",
            "cmcd:ftp://a", "otlp:", "other:x", "kafka:a", "kafka:a/", "kafka:a:0/t", "kafka:a/t?sasl=gssapi",
            "nats:a", "nats:a/s.*", "nats:a/s?x",
        ]
    )
    func unusableAddresses(backend: String) throws {
        let run = try Run.playerMonitor("play", "--backend", backend, Sample.path)
        #expect(run.status == 2 && run.errors.contains("--backend"))
    }

    @Test("A login that a message system cannot use ends the run with code 2, and the login is not shown")
    func unusableLogins() throws {
        for (backend, words) in [
            ("kafka:127.0.0.1:1/t?sasl=plain", "requires TLS"), ("nats:127.0.0.1:1/s", "credentials"),
        ] {
            let run = try Run.playerMonitor(
                "play",
                "--backend",
                backend,
                "--credentials-from",
                "LOGIN",
                Sample.path,
                environment: ["LOGIN": backend.hasPrefix("nats") ? "-----BEGIN NATS hidden" : "me:hidden"]
            )
            #expect(run.status == 2 && run.errors.contains(words), "\(run.errors)")
            #expect(!run.errors.contains("hidden"))
        }
    }

    @Test("New Relic without a key ends the run with code 2")
    func missingKey() throws {
        let run = try Run.playerMonitor("play", "--backend", "newrelic:42", Sample.path)
        #expect(run.status == 2 && run.errors.contains("newrelic requires --credentials-from"))
    }

    @Test("CMCD is validated line by line with line number, rule, key and found value; exit code 1 if any is invalid")
    func validateCMCD() throws {
        let lines = [
            "GET /1.m4s?CMCD=bl%3D%28150%29%2Crtp%3D50%2Cv%3D2 HTTP/1.1", "", "no report here",
            "CMCD-Session: sid=\"a\",v=2", "CMCD-Request: bl=(100)", "", "e=ps,ts=1,v=2", "e=t,ts=1,v=2",
            "GET /2.m4s?CMCD=sid%3D%22a%22%2Cbl%3D2500 HTTP/1.1",
        ]
        let path = NSTemporaryDirectory() + "cmcd-\(UUID().uuidString)"
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let run = try Run.playerMonitor("cmcd", "validate", path)
        #expect(run.status == 1 && run.errors.isEmpty)
        #expect(
            run.output.split(separator: "\n") == [
                "1\tquery\tinvalid\twarning rounding bl the number should be rounded to 100 (found '150')"
                    + "\trounding rtp the number must be rounded to 100 (found '50')",
                "4\theader\tvalid",
                "7\tevent\tinvalid\trequired sta a report of e=ps must have 'sta' (found '')", "8\tevent\tvalid",
                "9\tquery\tvalid\twarning order bl keys should be in alphabetical order; move 'bl' in front of 'sid'"
                    + " (found 'sid,bl')",
            ]
        )
        let json = try Run.playerMonitor("cmcd", "validate", "--format", "json", path)
        let objects = try json.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(objects.map { $0["line"] } == [1, 4, 7, 8, 9])
        #expect(
            objects.first == [
                "line": 1, "mode": "query", "valid": false,
                "findings": [
                    [
                        "rule": "rounding", "key": "bl", "message": "the number should be rounded to 100",
                        "found": "150",
                        "severity": "warning",
                    ],
                    [
                        "rule": "rounding", "key": "rtp", "message": "the number must be rounded to 100", "found": "50",
                        "severity": "error",
                    ],
                ],
            ]
        )
        try "nothing here\n".write(toFile: path, atomically: true, encoding: .utf8)
        let nothing = try Run.playerMonitor("cmcd", "validate", path)
        #expect(nothing.status == 1 && nothing.errors.contains("found no CMCD"))
    }
}

extension FleetCommandTests {
    @Test("With --cmcd, requests carry reports that the validator accepts, and a CMCD collector gets the responses")
    func requestReports() async throws {
        let collector = try TestServer { _ in [.respond("200 OK")] }
        for mode in ["query", "header"] {
            let heads = Heads()
            try await withMedia(heads) { address in
                let run = try await command([
                    "play", "--speed", "max", "--cmcd", mode, "--cmcd-content", "film", "--backend",
                    "cmcd:" + collector.url("/in"),
                    address,
                ])
                #expect(run.status == 0, "\(run.errors)")
            }
            let lines = heads.lines
            let path = NSTemporaryDirectory() + "cmcd-\(UUID().uuidString)"
            try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let verdict = try await command(["cmcd", "validate", path])
            #expect(verdict.status == 0, "\(verdict.output)")
            #expect(verdict.output.split(separator: "\n").count == heads.count)
            #expect(verdict.output.contains("\t\(mode)\tvalid"))
        }
        let reports = collector.requests.flatMap { String(decoding: $0.body, as: UTF8.self).split(separator: "\n") }
        let responses = reports.filter { $0.contains("e=rr,") }
        #expect(
            responses.count > 4
                && responses.allSatisfy { $0.contains("rc=200") && $0.contains("url=\"http://127.0.0.1") }
        )
    }

    /// On a separate thread, because a run blocks.
    private func command(_ arguments: [String]) async throws -> Run {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try Run.playerMonitor(arguments) }) }.start()
        }
    }

    /// Serves the origin's media through a server that remembers the heads of requests.
    private func withMedia(_ heads: Heads, _ body: (String) async throws -> Void) async throws {
        let fixtures = try await Fixtures.make(in: MediaCache.origin)
        let origin = try await Origin.start(media: [.fixtures(fixtures)])
        let front = origin.url("vod/ts/master.m3u8", session: "a")
        let root = String(front.dropLast("/s/a/vod/ts/master.m3u8".count))
        let transport = try SystemTransport()
        let server = try TestServer { request in
            heads.add(request.head)
            let path = request.target.split(separator: "?").first.map(String.init) ?? ""
            guard let body = Self.fetch(root + path, transport) else { return [.respond("404 Not Found")] }
            return [.respond("200 OK", body)]
        }
        try await body(server.url("/s/a/vod/ts/master.m3u8"))
        await origin.stop()
    }

    /// The body at an address; blocks the thread of the server's connection. Foundation would ask the proxy of this
    /// machine.
    private static func fetch(_ address: String, _ transport: SystemTransport) -> [UInt8]? {
        let (body, isDone) = (Lock([UInt8]?.none), DispatchSemaphore(value: 0))
        Task {
            if let response = try? await transport.send(HTTPRequest(.get, HTTPURL(address))), response.status == 200 {
                body.withLock { $0 = response.body }
            }
            isDone.signal()
        }
        isDone.wait()
        return body.withLock { $0 }
    }
}

/// The heads of requests, as lines for the validator.
private final class Heads: Sendable {
    private let heads = Lock([String]())
    var count: Int { heads.withLock { $0.count } }
    var lines: [String] {
        heads.withLock { $0 }.flatMap { head in head.split(separator: "\r\n").map(String.init) + [""] }
    }
    func add(_ head: String) { heads.withLock { $0.append(head) } }
}
