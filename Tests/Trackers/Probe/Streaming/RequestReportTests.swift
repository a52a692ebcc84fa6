import Foundation
import Instrument
import InstrumentCMCD
import InstrumentHTTP
import InstrumentTransport
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("CMCD on the requests of a probe")
struct RequestReportTests {
    /// Plays the sample under a multivariant playlist, at a bandwidth that stalls it once.
    private func reports(
        _ reporting: RequestReporting?,
        bandwidth: [(from: Int64, bitrate: Int64)] = [(0, 8_000_000)]
    ) async throws -> (Played, [String], [ReportedRequest?]) {
        let clock = VirtualClock()
        let folder = try Fixtures.hlsTS.get()
        let master = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=400000
            media.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900400
            other.m3u8

            """
        let network = SimulatedNetwork(clock: clock, bandwidth: bandwidth) { path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            if name == "master.m3u8" { return Array(master.utf8) }
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: .plain(maximum: .seconds(4)), requestReporting: reporting)
        let played = await playStream("/master.m3u8", over: network, clock, configuration)
        return (played, network.names, network.reports)
    }

    @Test("Every request carries a valid report with the keys of its type, numbered from 0")
    func keys() async throws {
        let (played, names, reports) = try await reports(RequestReporting(.query, contentID: "film-1"))
        #expect(played.outcome == .ended)
        try #require(names.count > 4 && names.count == reports.count)
        let all = reports.compactMap { $0?.report }
        #expect(all.count == names.count)
        #expect(all.map { $0[.sequenceNumber] } == (0..<names.count).map { .integer($0) })
        #expect(Set(all.map { $0[.sessionID] }).count == 1 && all[0][.sessionID] != nil)
        for action: Action in [.mediaRequest, .start, .end] {
            let session = played.first(action)?[.requestSession]
            #expect(session.map { CMCDValue.string($0) } == all[0][.sessionID], "\(action)")
        }
        for (name, report) in zip(names, all) {
            let findings = CMCDValidator().findings(inQuery: String(report.queryParameter.dropFirst("CMCD=".count)))
            #expect(findings == [], "\(name): \(report.text)")
            #expect(report[.contentID] == .string("film-1") && report[.version] == .integer(2))
            let isMedia = name.hasSuffix(".ts")
            #expect(report[.objectType] == .token(isMedia ? "av" : "m"))
            for key: CMCDKey in [
                .objectDuration, .bufferLength, .targetBufferLength, .bitrate, .topBitrate, .lowestBitrate,
            ] {
                #expect((report[key] != nil) == isMedia, "\(key) of \(name)")
            }
        }
        let media = zip(names, all).filter { $0.0.hasSuffix(".ts") }.map(\.1)
        #expect(media.allSatisfy { $0[.bitrate] == .number(400, .muxed) && $0[.topBitrate] == .number(900, .muxed) })
        #expect(media.allSatisfy { $0[.streamingFormat] == .token("h") && $0[.streamType] == .token("v") })
        #expect(media.first?[.state] == .token("s") && media.first?[.isStartup] == .boolean(true))
        #expect(media.last?[.state] == .token("p") && media.last?[.isStartup] == nil)
        #expect(media.first?[.throughput] == nil && media.last?[.throughput] != nil)
        #expect(media.last?[.deadline] != nil && media.last?[.playheadTime] != nil)
        // Once, with the first request for media after the start.
        let started = try #require(media.firstIndex { $0[.state] == .token("p") })
        let delay = try #require(played.all(.start).first?[Action.mediaRequest.timeKey])
        #expect(delay > 0 && media[started][.startDelay] == .integer(delay))
        #expect(all.count { $0[.startDelay] != nil } == 1)
        // The segment that is requested next, by its path from the requested one; the last segment has none.
        let segments = names.filter { $0.hasSuffix(".ts") }
        let next = segments.dropFirst().map { CMCDValue.strings([$0]) } + [nil]
        #expect(media.map { $0[.nextObjects] } == next)
        let dropped = media.map { $0[.droppedFrames] }
        #expect(dropped.last == .integer(0) && dropped.allSatisfy { $0 == nil || $0 == .integer(0) })
    }

    @Test(
        "A request asks for a throughput that suffices once playback runs, above the bitrate and in steps of 100 kbit/s"
    )
    func sufficientThroughput() async throws {
        let (_, names, reports) = try await reports(RequestReporting(.query))
        let media = zip(names, reports).filter { $0.0.hasSuffix(".ts") }.compactMap { $0.1?.report }
        for report in media {
            guard case .integer(let kilobits)? = report[.requestedThroughput] else {
                #expect(report[.state] != .token("p") || report[.bufferLength] == .number(0, .muxed), "\(report.text)")
                continue
            }
            #expect(report[.state] == .token("p") && kilobits % 100 == 0 && kilobits >= 400, "\(report.text)")
        }
        #expect(media.first?[.requestedThroughput] == nil && media.last?[.requestedThroughput] != nil)
    }

    @Test(
        "The playhead of a live stream is a calendar time, and is left out if the stream declares none",
        arguments: [true, false]
    )
    func livePlayhead(isDated: Bool) async throws {
        let ladder = LongLadder(bitrates: [400_000], count: 0)
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: 60_000_000_000))
        // Whole seconds since 1970 at the instant 0 of the clock.
        let epoch = 1_795_255_200
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            guard path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            let there = Int(clock.now.nanoseconds / 2_000_000_000)
            let first = max(0, there - 8)
            let text = ladder.playlist(first..<there, isComplete: false)
            guard isDated, let range = text.range(of: "#EXTINF") else { return Array(text.utf8) }
            let date = Date(timeIntervalSince1970: Double(epoch + first * 2)).formatted(.iso8601)
            let tag = "#EXT-X-PROGRAM-DATE-TIME:\(date)\n#EXTINF"
            return Array(text.replacingCharacters(in: range, with: tag).utf8)
        }
        let configuration = ProbeConfiguration(requestReporting: RequestReporting(.header))
        _ = await playStream("/master.m3u8", over: network, clock, configuration, until: .seconds(30))
        let live = zip(network.requests, network.reports).compactMap { request, reported -> (Int, CMCDReport)? in
            guard let report = reported?.report, report[.state] == .token("p") else { return nil }
            return (Int(request.instant / 1_000_000), report)
        }
        #expect(live.count > 5)
        var last = 0
        for (instant, report) in live {
            #expect(report[.streamType] == .token("l"))
            guard case .integer(let playhead)? = report[.playheadTime] else {
                #expect(!isDated, "\(report.text)")
                continue
            }
            #expect(isDated && playhead >= last, "\(report.text)")
            #expect((2_000...16_000).contains(epoch * 1_000 + instant - playhead), "\(report.text) at \(instant)")
            last = playhead
        }
    }

    @Test(
        "A path leads from one address to the next of the same origin",
        arguments: [
            ("https://a/x/1.ts", "https://a/x/2.ts", "2.ts"), ("https://a/x/1.ts", "https://a/y/2.ts", "../y/2.ts"),
            ("https://a/1.ts", "https://a/y/z/2.ts", "y/z/2.ts"),
            ("https://a/x/y/1.ts", "https://a/2.ts", "../../2.ts"),
            ("https://a/x/1.ts", "https://a/x/", "./"), ("https://a/x/1.ts", "https://a/x/b:2", "./b:2"),
            ("https://a/x/1.ts?t=1", "https://a/x/1.ts", "1.ts"), ("https://a/1.ts", "https://b/2.ts", nil),
            ("https://a/1.ts", "http://a/2.ts", nil), ("https://a/1.ts", "https://a/2.ts?token=1", nil),
            ("https://a/x/1.ts", "https://a/x//2.ts", ".//2.ts"),
        ] as [(String, String, String?)]
    )
    func relativePaths(from: String, to: String, expected: String?) throws {
        let (base, target) = (try HTTPURL(from), try HTTPURL(to))
        let path = base.relativePath(to: target)
        #expect(path == expected)
        if let path { #expect(try base.resolving(path) == target) }
    }

    @Test("Of a media playlist alone, no bitrate is sent before one was measured, and none of a ladder")
    func undeclared() async throws {
        let clock = VirtualClock()
        let folder = try Fixtures.hlsTS.get()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(
            profile: .plain(maximum: .seconds(4)),
            requestReporting: RequestReporting(.query)
        )
        let played = await playStream("/media.m3u8", over: network, clock, configuration)
        #expect(played.outcome == .ended)
        let media = zip(network.names, network.reports).filter { $0.0.hasSuffix(".ts") }
        try #require(media.count > 2)
        // The truth: the bytes of the segments before, over the time that they play.
        var (bytes, seconds) = (0, 0.0)
        let durations = try Self.durations(in: folder)
        for (name, reported) in media {
            let report = try #require(reported?.report)
            for key: CMCDKey in [.topBitrate, .lowestBitrate, .aggregateBitrate, .topAggregateBitrate] {
                #expect(report[key] == nil, "\(key) of \(name)")
            }
            let expected = bytes == 0 ? nil : (Double(bytes) * 8 / seconds / 1000).rounded()
            if let expected {
                guard case .list(let elements)? = report[.bitrate], case .integer(let kilobits)? = elements.first?.value
                else {
                    Issue.record("no bitrate: \(report.text)")
                    continue
                }
                #expect(abs(Double(kilobits) - expected) <= expected / 100, "\(report.text), expected \(expected)")
            } else {
                #expect(report[.bitrate] == nil && report[.requestedThroughput] == nil, "\(report.text)")
            }
            bytes += try Fixtures.data(folder + "/" + name).count
            seconds += try #require(durations[name])
        }
        #expect(media.last?.1?.report[.requestedThroughput] != nil)
    }

    /// The durations of the segments in the playlist, by their names.
    private static func durations(in folder: String) throws -> [String: Double] {
        var (durations, next) = ([String: Double](), 0.0)
        let text = String(decoding: try Fixtures.data(folder + "/media.m3u8"), as: UTF8.self)
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#EXTINF:") {
                next = Double(line.dropFirst(8).prefix { $0 != "," }) ?? 0
            } else if !line.hasPrefix("#") {
                durations[String(line)] = next
            }
        }
        return durations
    }

    @Test("Bitrates and byte ranges at the ends of their range are reported")
    func extremes() async throws {
        let clock = VirtualClock()
        let folder = try Fixtures.hlsTS.get()
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9223372036854775807\nx.m3u8\n"
        let media = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXTINF:2,
            s0.ts
            #EXTINF:2,
            s1.ts
            #EXTINF:2,
            #EXT-X-BYTERANGE:9223372036854775807@2
            s2.ts
            #EXT-X-ENDLIST

            """
        let segment = try [UInt8](Fixtures.data(folder + "/" + Self.firstSegment(in: folder)))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            switch path.split(separator: "/").last {
            case "master.m3u8": Array(master.utf8)
            case "x.m3u8": Array(media.utf8)
            default: segment
            }
        }
        let configuration = ProbeConfiguration(
            profile: .plain(maximum: .seconds(4)),
            requestReporting: RequestReporting(.query)
        )
        _ = await playStream("/master.m3u8", over: network, clock, configuration)
        let reports = zip(network.names, network.reports).filter { $0.0.hasSuffix(".ts") }.compactMap { $0.1?.report }
        try #require(reports.count >= 2)
        #expect(reports[0][.bitrate] == .number(.max / 1000, .muxed) || reports[0][.aggregateBitrate] != nil)
        let next = reports.compactMap { $0[.nextObjects] }
        #expect(next.contains { "\($0)".contains("2-9223372036854775807") }, "\(next)")
    }

    private static func firstSegment(in folder: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try #require(names.filter { $0.hasSuffix(".ts") }.min())
    }

    @Test("The first request after a stall says so, once")
    func starvation() async throws {
        let slow: [(from: Int64, bitrate: Int64)] = [
            (0, 8_000_000), (100_000_000, 100_000), (12_000_000_000, 8_000_000),
        ]
        let (played, _, reports) = try await reports(RequestReporting(.header), bandwidth: slow)
        let stalls = played.events.filter { $0.action == .bufferBegin && $0[.inPlaybackBlock] == true }.count
        try #require(stalls > 0)
        let starved = reports.compactMap { $0?.report }.filter { $0[.isStarved] != nil }
        #expect((1...stalls).contains(starved.count))
    }

    @Test("A host that is not configured gets no report, and neither does any host without a configuration")
    func hosts() async throws {
        for reporting in [nil, RequestReporting(.query, hosts: ["cdn.example"])] as [RequestReporting?] {
            let (_, _, reports) = try await reports(reporting)
            #expect(!reports.isEmpty && reports.allSatisfy { $0 == nil })
        }
        let (_, _, reports) = try await reports(RequestReporting(.query, hosts: ["ORIGIN.example"]))
        #expect(reports.allSatisfy { $0 != nil })
    }

    @Test("Header fields do not follow a redirect to another host, and a query is added to the address's own")
    func transport() async throws {
        let other = try TestServer { _ in [.respond("200 OK", Array("hello".utf8))] }
        let address = other.url("/moved")
        let server = try TestServer { request in
            if request.target.hasPrefix("/away") { return [.respond("302 Found", [], "Location: \(address)")] }
            return [.respond("200 OK", Array("hello".utf8))]
        }
        var report = CMCDReport()
        report[.version] = .integer(2)
        report[.bitrate] = .number(5000, .video)
        report[.sessionID] = .string("s 1")
        let fetcher = TransportFetcher(transport: try SystemTransport(), clock: SystemClock())
        for (mode, path) in [
            (RequestReporting.Mode.header, "/away"), (.header, "/a"), (.query, "/a?x=1&CMCD=old"), (.query, "/b"),
        ] {
            let request = ResourceRequest(
                kind: .segment,
                url: try HTTPURL(server.url(path)),
                timeout: .seconds(300),
                maxBytes: 1000,
                report: ReportedRequest(mode: mode, report: report)
            )
            _ = try await fetched(request, fetcher)
        }
        let text = "CMCD=br%3D%285000%3Bv%29%2Csid%3D%22s%201%22%2Cv%3D2"
        #expect(server.requests.map(\.target) == ["/away", "/a", "/a?x=1&" + text, "/b?" + text])
        let fields = server.requests.map { [$0.header("CMCD-Object"), $0.header("CMCD-Session")] }
        #expect(
            fields == [
                ["br=(5000;v)", "sid=\"s 1\",v=2"], ["br=(5000;v)", "sid=\"s 1\",v=2"], [nil, nil], [nil, nil],
            ]
        )
        #expect(other.requests.count == 1)
        #expect(other.requests.allSatisfy { !$0.head.lowercased().contains("cmcd") })
    }

    private func fetched(_ request: ResourceRequest, _ fetcher: TransportFetcher) async throws -> ResourceResponse {
        let result: Result<ResourceResponse, ResourceFailure> = await withCheckedContinuation { continuation in
            _ = fetcher.fetch(request, into: FetchBuffer(), progress: {}, ended: { continuation.resume(returning: $0) })
        }
        return try result.get()
    }
}
