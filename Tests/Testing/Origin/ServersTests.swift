import Foundation
import Instrument
import InstrumentHTTP
import InstrumentManifests
import NIOCore
import Testing

@testable import InstrumentOrigin

@Suite("Several servers, steering and clocks of the origin")
struct ServersTests {
    private static let now = WallTime(milliseconds: 784_111_777_250)

    private func text(_ path: String, _ query: String = "") async throws -> String {
        let resource = try await resource(path, query)
        let body = try #require(resource?.body)
        return String(decoding: try #require(body.bytes(at: 0, count: body.count)).readableBytesView, as: UTF8.self)
    }

    private func resource(_ path: String, _ query: String = "") async throws -> Resource? {
        let site = try Site([.fixtures(try await SharedFixtures.get())])
        let moment = Moment(now: Self.now, originStart: Self.now, sessionStart: Self.now)
        return site.resource(at: path, query: query, base: "http://origin.test/", moment: moment)
    }

    private func presentation(_ path: String, _ query: String = "") async throws -> Presentation {
        let url = try HTTPURL("http://origin.test" + path)
        return try Presentation(parsing: Array(try await text(path, query).utf8), at: url, now: Self.now)
    }

    @Test(
        "A playlist with the highest variant first has the same variants as the other one",
        arguments: ["ts", "ts6", "fmp4"]
    )
    func descending(packaging: String) async throws {
        let (plain, other) = (
            try await text("/vod/\(packaging)/master.m3u8"), try await text("/vod/\(packaging)/descending.m3u8")
        )
        #expect(plain != other && Set(plain.split(separator: "\n")) == Set(other.split(separator: "\n")))
        func order(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { $0.hasPrefix("v") }
        }
        #expect(
            order(plain) == ["v0.m3u8", "v1.m3u8", "v2.m3u8"] && order(other) == ["v2.m3u8", "v1.m3u8", "v0.m3u8"]
        )
        let presentation = try await presentation("/vod/\(packaging)/descending.m3u8")
        let first = presentation.variants.first { $0.id == presentation.firstListedVariant }
        #expect(first?.resolution == Resolution(width: 854, height: 480))
    }

    @Test("Playlists and manifests name both servers, under which the same resources are")
    func servers() async throws {
        for path in ["/vod/ts/servers.m3u8", "/vod/fmp4/servers.m3u8", "/vod/dash/servers.mpd"] {
            let presentation = try await presentation(path)
            #expect(!presentation.locations.isEmpty && presentation.locations.allSatisfy { $0.locations.count == 2 })
            #expect(presentation.variants.count == 3 && presentation.notices.isEmpty, "\(presentation.notices)")
        }
        let (mirrored, plain) = (try await text("/server/b/vod/ts/v0.m3u8"), try await text("/vod/ts/v0.m3u8"))
        #expect(mirrored == plain)
        #expect(try await resource("/server/a/vod/fmp4/v0/init.mp4") != nil)
        for path in ["/server/a", "/server//vod/ts/v0.m3u8", "/server/a/server/a/vod/ts/v0.m3u8"] {
            #expect(try await resource(path) == nil, "\(path)")
        }
    }

    @Test("The answers of the steering server change the order after the number in the address")
    func steering() async throws {
        let hls = try await presentation("/vod/ts/steering.m3u8", "change=1&ttl=3")
        #expect(hls.steering?.url?.description == "http://origin.test/steering/1/3/priority.json")
        let dash = try await presentation("/vod/dash/steering.mpd")
        #expect(dash.steering?.url?.description == "http://origin.test/steering/1/2/priority.json")
        let url = try HTTPURL("http://origin.test/steering/1/3/priority.json")
        let first = try SteeringManifest(parsing: Array(try await text(url.path).utf8), at: url)
        #expect(first.priority == ["a", "b"] && first.timeToLive == 3_000_000_000)
        let next = try #require(first.reloadURL)
        #expect(next.description == "http://origin.test/steering/0/3/priority.json")
        let second = try SteeringManifest(parsing: Array(try await text(next.path).utf8), at: next)
        #expect(second.priority == ["b", "a"] && second.reloadURL == nil)
        for path in ["-1/3", "1/0", "1/x", "1", "1/3/4"] {
            #expect(try await resource("/steering/\(path)/priority.json") == nil, "\(path)")
        }
    }

    @Test("A live MPD names the server's clock, which tells the origin's time", arguments: ["iso", "xsdate", "head"])
    func clocks(name: String) async throws {
        let presentation = try await presentation("/live/dash/clock-\(name).mpd")
        let source = try #require(presentation.clockSources.first)
        #expect(source.url.description == "http://origin.test/time/\(name)")
        #expect(source.method == (name == "head" ? .dateHeader : .body))
        let answer = try #require(try await resource("/time/\(name)"))
        #expect(answer.headers == ["Date: Sun, 06 Nov 1994 08:49:37 GMT"])
        if name != "head" {
            let body = try #require(answer.body.bytes(at: 0, count: answer.body.count))
            #expect(ClockSource.time(inBody: Array(body.readableBytesView)) == Self.now)
        }
        for path in ["/time/direct", "/live/dash/clock-direct.mpd"] { #expect(try await resource(path) == nil) }
    }
}
