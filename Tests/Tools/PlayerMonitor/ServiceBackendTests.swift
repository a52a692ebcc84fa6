import Foundation
import Instrument
import InstrumentCompression
import InstrumentJSON
import LoopbackServers
import Testing

extension CommandLineTests {
    @Test("A playback is posted to a clickstream, in batches of at most ten")
    func clickstream() throws {
        let server = try TestServer { _ in [.respond("204 No Content")] }
        let run = try Run.playerMonitor(
            "play",
            "--speed",
            "max",
            "--backend",
            "clickstream:" + server.url("/in"),
            Sample.path
        )
        #expect(run.status == 0)
        var names: [String] = []
        for request in server.requests {
            #expect(request.head.hasPrefix("POST /in HTTP/1.1\r\n"))
            #expect(request.header("User-Agent") == "player-monitor/" + InstrumentVersion.current)
            guard case .array(let actions) = try JSONValue(parsing: request.body) else { continue }
            #expect(actions.count <= 10)
            names += actions.compactMap { $0["name"]?.string }
        }
        for name in ["TrackerInit", "Start", "QualityChangeUp", "End", "NumPlays"] { #expect(names.contains(name)) }
    }

    @Test("A playback is sent to Sift with credentials from the environment or a file, which are never printed")
    func sift() throws {
        let server = try TestServer { _ in [.respond("200 OK")] }
        let file = NSTemporaryDirectory() + "instrument-\(UUID().uuidString)"
        try Data("acc:the-key\n".utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        for place in ["SIFT_KEYS", "file:" + file] {
            let run = try Run.playerMonitor(
                "play",
                "--speed",
                "max",
                "--backend",
                "sift:" + server.url(),
                "--credentials-from",
                place,
                Sample.path,
                environment: ["SIFT_KEYS": "acc:the-key"]
            )
            #expect(run.status == 0)
            #expect(!(run.output + run.errors).contains("the-key"))
            let request = try #require(server.requests.last)
            #expect(request.head.hasPrefix("PUT /v3/accounts/acc/mobile_events HTTP/1.1\r\n"))
            #expect(request.header("Authorization") == "Basic " + Data("the-key".utf8).base64EncodedString())
            var gunzip = Gunzip()
            var body: [UInt8] = []
            try gunzip.unpack(request.body) { body += $0 }
            guard case .array(let events)? = try JSONValue(parsing: body)["data"] else { continue }
            #expect(events.contains { $0["mobile_event_type"]?.string == "End" })
        }
    }

    @Test(
        "Missing credentials end the run with a message that does not repeat them",
        arguments: [["--credentials-from", "acc:the-key"], ["--credentials-from", "file:/no/the-key"], []]
    )
    func missingKeys(options: [String]) throws {
        let run = try Run.playerMonitor(
            "play",
            "--backend",
            "sift:http://127.0.0.1:1",
            options.first ?? "-q",
            options.last ?? "-q",
            Sample.path
        )
        #expect(run.status == 2)
        #expect(run.errors.contains("credentials-from"))
        #expect(!run.errors.contains("the-key"))
    }

    @Test(
        "An invalid URL is refused",
        arguments: ["sift:", "sift:h", "clickstream:", "clickstream:ftp://h", "sift"]
    )
    func badAddress(backend: String) throws {
        #expect(try Run.playerMonitor("play", "--backend", backend, Sample.path).status == 2)
    }
}
