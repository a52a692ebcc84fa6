import Foundation
import Instrument
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// Servers that attack, over real sockets.
@Suite("Hostile servers", .ownThread, .timeLimit(.minutes(30)), .serialized)
struct HostileServerAloneTests {
    private static func configuration(within time: Duration = .seconds(900)) -> ProbeConfiguration {
        let limits = StreamLimits(manifestBytes: 2 << 20, segmentBytes: 4 << 20, longestFetch: time)
        return ProbeConfiguration(profile: .plain(retries: 0), limits: limits, readTimeout: time)
    }
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n"

    /// Plays in real time. Returns the failure, and the growth of the process in bytes.
    private func error(
        _ address: String,
        _ transport: (any HTTPTransport)? = nil,
        within time: Duration = .seconds(900)
    ) async -> (ProbeError?, Int) {
        let before = residentBytes()
        let probe = Probe(MediaSource(address), configuration: Self.configuration(within: time), transport: transport)
        let requests = Lock(0)
        probe.report(requestsTo: { _ in requests.withLock { $0 += 1 } })
        probe.play()
        guard case .failed(let error) = await probe.waitUntilFinished() else { return (nil, 0) }
        #expect(requests.withLock { $0 } <= 5)
        let growth = residentBytes() - before
        return (error, MachineLoad.allowsJudgingMemory(of: "a probe that is attacked") ? growth : 0)
    }

    private func residentBytes() -> Int {
        // From `/proc/self/statm` (proc(5)), in pages.
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test("An endless body exceeds the size limit, and costs little memory", arguments: ["playlist", "segment"])
    func endless(what: String) async throws {
        let server = try TestServer { request in
            let isPlaylist = request.target.hasSuffix("m3u8")
            if isPlaylist, what == "segment" { return [.respond("200 OK", Array(Self.media.utf8))] }
            return [.send(Array("HTTP/1.1 200 OK\r\n\r\n#EXTM3U\n".utf8)), .sendWithoutEnd()]
        }
        let (error, growth) = await error(server.url("/a.m3u8"))
        #expect(
            error?.code == .tooLarge && error?.phase == (what == "segment" ? .segment : .manifest),
            "\(error as Any)"
        )
        #expect(growth < 64 << 20, "\(growth >> 20) MiB")
    }

    @Test("Endless headers are an error")
    func headers() async throws {
        let server = try TestServer { _ in
            [.send(Array("HTTP/1.1 200 OK\r\n".utf8))]
                + (0..<4000).map { .send(Array("X-\($0): \(String(repeating: "x", count: 1000))\r\n".utf8)) }
        }
        let (error, growth) = await error(server.url("/a.m3u8"))
        #expect(error.map { [.tooLarge, .connection].contains($0.code) } == true, "\(error as Any)")
        #expect(growth < 32 << 20, "\(growth >> 20) MiB")
    }

    @Test("A body of single bytes ends at the request's limit, and costs only its bytes")
    func trickle() async throws {
        let server = try TestServer { request in
            if request.target.hasSuffix("m3u8") { return [.respond("200 OK", Array(Self.media.utf8))] }
            return [.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))]
                + (0..<20_000).flatMap { _ in [.send([0x47]), .wait(.microseconds(200))] }
        }
        let (error, growth) = await error(server.url("/a.m3u8"), within: .seconds(4))
        #expect(error?.code == .timedOut && error?.phase == .segment, "\(error as Any)")
        #expect(growth < 32 << 20, "\(growth >> 20) MiB")
    }

    @Test(
        "A redirect to an address other than HTTP is refused for every resource",
        arguments: ["file:///etc/passwd", "concat:/etc/passwd", "ftp://127.0.0.1/", "data:,x", "gopher://127.0.0.1/"],
        ["/a.m3u8", "/a.ts"]
    )
    func redirects(target: String, path: String) async throws {
        let server = try TestServer { request in
            if request.target == path { return [.respond("302 Found", [], "Location: \(target)")] }
            return [.respond("200 OK", Array(Self.media.utf8))]
        }
        let (error, _) = await error(server.url("/a.m3u8"))
        #expect(error?.code == .refusedAddress, "\(error as Any)")
        #expect(server.requests.count == (path == "/a.ts" ? 2 : 1))
    }

    @Test("A redirect loop of a playlist is refused after a few redirects")
    func loop() async throws {
        let server = try TestServer { _ in [.respond("302 Found", [], "Location: /a.m3u8")] }
        #expect(await error(server.url("/a.m3u8")).0?.code == .refusedAddress)
        #expect(server.requests.count <= 11)
    }

    @Test("A segment with an unrequested content coding that does not decode is refused")
    func compressed() async throws {
        let server = try TestServer { request in
            if request.target.hasSuffix("m3u8") { return [.respond("200 OK", Array(Self.media.utf8))] }
            let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
            return [.respond("200 OK", head + [UInt8](repeating: 0, count: 10_000), "Content-Encoding: gzip")]
        }
        let (error, _) = await error(server.url("/a.m3u8"))
        #expect(error?.code == .wrongContent, "\(error as Any)")
        #expect(server.requests.map { $0.header("Accept-Encoding") != nil } == [true, false])
    }

    /// Allows the playlist, and refuses all other private addresses.
    private struct GuardedTransport: HTTPTransport {
        let (open, strict): (SystemTransport, SystemTransport)

        init() throws {
            open = try SystemTransport()
            strict = try SystemTransport(TransportConfiguration(allowsPrivateAddresses: false))
        }

        func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            try await (request.url.path == "/open.m3u8" ? open : strict).send(request)
        }

        func send(
            _ request: HTTPRequest,
            receiving receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
        ) async throws(HTTPError) -> HTTPResponse {
            try await (request.url.path == "/open.m3u8" ? open : strict).send(request, receiving: receive)
        }
    }

    @Test(
        "A playlist cannot reach private addresses where they are refused",
        arguments: ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1"],
        ["variant", "segment", "key", "map"]
    )
    func privateAddresses(host: String, place: String) async throws {
        let box = Lock("")
        let server = try TestServer { request in
            [.respond(request.target == "/open.m3u8" ? "200 OK" : "404 Not Found", Array(box.withLock { $0 }.utf8))]
        }
        let address = "http://\(host):\(server.port)/secret.ts"
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
        box.withLock { text in
            switch place {
            case "variant": text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n\(address)\n"
            case "segment": text = head + "#EXTINF:2,\n\(address)\n#EXT-X-ENDLIST\n"
            case "key":
                text = head + "#EXT-X-KEY:METHOD=AES-128,URI=\"\(address)\"\n#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n"
            default: text = head + "#EXT-X-MAP:URI=\"\(address)\"\n#EXTINF:2,\na.m4s\n#EXT-X-ENDLIST\n"
            }
        }
        let (error, _) = await error(server.url("/open.m3u8"), try GuardedTransport())
        #expect(error?.code == .refusedAddress, "\(error as Any)")
        #expect(server.requests.map(\.target) == ["/open.m3u8"])
    }

    @Test("A probe that is attacked does not affect other probes")
    func others() async throws {
        let folder = try Fixtures.hlsTS.get()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nmedia0.ts\n#EXTINF:2,\nmedia1.ts\n#EXT-X-ENDLIST\n"
        let good = try TestServer { request in
            let media = try? Fixtures.data(folder + request.target)
            return [.respond("200 OK", request.target.hasSuffix("m3u8") ? Array(text.utf8) : [UInt8](media ?? Data()))]
        }
        let bad = try TestServer { request in
            switch request.connection % 3 {
            case 0: return [.send(Array("HTTP/1.1 200 OK\r\n\r\n#EXTM3U\n".utf8)), .sendWithoutEnd()]
            case 1: return [.hang]
            default: return [.respond("302 Found", [], "Location: /a.m3u8")]
            }
        }
        let transport = try SystemTransport(TransportConfiguration(maxConnectionsPerHost: 100))
        let attacked = (0..<30).map { _ in
            Probe(
                MediaSource(bad.url("/a.m3u8")),
                configuration: Self.configuration(within: .seconds(4)),
                transport: transport
            )
        }
        let waits = Lock(0)
        let probe = Probe(
            MediaSource(good.url("/media.m3u8")),
            configuration: Self.configuration(),
            transport: transport
        )
        let machine = MachineLoad()
        probe.report(to: { signal in if signal.action == .bufferBegin { waits.withLock { $0 += 1 } } })
        for probe in attacked { probe.play() }
        probe.play()
        #expect(await probe.waitUntilFinished() == .ended)
        if machine.allowsJudging("whether others stall") { #expect(waits.withLock { $0 } == 1) }
        for probe in attacked {
            guard case .failed = await probe.waitUntilFinished() else {
                Issue.record("an attack was played")
                continue
            }
        }
    }
}

#if os(Linux)
@Suite(
    "Bad TLS in streams",
    .ownThread,
    .timeLimit(.minutes(30)),
    .serialized,
    .enabled(if: TLSServer.isPossible, "openssl and python3 are needed")
)
struct StreamTLSTests {
    @Test(
        "An untrusted certificate is a TLS error without a retry",
        arguments: ["unknown", "expired", "otherName"],
        ["/a.m3u8", "/a.ts"]
    )
    func refused(why: String, path: String) async throws {
        let server = try TLSServer(isExpired: why == "expired")
        let trusted = why == "unknown" ? nil : server.certificate
        let host = why == "otherName" ? "127.0.0.1" : "localhost"
        let base = "https://\(host):\(server.port)"
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(base)/a.ts\n#EXT-X-ENDLIST\n"
        let plain = try TestServer { _ in [.respond("200 OK", Array(playlist.utf8))] }
        let transport = try SystemTransport(TransportConfiguration(additionalCAFile: trusted))
        var configuration = ProbeConfiguration(profile: .plain(retries: 3))
        for kind in ResourceKind.allCases { configuration.profile[retry: kind].stallTimeout = .seconds(30) }
        let address = path == "/a.ts" ? plain.url("/a.m3u8") : base + path
        let probe = Probe(MediaSource(address), configuration: configuration, transport: transport)
        let records = Lock([RequestRecord]())
        probe.report(requestsTo: { record in records.withLock { $0.append(record) } })
        probe.play()
        guard case .failed(let error) = await probe.waitUntilFinished() else {
            Issue.record("it was played")
            return
        }
        #expect(error.code == .tls && error.phase == (path == "/a.ts" ? .segment : .manifest), "\(error)")
        #expect(records.withLock { $0.count } == (path == "/a.ts" ? 2 : 1))
    }
}
#endif
