import Foundation
import Instrument
import LoopbackServers
import NIOCore
import TestTraits
import Testing

@testable import InstrumentOrigin

@Suite("The origin", .ownThread, .timeLimit(.minutes(30)))
struct ServerTests {
    private func withOrigin(
        _ schedule: String = "unlimited",
        faults: [String] = [],
        configuration: OriginConfiguration = OriginConfiguration(),
        files: [String] = [],
        _ body: (Origin) async throws -> Void
    ) async throws {
        let origin = try await Origin.start(
            media: [.fixtures(try await SharedFixtures.get())] + files.map(ServedMedia.files),
            schedule: DeliverySchedule(schedule),
            faults: faults.map { try FaultRule($0) },
            configuration: configuration
        )
        do { try await body(origin) } catch {
            await origin.stop()
            throw error
        }
        await origin.stop()
    }

    private static let segment = "/vod/ts/v0/1.ts"

    private func wholeSegment() async throws -> [UInt8] {
        let fixtures = try await SharedFixtures.get()
        let body = try #require(fixtures.track("v0", .transport)?.body(1))
        return Array(try #require(body.bytes(at: 0, count: body.count)).readableBytesView)
    }

    @Test("One connection serves consecutive requests for a whole body, a range, or only a head")
    func keepAlive() async throws {
        let whole = try await wholeSegment()
        try await withOrigin { origin in
            let port = origin.port
            let answers = try await blocking {
                let client = try RawClient(port: port)
                return [
                    client.get(Self.segment), client.get(Self.segment, headers: "Range: bytes=188-375\r\n"),
                    client.get(Self.segment, method: "HEAD"), client.get(Self.segment, headers: "Range: bytes=-10\r\n"),
                    client.get(Self.segment, headers: "Range: bytes=9999999-\r\n"), client.get("/nothing"),
                    client.get("/favicon.ico"), client.get("/", method: "OPTIONS"), client.get("/"),
                ]
            }
            #expect(answers.map(\.status) == [200, 206, 200, 206, 416, 404, 200, 204, 200])
            #expect(answers[0].body == whole && answers[0].header("Content-Type") == "video/mp2t")
            #expect(answers[0].header("Access-Control-Allow-Origin") == "*")
            #expect(answers[1].body == Array(whole[188..<376]))
            #expect(answers[1].header("Content-Range") == "bytes 188-375/\(whole.count)")
            #expect(answers[2].body.isEmpty && answers[2].header("Content-Length") == "\(whole.count)")
            #expect(answers[3].body == Array(whole.suffix(10)))
            #expect(answers[4].header("Content-Range") == "bytes */\(whole.count)")
            #expect(answers[7].header("Access-Control-Allow-Methods") == "GET, HEAD, POST, OPTIONS")
            #expect(answers[8].text.contains("href=\"vod/ts/master.m3u8\""))
            #expect(Set(origin.requests.map(\.connection)) == [1])
        }
    }

    @Test("The log has a complete record of each request when the client has the last byte")
    func log() async throws {
        try await withOrigin { origin in
            let size = Fixtures.variants[0].transportSegmentLength
            for _ in 0..<20 {
                let answer = try await fetch(
                    origin.port,
                    "/s/a" + Self.segment + "?x=1",
                    headers: "Range: bytes=10-\r\n"
                )
                let record = try #require(origin.requests.last)
                #expect(answer.status == 206 && record.status == 206 && record.bytes == size - 10)
                #expect(record.session == "a" && record.path == Self.segment && record.query == "x=1")
                #expect(record.range == "bytes=10-" && record.method == "GET" && record.outcome == .complete)
                let first = try #require(record.firstByte)
                let last = try #require(record.lastByte)
                #expect(record.start <= first && first <= last && record.start <= record.sinceOriginStart)
            }
            #expect(origin.requests.map(\.number) == Array(1...20) && origin.requests(of: "b").isEmpty)
            #expect(origin.requests[0].start == .zero)
            let lines = try await fetch(origin.port, "/requests").text.split(separator: "\n")
            // Without the one that asks.
            #expect(lines.count == 20)
            let last = try #require(lines.last)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: any Sendable])
            #expect(json["path"] as? String == Self.segment && json["bytes"] as? Int == size - 10)
        }
    }

    @Test("The origin's own pages have no schedule and no faults, and start no session's time")
    func ownPages() async throws {
        try await withOrigin("0", faults: ["500 nth 1"]) { origin in
            for path in ["/", "/requests", "/favicon.ico", "/s/a/"] {
                #expect(try await fetch(origin.port, path).status == 200)
            }
            let answer = try await fetch(origin.port, "/vod/ts/master.m3u8") {
                origin.requests.last?.status == 500
            }
            #expect(answer.status == 500 && answer.ending == .silence)
            #expect(origin.requests.last?.start == .zero && origin.requests.last?.rule == 0)
        }
    }

    @Test("Status 204 has no body")
    func noContent() async throws {
        try await withOrigin(faults: ["204", "304"]) { origin in
            let port = origin.port
            let answers = try await blocking {
                let client = try RawClient(port: port)
                return [client.get(Self.segment), client.get(Self.segment), client.get("/favicon.ico")]
            }
            #expect(answers.map(\.status) == [204, 204, 200] && answers[0].header("Content-Length") == nil)
        }
    }

    @Test("A full log removes the oldest record")
    func forgetting() async throws {
        var configuration = OriginConfiguration()
        configuration.rememberedRequests = 3
        try await withOrigin(configuration: configuration) { origin in
            for _ in 0..<11 { _ = try await fetch(origin.port, "/favicon.ico") }
            #expect(origin.requests.map(\.number) == [9, 10, 11])
            #expect(origin.requests.map(\.outcome) == [.complete, .complete, .complete])
        }
    }

    @Test("A rule sends its status and retry time to the matching requests only")
    func statuses() async throws {
        let faults = ["404 on *v0/1.ts nth 2", "503 retry-after 1500ms on *v0/2.ts first 1", "500 on *v0/3.ts"]
        try await withOrigin(faults: faults) { origin in
            func status(_ path: String) async throws -> Int { try await fetch(origin.port, path).status }
            #expect(try await [status(Self.segment), status(Self.segment), status(Self.segment)] == [200, 404, 200])
            let busy = try await fetch(origin.port, "/vod/ts/v0/2.ts")
            #expect(busy.status == 503 && busy.header("Retry-After") == "2")
            #expect(try await [status("/vod/ts/v0/2.ts"), status("/vod/ts/v0/3.ts")] == [200, 500])
            // Another session counts for itself.
            #expect(try await [status("/s/b" + Self.segment), status("/s/b" + Self.segment)] == [200, 404])
            #expect(origin.requests.map(\.rule) == [nil, 0, nil, 1, nil, 2, nil, 0])
            origin.setFaults([])
            #expect(try await status("/vod/ts/v0/3.ts") == 200)
        }
    }

    @Test("A reset fault resets the connection before the head or after exactly the given number of bytes")
    func resets() async throws {
        let whole = try await wholeSegment()
        try await withOrigin(faults: ["reset nth 1", "reset after 5000 nth 2"]) { origin in
            _ = try await fetch(origin.port, Self.segment, method: "OPTIONS")
            let before = try await fetch(origin.port, "/vod/not-there")
            #expect(before.ending == .reset && before.head.isEmpty)
            let after = try await fetch(origin.port, Self.segment)
            #expect(after.ending == .reset && after.header("Content-Length") == "\(whole.count)")
            #expect(after.body == Array(whole[..<5000]))
            #expect(origin.requests.map(\.outcome) == [.complete, .cut, .cut])
            #expect(origin.requests.map(\.bytes) == [0, 0, 5000] && origin.requests.map(\.status) == [204, 0, 200])
        }
    }

    @Test("A hanging response sends nothing more and keeps the connection open")
    func hangs() async throws {
        try await withOrigin(faults: ["hang nth 1", "hang after 700 nth 2", "hang after 0 nth 3"]) { origin in
            let (first, second, third) = try await (
                fetch(origin.port, Self.segment) { origin.requests.map(\.outcome) == [.hanging] },
                fetch(origin.port, Self.segment) { origin.requests.map(\.outcome) == [.hanging, .hanging] },
                fetch(origin.port, Self.segment) { origin.requests.count(where: { $0.outcome == .hanging }) == 3 }
            )
            #expect(first.head.isEmpty && first.ending == .silence)
            #expect(second.body.count == 700 && second.ending == .silence)
            #expect(third.status == 200 && third.body.isEmpty && third.ending == .silence)
            #expect(origin.requests.map(\.outcome) == [.hanging, .hanging, .hanging])
        }
    }

    @Test("A fault of the length sends the wrong length")
    func lengths() async throws {
        let whole = try await wholeSegment()
        try await withOrigin(faults: ["truncate after 900 nth 1", "understate by 100 nth 2"]) { origin in
            let short = try await fetch(origin.port, Self.segment)
            #expect(short.header("Content-Length") == "\(whole.count)")
            #expect(short.body == Array(whole[..<900]) && short.ending == .closed)
            let port = origin.port
            let (long, rest) = try await blocking {
                let client = try RawClient(port: port)
                return (client.get(Self.segment), client.rest())
            }
            #expect(long.header("Content-Length") == "\(whole.count - 100)" && long.body.count == whole.count - 100)
            #expect(rest.bytes == Array(whole.suffix(100)) && rest.ending == .closed)
            #expect(origin.requests.map(\.outcome) == [.cut, .complete])
        }
    }

    @Test("Faults replace the content or the type, or redirect")
    func content() async throws {
        let faults = [
            "html on *.m3u8 nth 1", "content-type text/plain on *.m3u8 nth 2", "body of vod/ts/v1/0.ts on *v0/0.ts",
            "redirect to vod/ts/v1/0.ts on *v0/1.ts", "redirect loop on *v0/2.ts nth 1",
        ]
        try await withOrigin(faults: faults) { origin in
            let page = try await fetch(origin.port, "/vod/ts/master.m3u8")
            #expect(page.status == 200 && page.text.contains("<html") == false && page.text.contains("<!doctype html>"))
            let plain = try await fetch(origin.port, "/vod/ts/master.m3u8")
            #expect(plain.header("Content-Type") == "text/plain" && plain.text.hasPrefix("#EXTM3U"))
            let other = try await fetch(origin.port, "/vod/ts/v0/0.ts")
            #expect(other.body.count == Fixtures.variants[1].transportSegmentLength)
            let elsewhere = try await fetch(origin.port, "/s/x/vod/ts/v0/1.ts")
            #expect(elsewhere.status == 302 && elsewhere.header("Location") == "/s/x/vod/ts/v1/0.ts")
            let again = try await fetch(origin.port, "/s/x/vod/ts/v0/2.ts")
            #expect(again.status == 302 && again.header("Location") == "/s/x/vod/ts/v0/2.ts")
            #expect(try await fetch(origin.port, "/s/x/vod/ts/v0/2.ts").status == 200)
            // The name of a session cannot break out of the header.
            let odd = try await fetch(origin.port, "/s/x%0D%0AEvil:%201/vod/ts/v0/1.ts")
            #expect(odd.header("Location") == "/s/x%0D%0AEvil:%201/vod/ts/v1/0.ts" && odd.header("Evil") == nil)
        }
    }

    @Test("An endless playlist continues until its client closes the connection")
    func endless() async throws {
        try await withOrigin(faults: ["endless"]) { origin in
            let answer = try await fetch(origin.port, "/vod/ts/master.m3u8", limit: 3_000_000)
            #expect(answer.header("Content-Length") == nil && answer.body.count == 3_000_000)
            #expect(answer.text.hasPrefix("#EXTM3U\n# "))
            try await until { origin.requests[0].outcome == .aborted && origin.connectionCount == 0 }
        }
    }

    @Test("The origin serves files of its folders and no file outside")
    func files() async throws {
        let manager = FileManager.default
        let root = manager.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? manager.removeItem(atPath: root) }
        try manager.createDirectory(atPath: root + "/media/sub dir", withIntermediateDirectories: true)
        let film = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(manager.createFile(atPath: root + "/media/sub dir/film.mp4", contents: Data(film)))
        #expect(manager.createFile(atPath: root + "/media/.hidden", contents: Data(film)))
        #expect(manager.createFile(atPath: root + "/secret", contents: Data("secret".utf8)))
        try manager.createSymbolicLink(atPath: root + "/media/link", withDestinationPath: root + "/secret")
        try await withOrigin(files: [root + "/media"]) { origin in
            let answer = try await fetch(origin.port, "/media/sub%20dir/film.mp4", headers: "Range: bytes=100000-\r\n")
            #expect(answer.body == Array(film[100_000...]) && answer.header("Content-Type") == "video/mp4")
            let outside = [
                "/media/../secret", "/media/%2e%2e/secret", "/media/sub%20dir/../../secret", "/media/..%2fsecret",
                "/media/link",
                "/media/.hidden", "/media//etc/passwd", "/media/", "/media", "/media/sub%20dir", "/../secret",
                "/media/./film.mp4",
            ]
            for path in outside { #expect(try await fetch(origin.port, path).status == 404, "\(path)") }
            #expect(origin.catalogue.contains { $0.path == "media/sub dir/film.mp4" })
        }
        await #expect(throws: OriginError.self) { _ = try await Origin.start(media: [.files(root + "/nothing")]) }
    }

    @Test("An invalid request gets an error and a closed connection, and so does a flood of requests")
    func badRequests() async throws {
        try await withOrigin { origin in
            let port = origin.port
            let texts = [
                "nonsense\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET /" + String(repeating: "a", count: 20_000) + "\r\n",
            ]
            let statuses = try await blocking {
                try texts.map { text in
                    let client = try RawClient(port: port)
                    client.send(text)
                    let answer = client.receive()
                    return (answer.status, client.rest().ending)
                }
            }
            #expect(statuses.map(\.0) == [400, 505, 431])
            #expect(statuses.allSatisfy { $0.1 == .closed || $0.1 == .reset })
            #expect(try await fetch(port, "/", method: "POST", headers: "Content-Length: 0\r\n").status == 405)
        }
    }

    @Test("Pipelined requests are answered in order")
    func pipelining() async throws {
        try await withOrigin { origin in
            let port = origin.port
            let statuses = try await blocking {
                let client = try RawClient(port: port)
                let requests = ["/favicon.ico", "/x"].map { "GET \($0) HTTP/1.1\r\nHost: test\r\n\r\n" }
                client.send(String(repeating: requests.joined(), count: 200))
                return (0..<400).map { _ in client.receive().status }
            }
            #expect(statuses == (0..<400).map { $0 % 2 == 0 ? 200 : 404 })
        }
    }

    @Test("A client that sends many requests and reads no answer is not answered ahead")
    func neverReads() async throws {
        try await withOrigin { origin in
            let port = origin.port
            // As many as the origin takes at once, each for a page of which a few hundred fill every buffer.
            let request = "GET /requests HTTP/1.1\r\nHost: test\r\n\r\n"
            let pad = String(repeating: "x", count: 10_000)
            for number in 0..<20 { _ = try await fetch(port, "/\(number)?\(pad)") }
            let count = 2_000
            let received = try await blocking {
                let client = try RawClient(port: port)
                client.send(String(repeating: request, count: count))
                // Another connection is answered, and the first one waits for its client.
                let other = try RawClient(port: port)
                other.send("GET /favicon.ico HTTP/1.1\r\nHost: test\r\n\r\n")
                #expect(other.receive().status == 200)
                let answered = origin.requests.count { $0.path == "/requests" }
                #expect(answered < count / 2, "\(answered) answers of 200 kB each to a client that reads nothing")
                return (0..<max(answered, 5)).map { _ in client.receive().status }
            }
            #expect(received.allSatisfy { $0 == 200 })
        }
    }

    @Test("The error for a used port names the port")
    func taken() async throws {
        try await withOrigin { origin in
            var configuration = OriginConfiguration()
            configuration.port = origin.port
            let error = await #expect(throws: OriginError.self) {
                _ = try await Origin.start(configuration: configuration)
            }
            #expect(error?.code == .cannotListen)
        }
    }

    @Test("A stop closes active connections, and may be repeated")
    func stopping() async throws {
        try await withOrigin("8k") { origin in
            async let answer = fetch(origin.port, Self.segment)
            try await until { !origin.requests.isEmpty }
            await origin.stop()
            #expect(try await answer.body.count < 10_000)
            #expect(origin.requests[0].outcome == .aborted)
        }
    }
}

/// Waits for what another thread does; the test's time limit ends it if that never comes.
///
/// Checks every millisecond, by a clock that needs no thread of Swift's pool, because the origin does not report
/// requests.
func until(_ condition: () -> Bool) async throws {
    while !condition() { try await SystemClock().sleep(for: .milliseconds(1)) }
}
