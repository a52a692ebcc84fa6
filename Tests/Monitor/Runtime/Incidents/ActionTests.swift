import Foundation
import Instrument
import InstrumentHTTP
import InstrumentJSON
import InstrumentMonitor
import InstrumentWatch
import TestTraits
import Testing

@testable import InstrumentMonitorRuntime

@Suite("Actions over HTTP", .ownThread)
struct ActionTests {
    private struct Answer {
        var status: Int
        var head: String
        var body: String
        var json: JSONValue? { try? JSONValue(parsing: body) }
    }

    /// A monitor with one open incident of an earlier process, and its identifier.
    private func withIncident(
        _ settings: ServerConfiguration = ServerConfiguration(),
        _ body: (Int, String) async throws -> Void
    ) async throws {
        let down = try alert("down", "up == 0")
        let streams = [try stream("gone")]
        var drive = Drive(configuration(streams, [down]), ["gone": .fails(after: .seconds(1), code: "httpStatus")])
        drive.run(for: .seconds(100))
        let id = try #require(drive.model.book.order.first)
        let saved = SavedMonitor(drive.saved.bytes)
        let served = try await ServedMonitor(streams, settings, alerts: [down], restoring: saved)
        do { try await body(served.server.port, id) } catch {
            await served.stop()
            throw error
        }
        await served.stop()
    }

    private func send(
        _ method: String,
        _ path: String,
        _ body: String,
        _ headers: [String] = ["Content-Type: application/json"],
        port: Int
    ) throws -> Answer {
        let client = try RawClient(port: port)
        let host = headers.contains { $0.hasPrefix("Host:") } ? [] : ["Host: 127.0.0.1:\(port)"]
        let head = (host + headers + ["Content-Length: \(body.utf8.count)", "Connection: close"]).joined(
            separator: "\r\n"
        )
        client.send("\(method) \(path) HTTP/1.1\r\n\(head)\r\n\r\n\(body)")
        let answer = client.read()
        let end = answer.range(of: "\r\n\r\n")
        return Answer(
            status: Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0,
            head: end.map { String(answer[..<$0.lowerBound]) } ?? answer,
            body: end.map { String(answer[$0.upperBound...]) } ?? ""
        )
    }

    @Test("An incident is acknowledged, released and closed, and the log says who did it")
    func incident() async throws {
        try await withIncident { port, id in
            let path = "/api/incidents/\(id)"
            let taken = try send("POST", path + "/acknowledge", #"{"by":"Ana","for":"2h","note":"calls"}"#, port: port)
            #expect(taken.status == 200, "\(taken)")
            #expect(taken.json?["state"]?.string == "acknowledged")
            let state = try JSONValue(parsing: try RawClient.get("/api/state", port: port).body)
            #expect(state["role"]?.string == "act")
            guard case .array(let incidents)? = state["incidents"] else { return #expect(Bool(false)) }
            #expect(incidents.map { $0["by"]?.string } == ["Ana"])
            #expect(try send("POST", path + "/release", "", port: port).json?["state"]?.string == "open")
            #expect(try send("POST", path + "/release", "{}", port: port).status == 409)
            #expect(try send("POST", path + "/close", #"{"by":"Ben"}"#, port: port).json?["state"]?.string == "closed")
            #expect(try send("POST", path + "/close", "{}", port: port).status == 409)
            let audit = try JSONValue(parsing: try RawClient.get("/api/audit", port: port).body)
            guard case .array(let entries)? = audit["audit"] else { return #expect(Bool(false)) }
            let actions = entries.map { ($0["by"]?.string ?? "") + " " + ($0["action"]?.string ?? "") }
            #expect(actions == ["Ben close", "somebody release", "Ana acknowledge"])
            let detail = try RawClient.get(path, port: port)
            #expect(detail.status == 200 && detail.body.contains("\"members\""))
            #expect(try RawClient.get("/api/incidents/none", port: port).status == 404)
        }
    }

    @Test("A stream is tried, and the log says who did it")
    func attempt() async throws {
        try await withIncident { port, _ in
            let tried = try send("POST", "/api/try?name=gone", #"{"by":"Ana"}"#, port: port)
            #expect(tried.json?["outcome"]?.string == "plays")
            #expect(try RawClient.get("/api/audit", port: port).body.contains("\"action\":\"try\""))
            #expect(try send("POST", "/api/try?name=other", "{}", port: port).status == 404)
            #expect(try send("POST", "/api/try", "{}", port: port).status == 400)
        }
    }

    @Test("Work is begun, planned and ended")
    func maintenance() async throws {
        try await withIncident { port, _ in
            let matchers = #""matchers":[{"label":"stream","value":"gone"}]"#
            let body = #"{"name":"encoder","for":"1h","by":"Ana",\#(matchers)}"#
            let made = try send("POST", "/api/maintenance", body, port: port)
            let id = try #require(made.json?["id"]?.string, "\(made)")
            let state = try JSONValue(parsing: try RawClient.get("/api/state", port: port).body)
            #expect(state["incidents"]?.elements?.map { $0["state"]?.string } == ["maintenance"])
            #expect(state["maintenance"]?.elements?.map { $0["by"]?.string } == ["Ana"])
            let stream = try JSONValue(parsing: try RawClient.get("/api/stream?name=gone", port: port).body)
            #expect(stream["hiding"]?.elements?.map { $0["id"]?.string } == [id])
            // A silence has another list.
            #expect(try !RawClient.get("/api/silences", port: port).body.contains(id))
            #expect(try send("DELETE", "/api/silences/\(id)", "", [], port: port).status == 404)
            #expect(try send("DELETE", "/api/maintenance/\(id)", "", [], port: port).status == 200)
            #expect(try send("DELETE", "/api/maintenance/\(id)", "", [], port: port).status == 404)
            let later = #"{"name":"all","begin":"2099-01-01T00:00:00Z","for":"1h"}"#
            #expect(try send("POST", "/api/maintenance", later, port: port).status == 400)
            let begin = ISO8601DateFormatter().string(from: Date().addingTimeInterval(3_600))
            let all = #"{"name":"all","begin":"\#(begin)","for":"1h"}"#
            #expect(try send("POST", "/api/maintenance", all, port: port).status == 200)
            let list = try JSONValue(parsing: try RawClient.get("/api/maintenance", port: port).body)
            let planned = try #require(list["maintenance"]?.elements?.first?["begins"]?.string)
            let time = wallTime(String(planned.prefix(19)) + "Z")
            #expect(abs(time.milliseconds - wallTime(begin).milliseconds) < 60_000)
        }
    }

    @Test(
        "A body of planned work that is wrong is refused with the reason",
        arguments: [
            (#"{"for":"1h"}"#, "`name`"), (#"{"name":"x"}"#, "`for` or `until`"),
            (#"{"name":"x","for":"1h","begin":"soon"}"#, "`begin`"),
            (#"{"name":"x","for":"1h","reason":"y"}"#, "reason"),
            (#"{"name":"x","for":"1h","matchers":[]}"#, "matchers"),
        ]
    )
    func wrongWork(_ body: String, _ word: String) async throws {
        try await withIncident { port, _ in
            let answer = try send("POST", "/api/maintenance", body, port: port)
            #expect(answer.status == 400 && answer.body.contains(word), "\(answer)")
        }
    }

    @Test("A silence is made and ended")
    func silence() async throws {
        try await withIncident { port, _ in
            let body = #"{"matchers":[{"label":"cdn","value":"al.*","isRegex":true}],"for":"1h","reason":"move"}"#
            let made = try send("POST", "/api/silences", body, port: port)
            let id = try #require(made.json?["id"]?.string, "\(made)")
            let silences = try RawClient.get("/api/silences", port: port).body
            #expect(silences.contains(id) && silences.contains("\"isRegex\":true"))
            #expect(try send("DELETE", "/api/silences/\(id)", "", [], port: port).status == 200)
            #expect(try send("DELETE", "/api/silences/\(id)", "", [], port: port).status == 404)
            #expect(try !RawClient.get("/api/silences", port: port).body.contains(id))
        }
    }

    @Test(
        "A body with a mistake is refused with what was expected",
        arguments: [
            ("nonsense", "must be a JSON object"), ("[]", "must be a JSON object"),
            (#"{"bye":"Ana"}"#, "unknown member `bye`"), (#"{"for":"2 hours"}"#, "must be a duration"),
            (#"{"for":"400d"}"#, "at most 366 days"), (#"{"until":"2020-01-01T00:00:00Z"}"#, "in the future"),
            (#"{"for":"1h","until":"2099-01-01T00:00:00Z"}"#, "contradicts"),
            (#"{"note":"a\u001b[31m"}"#, "without control characters"), (#"{"by":7}"#, "`by` must be a text"),
        ]
    )
    func mistakes(_ body: String, _ words: String) async throws {
        try await withIncident { port, id in
            let answer = try send("POST", "/api/incidents/\(id)/acknowledge", body, port: port)
            #expect(answer.status == 400)
            #expect(answer.body.contains(words), "\(answer.body)")
        }
    }

    @Test(
        "A silence needs matchers and an end",
        arguments: [
            #"{"for":"1h"}"#, #"{"matchers":[],"for":"1h"}"#, #"{"matchers":[{"label":"cdn","value":"a"}]}"#,
            #"{"matchers":[{"label":"","value":"a"}],"for":"1h"}"#,
            #"{"matchers":[{"label":"cdn","value":"a{2}","isRegex":true}],"for":"1h"}"#,
        ]
    )
    func incomplete(_ body: String) async throws {
        try await withIncident { port, _ in
            let answer = try send("POST", "/api/silences", body, port: port)
            #expect(answer.status == 400)
        }
    }

    @Test("A request that a page of another site may send does nothing")
    func foreignPages() async throws {
        try await withIncident { port, id in
            let path = "/api/incidents/\(id)/close"
            let json = "Content-Type: application/json"
            let cases: [([String], Int)] = [
                ([], 415), (["Content-Type: text/plain"], 415),
                (["Content-Type: application/x-www-form-urlencoded"], 415),
                ([json, json], 415), ([json, "Origin: http://evil.example"], 403), ([json, "Origin: null"], 403),
                ([json, "Origin: http://127.0.0.1:\(port + 1)"], 403), ([json, "Sec-Fetch-Site: cross-site"], 403),
                ([json, "Host: evil.example"], 421),
            ]
            for (headers, status) in cases {
                #expect(try send("POST", path, "{}", headers, port: port).status == status, "\(headers)")
            }
            let deleted = try send("DELETE", "/api/silences/x", "", ["Origin: http://evil.example"], port: port)
            #expect(deleted.status == 403)
            let ours = ["Content-Type: application/json; charset=utf-8", "Origin: http://127.0.0.1:\(port)"]
            #expect(try send("POST", path, "{}", ours, port: port).status == 200)
        }
    }

    @Test("Methods and sizes are limited")
    func limits() async throws {
        try await withIncident { port, id in
            let path = "/api/incidents/\(id)/acknowledge"
            let read = try RawClient.get(path, port: port)
            #expect(read.status == 405 && read.head.contains("Allow: POST"))
            #expect(try send("POST", "/api/state", "{}", port: port).status == 405)
            #expect(try send("PUT", path, "{}", port: port).status == 405)
            #expect(try send("DELETE", "/api/silences", "", [], port: port).status == 405)
            let large = "{\"note\":\"" + String(repeating: "x", count: 20_000) + "\"}"
            #expect(try send("POST", path, large, port: port).status == 413)
            #expect(try send("POST", "/api/incidents/unknown/close", "{}", port: port).status == 404)
        }
    }

    @Test("A token that may read reads, and one that may act acts under its own name")
    func roles() async throws {
        let settings = ServerConfiguration()
        settings.access.replace(tokens: [
            (ServerClient(name: "wall", role: .read), Array("reads".utf8)),
            (ServerClient(name: "ana", role: .act), Array("acts".utf8)),
        ])
        try await withIncident(settings) { port, id in
            let path = "/api/incidents/\(id)/acknowledge"
            let json = "Content-Type: application/json"
            #expect(try send("POST", path, "{}", port: port).status == 401)
            #expect(try send("POST", path, "{}", [json, "Authorization: Bearer other"], port: port).status == 401)
            let refused = try send("POST", path, "{}", [json, "Authorization: Bearer reads"], port: port)
            #expect(refused.status == 403 && refused.body.contains("`act`"))
            let state = try RawClient.get("/api/state", port: port, "Authorization: Bearer reads")
            #expect(try JSONValue(parsing: state.body)["role"]?.string == "read")
            let done = try send("POST", path, #"{"by":"Eve"}"#, [json, "Authorization: Bearer acts"], port: port)
            #expect(done.status == 200)
            #expect(done.json?["by"]?.string == "ana")
        }
    }

    @Test("A reverse proxy names people, if the configuration names the proxy")
    func proxy() async throws {
        let settings = ServerConfiguration()
        let here = try #require(AddressRange("127.0.0.0/8"))
        let proxy = AccessSettings.Proxy(header: "X-Forwarded-User", addresses: [here], role: .act)
        settings.access.replace(tokens: [], proxy: proxy, link: try HTTPURL("https://monitor.example/"))
        try await withIncident(settings) { port, id in
            let path = "/api/incidents/\(id)/acknowledge"
            let json = "Content-Type: application/json"
            let page = "Host: monitor.example"
            let unnamed = try send("POST", path, "{}", [json, page], port: port)
            #expect(unnamed.status == 401)
            let twice = [json, page, "X-Forwarded-User: ana", "X-Forwarded-User: eve"]
            #expect(try send("POST", path, "{}", twice, port: port).status == 401)
            // A page of another site that reaches this machine under its own name.
            let rebound = [json, "Host: evil.example", "X-Forwarded-User: ana"]
            #expect(try send("POST", path, "{}", rebound, port: port).status == 421)
            let named = [json, page, "Origin: https://monitor.example", "X-Forwarded-User: ana"]
            #expect(try send("POST", path, "{}", named, port: port).json?["by"]?.string == "ana")
        }
        let elsewhere = try #require(AddressRange("192.0.2.0/24"))
        settings.access.replace(
            tokens: [],
            proxy: AccessSettings.Proxy(header: "X-Forwarded-User", addresses: [elsewhere], role: .act)
        )
        try await withIncident(settings) { port, id in
            let headers = ["Content-Type: application/json", "X-Forwarded-User: ana"]
            let answer = try send("POST", "/api/incidents/\(id)/close", "{}", headers, port: port)
            #expect(answer.status == 401)
        }
    }
}
