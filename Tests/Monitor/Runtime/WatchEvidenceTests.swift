import Foundation
import Instrument
import InstrumentJSON
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

/// `watch` beside an origin whose media is black.
@Suite("Evidence of watch", .ownThread, .timeLimit(.minutes(30)))
struct WatchEvidenceTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// The evidence of the finding `black`, once there are three pieces.
    private func evidence(port: Int) async throws -> [JSONValue] {
        while true {
            let json = try JSONValue(parsing: try RawClient.get("/api/stream?name=studio", port: port).body)
            if case .array(let checks)? = json["checks"],
                case .array(let pieces)? = checks.first(where: { $0["rule"]?.string == "black" })?["evidence"],
                pieces.count == 3
            {
                return pieces
            }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
    }

    @Test("A black stream leaves evidence without secrets, which survives kill -9, and is checked when somebody asks")
    func black() async throws {
        let media = scratch.file("media")
        try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: true)
        let made = try await command([
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=black:size=640x360:rate=25:duration=8", "-c:v",
            "libx264",
            "-preset", "ultrafast", "-g", "25", "-f", "hls", "-hls_time", "2", "-hls_list_size", "0",
            "-hls_playlist_type", "vod", media + "/a.m3u8",
        ])
        try #require(made.status == 0, "\(made)")
        _ = try scratch.write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000\na.m3u8?token=LISTSECRET\n", "media/m.m3u8")
        let origin = try await Origin.start(media: [.files(media)])
        do { try await watch(origin) } catch {
            await origin.stop()
            throw error
        }
        await origin.stop()
    }

    /// The request that failed, once there is one.
    private func request(port: Int) async throws -> JSONValue {
        while true {
            let json = try JSONValue(parsing: try RawClient.get("/api/stream?name=gone", port: port).body)
            if let piece = json["evidence"]?.elements?.first { return piece }
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
    }

    @Test("The request that failed is evidence without secrets, and the same after kill -9")
    func failedRequest() async throws {
        let origin = try await Origin.start(media: [])
        do { try await watchMissing(origin) } catch {
            await origin.stop()
            throw error
        }
        await origin.stop()
    }

    private func watchMissing(_ origin: Origin) async throws {
        let file = try scratch.write(
            """
            streams:
              - name: gone
                url: "\(origin.url("missing/m.m3u8", session: "a"))?key=URLSECRET"
                continuous: true
            """,
            "m.yaml"
        )
        let arguments = ["--listen", "127.0.0.1:0", "--state", scratch.file("state"), file]
        let first = try RunningWatch(arguments)
        let piece = try await request(port: await first.port())
        let text = try #require(piece["text"]?.string)
        #expect(text.hasPrefix("curl -sv -o /dev/null 'http://127.0.0.1:") && text.hasSuffix("/missing/m.m3u8'"))
        let href = try #require(piece["href"]?.string)
        let archive = try RawClient.get(href, port: await first.port())
        #expect(archive.status == 200 && archive.body.contains("\"status\":404"), "\(archive.body)")
        first.send(SIGKILL)
        _ = await first.waitUntilExit()
        let second = try RunningWatch(arguments)
        let port = await second.port()
        #expect(try RawClient.get(href, port: port).body == archive.body)
        let json = try JSONValue(parsing: try RawClient.get("/api/stream?name=gone", port: port).body)
        #expect(json["evidence"]?.elements?.count == 1)
        second.send(SIGTERM)
        #expect(await second.waitUntilExit() == 0, "\(second.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("state/evidence"))
        #expect(!names.isEmpty)
        for name in names {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("state/evidence/\(name)")))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("SECRET"))
        }
    }

    private func watch(_ origin: Origin) async throws {
        let file = try scratch.write(
            """
            streams:
              - name: studio
                url: "\(origin.url("media/m.m3u8", session: "a"))?key=URLSECRET"
                continuous: true
                checks: { black: 3s }
            """,
            "m.yaml"
        )
        let arguments = ["--listen", "127.0.0.1:0", "--state", scratch.file("state"), file]
        let first = try RunningWatch(arguments)
        let port = await first.port()
        let pieces = try await evidence(port: port)
        #expect(pieces.map { $0["kind"]?.string } == ["picture", "playlist", "segment"])
        var contents: [String: String] = [:]
        for piece in pieces {
            let href = try #require(piece["href"]?.string)
            let answer = try RawClient.get(href, port: port)
            #expect(answer.status == 200)
            contents[href] = answer.body
            #expect(!answer.body.contains("SECRET") && !(piece["text"]?.string ?? "").contains("SECRET"))
        }
        // The state file has the finding some seconds later.
        let state = scratch.file("state/monitor.json")
        while !((try? String(contentsOfFile: state, encoding: .utf8)) ?? "").contains("\"rule\":\"black\"") {
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
        first.send(SIGKILL)
        _ = await first.waitUntilExit()
        let second = try RunningWatch(arguments)
        let later = await second.port()
        let json = try JSONValue(parsing: try RawClient.get("/api/stream?name=studio", port: later).body)
        #expect(json["broken"] == ["black"])
        for (href, content) in contents { #expect(try RawClient.get(href, port: later).body == content) }
        let client = try RawClient(port: later)
        client.send(
            "POST /api/check?name=studio HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                + "Connection: close\r\n\r\n{}"
        )
        #expect(client.read().hasPrefix("HTTP/1.1 202 "))
        // The check ends.
        while try JSONValue(parsing: try RawClient.get("/api/stream?name=studio", port: later).body)["checking"] != nil
        {
            try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        }
        second.send(SIGTERM)
        #expect(await second.waitUntilExit() == 0, "\(second.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("state/evidence"))
        #expect(names.count == 3)
        for name in names {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("state/evidence/\(name)")))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("SECRET"))
        }
    }
}
