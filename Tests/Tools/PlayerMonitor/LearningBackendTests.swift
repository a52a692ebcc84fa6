import Foundation
import InstrumentCompression
import InstrumentJSON
import LoopbackServers
import Testing

extension CommandLineTests {
    @Test(
        "A playback is sent to an LRS with the video profile and a password from the environment, which is never printed"
    )
    func xapi() throws {
        let server = try TestServer { _ in [.respond("200 OK", Array("[]".utf8))] }
        let queue = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: queue) }
        let run = try Run.playerMonitor(
            "play",
            "--speed",
            "max",
            "--backend",
            "xapi:" + server.url("/xapi"),
            "--credentials-from",
            "LRS",
            "--queue",
            queue,
            Sample.path,
            environment: ["LRS": "user:the-password"]
        )
        #expect(run.status == 0)
        #expect(!(run.output + run.errors).contains("the-password"))
        var verbs: [String] = []
        for request in server.requests {
            #expect(request.head.hasPrefix("POST /xapi/statements HTTP/1.1\r\n"))
            #expect(request.header("X-Experience-API-Version") == "1.0.3")
            let credentials = Data("user:the-password".utf8).base64EncodedString()
            #expect(request.header("Authorization") == "Basic " + credentials)
            guard case .array(let statements) = try JSONValue(parsing: request.body) else { continue }
            verbs += statements.compactMap { $0["verb"]?["id"]?.string?.split(separator: "/").last.map(String.init) }
        }
        #expect(verbs == ["initialized", "played", "interacted", "interacted", "completed", "paused", "terminated"])
        let memories = try FileManager.default.contentsOfDirectory(atPath: queue + "/xapi")
        #expect(memories.contains { $0.hasSuffix(".xapi-state") })
        #expect(try Run.playerMonitor("queue", "status", queue).output.contains("xapi\t"))
    }

    @Test("Five backends, one of them dead: the others receive all samples, each with its own credentials")
    func oneDead() throws {
        let server = try TestServer { _ in [.respond("200 OK", Array("{}".utf8))] }
        let directory = NSTemporaryDirectory() + "player-monitor-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let dead = "http://127.0.0.1:\(try TestServer.closedPort())/xapi"
        let run = try Run.playerMonitor(
            "play",
            "--speed",
            "max",
            "--queue",
            directory + "/queue",
            "--backend",
            "file:\(directory)/samples.ndjson",
            "--backend",
            "clickstream:\(server.url("/events"))",
            "--backend",
            "sift:\(server.url())",
            "--backend",
            "xapi:\(dead)",
            "--backend",
            "console",
            "--credentials-from",
            "sift=SIFT",
            "--credentials-from",
            "LRS",
            Sample.path,
            environment: ["SIFT": "account:sift-key", "LRS": "user:lrs-password"]
        )
        // Played, but not everything was delivered.
        #expect(run.status == 3)
        #expect(!(run.output + run.errors).contains("sift-key") && !(run.output + run.errors).contains("lrs-password"))
        let status = try Run.playerMonitor("queue", "status", directory + "/queue").output
        let rows = status.split(separator: "\n").dropFirst().map { $0.split(separator: "\t").map(String.init) }
        #expect(rows.count == 5)
        for row in rows where row.count > 3 {
            #expect((row[3] == "0") == (row[0] != "xapi"), "\(row)")
        }
        // Everything that was emitted is in the file, and the same has arrived at both services.
        let emitted = try String(contentsOfFile: directory + "/samples.ndjson", encoding: .utf8)
        let samples = try emitted.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(rows.allSatisfy { $0.count > 1 && $0[1] == String(samples.count) }, "\(status)")
        let all = Set(samples.compactMap { $0["id"]?.string })
        let events = Set(samples.filter { $0["type"] == "event" }.compactMap { $0["id"]?.string })
        #expect(all.count == samples.count && events.count > 10)
        #expect(try Self.clickstreamIdentifiers(server.requests) == all)
        #expect(try Self.siftIdentifiers(server.requests) == events)
        let keys = server.requests.filter { $0.head.hasPrefix("PUT") }.compactMap { $0.header("Authorization") }
        #expect(Set(keys) == ["Basic " + Data("sift-key".utf8).base64EncodedString()])
    }

    private static func clickstreamIdentifiers(_ requests: [TestServer.Received]) throws -> Set<String> {
        var found: Set<String> = []
        for request in requests where request.head.hasPrefix("POST /events") {
            guard case .array(let actions) = try JSONValue(parsing: request.body) else { continue }
            found.formUnion(actions.compactMap { $0["id"]?.string })
        }
        return found
    }

    private static func siftIdentifiers(_ requests: [TestServer.Received]) throws -> Set<String> {
        var found: Set<String> = []
        for request in requests where request.head.hasPrefix("PUT") {
            var gunzip = Gunzip()
            var body: [UInt8] = []
            try gunzip.unpack(request.body) { body += $0 }
            guard case .array(let events)? = try JSONValue(parsing: body)["data"] else { continue }
            found.formUnion(events.compactMap { $0["fields"]?["sampleId"]?.string })
        }
        return found
    }

    @Test("A playback is sent to Seer, with a token for the client's secret")
    func seer() throws {
        let server = try TestServer { request in
            let token = Array(#"{"access_token":"t-1","expires_in":60}"#.utf8)
            return request.target == "/oauth/access_token" ? [.respond("200 OK", token)] : [.respond("200 OK")]
        }
        let run = try Run.playerMonitor(
            "play",
            "--speed",
            "max",
            "--backend",
            "seer:" + server.url(),
            "--credentials-from",
            "SEER",
            Sample.path,
            environment: ["SEER": "client:the-secret"]
        )
        #expect(run.status == 0)
        #expect(!(run.output + run.errors).contains("the-secret"))
        let request = try #require(server.requests.last)
        #expect(request.target == "/tincan/batch")
        #expect(request.header("Authorization") == "Bearer t-1")
        guard case .array(let statements) = try JSONValue(parsing: request.body) else { return }
        #expect(statements.allSatisfy { $0["context"]?["extensions"]?["appId"] == "player-monitor" })
        #expect(try Run.playerMonitor("play", "--backend", "seer:" + server.url(), Sample.path).status == 2)
    }

    @Test(
        "An invalid URL of an LRS or of Seer is refused",
        arguments: ["xapi:", "xapi:h", "seer:ftp://h", "xapi"]
    )
    func badService(backend: String) throws {
        #expect(try Run.playerMonitor("play", "--backend", backend, Sample.path).status == 2)
    }
}
