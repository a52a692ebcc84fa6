import Instrument
import InstrumentHTTP
import InstrumentManifests
import InstrumentRules
import TestTraits
import Testing

@testable import InstrumentCheck

/// A server of several that fails is one finding, and what the others have is judged.
@Suite("Servers that fail", .ownThread, .timeLimit(.minutes(30)))
struct ServerFailureTests {
    private static func check(
        _ path: String,
        segments: Int = 6,
        _ change: @escaping @Sendable (inout HTTPResponse) -> Void
    ) async throws -> StreamCheckReport {
        try await RuleTableTests.check(path, change: change, configure: { $0.segmentCount = segments })
    }

    private static func found(_ report: StreamCheckReport) -> [String] {
        report.findings.map { "\($0.rule) \($0.resource.replacing("http://origin.example", with: ""))" }
    }

    private static func fail(_ response: inout HTTPResponse, with status: Int) {
        (response.status, response.body) = (status, [])
        // A server without the resource, which answers with a page.
        if status == 200 { response.body = Array("<!doctype html><html>Sorry</html>".utf8) }
    }

    // MARK: DASH

    @Test(
        "The first server of an MPD fails: one finding, and the media of the second one are judged",
        arguments: [404, 403, 503, 200]
    )
    func firstServer(status: Int) async throws {
        let report = try await Self.check("vod/dash/servers.mpd") { response in
            if response.url.path.hasPrefix("/server/a/") { Self.fail(&response, with: status) }
        }
        #expect(Self.found(report) == ["segment-unavailable /server/a/"], "\(report.findings.map(\.message))")
        let words = try #require(report.findings.first?.problem.found)
        let reason = status == 200 ? "an HTML page" : "status \(status)"
        #expect(words.hasPrefix("\(reason) for http://origin.example/server/a/vod/dash/"), "\(words)")
        #expect(report.outcome == .findings && report.emptiness == nil)
        #expect(report.readSegmentCount == report.segmentCount && report.readSegmentCount >= 30)
    }

    @Test("The second server of an MPD is asked for one segment", arguments: [404, 503, 200])
    func secondServer(status: Int) async throws {
        let report = try await Self.check("vod/dash/servers.mpd") { response in
            if response.url.path.hasPrefix("/server/b/") { Self.fail(&response, with: status) }
        }
        #expect(Self.found(report) == ["segment-unavailable /server/b/"], "\(report.findings.map(\.message))")
        #expect(report.findings.first?.count == 1 && report.readSegmentCount >= 30)
    }

    @Test("Servers that all fail are one finding each, and nothing to check", arguments: [404, 503, 200])
    func allServers(status: Int) async throws {
        let report = try await Self.check("vod/dash/servers.mpd") { response in
            if response.url.path.hasPrefix("/server/") { Self.fail(&response, with: status) }
        }
        let expected = ["segment-unavailable /server/a/", "segment-unavailable /server/b/"]
        #expect(Self.found(report).sorted() == expected, "\(report.findings.map(\.message))")
        #expect(report.emptiness != nil)
    }

    @Test("A segment that one of two servers lacks is a fault of the server")
    func segmentOfOneServer() async throws {
        let report = try await Self.check("vod/dash/servers.mpd") { response in
            if response.url.path.hasSuffix("/server/a/vod/dash/v1/2.m4s") { Self.fail(&response, with: 404) }
        }
        #expect(Self.found(report) == ["segment-unavailable /server/a/"], "\(report.findings.map(\.message))")
        #expect(report.findings.first?.problem.found.hasSuffix("/server/a/vod/dash/v1/2.m4s") == true)
        #expect(report.readSegmentCount == report.segmentCount)
    }

    @Test("A segment that no server has is a fault of the segment", arguments: [404, 200])
    func segmentOfNoServer(status: Int) async throws {
        let report = try await Self.check("vod/dash/servers.mpd") { response in
            if response.url.path.hasSuffix("/vod/dash/v1/2.m4s") { Self.fail(&response, with: status) }
        }
        let rule = status == 404 ? "segment-unavailable" : "segment-unreadable"
        #expect(Self.found(report) == ["\(rule) /server/a/vod/dash/v1/2.m4s"], "\(report.findings.map(\.message))")
        #expect(report.readSegmentCount >= 29)
    }

    @Test("An initialization segment that one server lacks is a fault of the server", arguments: [404, 200])
    func initialization(status: Int) async throws {
        let report = try await Self.check("vod/dash/servers.mpd") { response in
            let path = response.url.path
            if path.hasPrefix("/server/a/"), path.hasSuffix("/init.mp4") { Self.fail(&response, with: status) }
        }
        #expect(Self.found(report) == ["segment-unavailable /server/a/"], "\(report.findings.map(\.message))")
        #expect(report.readSegmentCount == report.segmentCount && report.readSegmentCount >= 30)
    }

    @Test("The index of a file is read from the server that has it", arguments: [404, 200])
    func index(status: Int) async throws {
        func check(_ dead: [String]) async throws -> StreamCheckReport {
            try await Self.check("vod/dash/base.mpd") { response in
                let path = response.url.path
                if path.hasSuffix(".mpd") {
                    let bases = ["a", "b"].map { "<BaseURL>/server/\($0)/vod/dash/</BaseURL>" }.joined()
                    let text = String(decoding: response.body, as: UTF8.self)
                    response.body = Array(
                        text.replacing(/<Period/, with: "\(bases)<Period", maxReplacements: 1).utf8
                    )
                } else if dead.contains(where: { path.hasPrefix("/server/\($0)/") }) {
                    Self.fail(&response, with: status)
                }
            }
        }
        let report = try await check(["a"])
        #expect(Self.found(report) == ["segment-unavailable /server/a/"], "\(report.findings.map(\.message))")
        #expect(report.readSegmentCount == report.segmentCount && report.readSegmentCount >= 30)
        let none = try await check(["a", "b"])
        let expected = ["segment-unavailable /server/a/", "segment-unavailable /server/b/"]
        if status == 404 { #expect(Self.found(none).sorted() == expected, "\(none.findings.map(\.message))") }
        #expect(none.emptiness != nil)
    }

    /// Fails requests to a server as one that does not answer.
    private struct SilentServer: HTTPTransport {
        let base: OriginTransport
        let path: String

        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            if request.url.path.hasPrefix(path) { throw HTTPError(.timedOut, "no answer") }
            return try await base.send(request)
        }
    }

    @Test("A server that does not answer is one finding")
    func silentServer() async throws {
        let clock = SteppingClock()
        let base = try OriginTransport(try await SharedFixtures.get(), clock: clock)
        var configuration = StreamCheckConfiguration()
        configuration.segmentCount = 6
        let check = StreamCheck(
            try HTTPURL("http://origin.example/vod/dash/servers.mpd"),
            transport: SilentServer(base: base, path: "/server/a/"),
            clock: clock,
            configuration: configuration
        )
        let report = await clock.run { await check.run() }
        #expect(Self.found(report) == ["segment-unavailable /server/a/"], "\(report.findings.map(\.message))")
        #expect(report.readSegmentCount == report.segmentCount && report.readSegmentCount >= 30)
    }

    // MARK: HLS

    @Test(
        "A server of redundant streams that fails is one finding",
        arguments: ["vod/ts/servers.m3u8", "vod/fmp4/servers.m3u8"],
        ["/server/a/", "/server/b/"]
    )
    func redundantStreams(path: String, server: String) async throws {
        let report = try await Self.check(path) { response in
            if response.url.path.hasPrefix(server) { Self.fail(&response, with: 503) }
        }
        #expect(Self.found(report) == ["manifest-unavailable \(server)"], "\(report.findings.map(\.message))")
        #expect(report.readSegmentCount == report.segmentCount && report.readSegmentCount >= 18)
    }

    @Test("A server whose playlists are HTML pages is one finding")
    func pages() async throws {
        let report = try await Self.check("vod/ts/servers.m3u8", segments: 2) { response in
            if response.url.path.hasPrefix("/server/a/") { Self.fail(&response, with: 200) }
        }
        #expect(Self.found(report) == ["manifest-unavailable /server/a/"], "\(report.findings.map(\.message))")
        #expect(report.findings.first?.problem.found.hasPrefix("an HTML page for http://") == true)
    }

    @Test("A server whose playlists arrive late is one finding as well")
    func latePlaylists() async throws {
        let clock = SteppingClock()
        var base = try OriginTransport(try await SharedFixtures.get(), clock: clock)
        // The playlists of one rendition at both servers: the first failure comes alone.
        base.playlistTimes = ["v1.m3u8": .seconds(3), "v2.m3u8": .seconds(6)]
        base.change = { if $0.url.path.hasPrefix("/server/a/") { Self.fail(&$0, with: 503) } }
        let check = StreamCheck(
            try HTTPURL("http://origin.example/vod/ts/servers.m3u8"),
            transport: base,
            clock: clock,
            configuration: StreamCheckConfiguration()
        )
        let report = await clock.run { await check.run() }
        #expect(Self.found(report) == ["manifest-unavailable /server/a/"], "\(report.findings.map(\.message))")
    }

    @Test("The only playlist of a server is a finding at its address")
    func onlyPlaylist() async throws {
        let report = try await Self.check("vod/ts/servers.m3u8", segments: 0) { response in
            let path = response.url.path
            if path.hasSuffix("/servers.m3u8") {
                let lines = ["a", "b"].map { "#EXT-X-STREAM-INF:BANDWIDTH=900000\n/server/\($0)/vod/ts/v0.m3u8\n" }
                response.body = Array(("#EXTM3U\n" + lines.joined()).utf8)
            } else if path.hasPrefix("/server/a/") {
                Self.fail(&response, with: 503)
            }
        }
        let expected = ["manifest-unavailable /server/a/vod/ts/v0.m3u8"]
        #expect(Self.found(report) == expected, "\(report.findings.map(\.message))")
    }

    @Test("A server whose segments alone fail is one finding", arguments: ["vod/ts/servers.m3u8"])
    func segmentsOfRedundantStreams(path: String) async throws {
        let report = try await Self.check(path) { response in
            let path = response.url.path
            if path.hasPrefix("/server/a/"), !path.hasSuffix(".m3u8") { Self.fail(&response, with: 404) }
        }
        #expect(Self.found(report) == ["segment-unavailable /server/a/"], "\(report.findings.map(\.message))")
        #expect(report.readSegmentCount >= 18)
    }

    @Test("A playlist that one of several servers lacks is a fault of the playlist")
    func playlistOfOneServer() async throws {
        let report = try await Self.check("vod/ts/servers.m3u8") { response in
            if response.url.path.hasSuffix("/server/a/vod/ts/v1.m3u8") { Self.fail(&response, with: 404) }
        }
        let expected = ["manifest-unavailable /server/a/vod/ts/v1.m3u8"]
        #expect(Self.found(report) == expected, "\(report.findings.map(\.message))")
    }

    // MARK: Addresses

    @Test(
        "The address of a server is what tells it from the others",
        arguments: [
            (["http://a.test/x/", "http://b.test/x/"], ["http://a.test/", "http://b.test/"]),
            (["http://a.test/1/x/", "http://a.test/2/x/"], ["http://a.test/1/", "http://a.test/2/"]),
            (["http://a.test/1/v.mp4", "http://b.test/2/v.mp4"], ["http://a.test/1/", "http://b.test/2/"]),
            (["http://a.test/v1.mp4", "http://b.test/v2.mp4"], ["http://a.test/", "http://b.test/"]),
            (["http://a.test/x/?t=1", "http://a.test/x/?t=2"], []),
            (["http://a.test/", "http://b.test:8080"], ["http://a.test/", "http://b.test:8080/"]),
            (["http://a.test/", "https://a.test/y/"], ["http://a.test/", "https://a.test/y/"]),
        ]
    )
    func directories(bases: [String], expected: [String]) throws {
        let text = """
            <MPD type="static" mediaPresentationDuration="PT4S">\
            \(bases.map { "<BaseURL>\($0)</BaseURL>" }.joined())<Period><AdaptationSet mimeType="video/mp4">\
            <SegmentTemplate duration="4" media="$Number$"/><Representation id="v" bandwidth="1"/>\
            </AdaptationSet></Period></MPD>
            """
        let presentation = try Presentation(
            parsing: Array(text.utf8),
            at: try HTTPURL("http://example.org/a.mpd"),
            now: WallTime(milliseconds: 0)
        )
        #expect(presentation.locations.flatMap(\.directories).map(\.description) == expected)
    }
}
