import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import Testing

@testable import InstrumentProbe

// Several servers, steering servers, clocks and licences, over real sockets.
extension OriginStreamAloneTests {
    /// The system's clock, moved ahead.
    private struct ClockAhead: SchedulingClock {
        let clock = SystemClock()
        var milliseconds: Int64

        var now: MonotonicInstant { clock.now }
        var wallTime: WallTime { WallTime(milliseconds: clock.wallTime.milliseconds + milliseconds) }
        var minimumResolution: Duration { clock.minimumResolution }

        func sleep(until deadline: MonotonicInstant, tolerance: Duration?) async throws {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }

        func schedule(at deadline: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
            clock.schedule(at: deadline, action)
        }
    }

    /// The lowest rung first, and the next one from the third decision on.
    private struct RisingRule: AdaptationRule {
        private var count = 0

        mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
            count += 1
            return AdaptationDecision(rung: min(count > 2 ? 1 : 0, context.highestAllowedRung))
        }
    }

    /// The server of each request for media, in order.
    private func servers(_ paths: [String]) -> [String] {
        paths.filter { $0.hasSuffix(".ts") || $0.hasSuffix(".m4s") }.compactMap { path in
            let names = path.split(separator: "/")
            return names.first == "server" ? String(names[1]) : nil
        }
    }

    @Test(
        "A server that fails is left for the other one, and no more media is requested from it",
        arguments: ["vod/ts/servers.m3u8", "vod/fmp4/servers.m3u8", "vod/dash/servers.mpd"],
        ["503", "reset after 1000", "404"]
    )
    func failover(path: String, fault: String) async throws {
        let profile = PlayerProfile.plain(after: [.useOtherLocation(excludedFor: nil)])
        // The fourth segment of the picture, and everything else from then on.
        let faults = try ["\(fault) on *server/a/*v0/3.*"].map { try FaultRule($0) }
        let watched = try await play(path, ProbeConfiguration(profile: profile), faults: faults)
        #expect(watched.played.outcome == .ended, "\(watched.played.story)")
        let picture = watched.paths.filter { $0.contains("/v0/") }
        let servers = servers(picture)
        #expect(servers.first == "a" && servers.last == "b", "\(picture)")
        #expect(servers == servers.sorted(), "the server changes once: \(picture)")
        // Each of the twelve segments once, and the one that failed once more.
        #expect(servers.count == 13 && servers.filter { $0 == "a" }.count == 4, "\(picture)")
        #expect(self.servers(watched.paths).filter { $0 == "b" }.count >= 9)
        let errors = watched.played.all(.error)
        #expect(errors.count == 1 && watched.played.all(.bufferBegin).count == 1, "\(watched.played.story)")
    }

    @Test(
        "A steering server moves the requests to the other server after its answers",
        arguments: ["vod/ts/steering.m3u8", "vod/fmp4/steering.m3u8", "vod/dash/steering.mpd"]
    )
    func steering(path: String) async throws {
        // Requests follow the playhead, three seconds ahead of it.
        let configuration = ProbeConfiguration(profile: .plain(maximum: .seconds(3)))
        let watched = try await play(path + "?change=2&ttl=2", configuration)
        #expect(watched.played.outcome == .ended, "\(watched.played.story)")
        #expect(watched.played.all(.streamWarning).map { $0.attributes[.warningDescription] ?? "" } == [])
        let servers = servers(watched.paths.filter { $0.contains("/v0/") })
        #expect(servers.first == "a" && servers.last == "b" && servers.count == 12, "\(watched.paths)")
        #expect(servers == servers.sorted(), "\(servers)")
        // The second change comes after two times to live: at four seconds, with three seconds of buffer.
        #expect((2...5).contains(servers.filter { $0 == "a" }.count), "\(servers)")
        let asked = watched.requests.filter { $0.path.hasPrefix("/steering/") }
        #expect(Array(asked.map(\.path).prefix(3)) == ["2", "1", "0"].map { "/steering/\($0)/2/priority.json" })
        #expect(asked.count >= 8 && asked.dropFirst(3).allSatisfy { $0.path == "/steering/0/2/priority.json" })
        let name = path.hasSuffix("mpd") ? "_DASH_pathway=" : "_HLS_pathway="
        #expect(asked.dropFirst().allSatisfy { $0.query.contains(name) }, "\(asked.map(\.query))")
    }

    @Test(
        "The clock of a server that is ahead decides which segments are requested",
        arguments: ["iso", "xsdate", "head"]
    )
    func clock(method: String) async throws {
        let machine = MachineLoad()
        let watched = try await play(
            "live/dash/clock-\(method).mpd",
            originClock: ClockAhead(milliseconds: 30_000),
            isRealTime: true,
            stopAfter: 5
        )
        #expect(watched.played.outcome == .stopped, "\(watched.played.story)")
        let asked = watched.requests.filter { $0.path == "/time/\(method)" }
        #expect(asked.map(\.method) == [method == "head" ? "HEAD" : "GET"])
        let first = watched.requests.firstIndex { $0.path.hasSuffix("/init.mp4") } ?? 0
        #expect(watched.requests[..<first].contains { $0.path == "/time/\(method)" }, "\(watched.paths)")
        #expect(!watched.played.all(.streamWarning).contains { $0.attributes[.warningCode] == "notSupported" })
        guard machine.allowsJudging("which live segments are requested") else { return }
        // The stream began a minute before the origin; by the local clock, the newest segment would be the 14th.
        let numbers = watched.paths.compactMap { path -> Int? in
            path.hasSuffix(".m4s")
                ? path.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) } : nil
        }
        #expect(numbers.count > 2 && numbers.allSatisfy { $0 >= 25 }, "\(watched.paths)")
        #expect(watched.requests.allSatisfy { $0.status < 400 }, "\(watched.paths)")
    }

    @Test(
        "A licence is requested once, timed, and waited for; media with Common Encryption is played to its end",
        arguments: ["vod/cenc/master.m3u8", "vod/cbcs/master.m3u8", "vod/cenc/number.mpd", "vod/cbcs/number.mpd"]
    )
    func licence(path: String) async throws {
        let wait = Duration.milliseconds(700)
        var configuration = ProbeConfiguration(profile: .hlsJS)
        let faults = try [FaultRule("slow 700ms on licence")]
        let started = try await play(
            path,
            configuration,
            faults: faults,
            licence: "licence?token=secret",
            isRealTime: true,
            stopAfter: 4
        )
        let posts = started.requests.filter { $0.path == "/licence" }
        #expect(posts.map(\.method) == ["POST"] && posts.map(\.status) == [200], "\(started.paths)")
        let record = try #require(started.records.first { $0.kind == .licence })
        #expect(record.total >= wait && record.status == 200 && !record.url.contains("secret"))
        let (begun, start) = (
            try #require(started.played.time(.mediaRequest)), try #require(started.played.time(.start))
        )
        #expect(start - begun >= 700, "\(started.played.story)")
        // A browser takes the media.
        let warnings = started.played.all(.streamWarning).compactMap { $0.attributes[.warningCode] }
        #expect(!warnings.contains("unplayableMedia"), "\(warnings)")
        configuration.profile = .plain()
        let whole = try await play(path, configuration, licence: "licence")
        #expect(whole.played.outcome == .ended, "\(whole.played.story)")
        #expect(whole.paths.filter { $0.hasSuffix(".m4s") }.count >= 24, "\(whole.paths)")
    }

    @Test("A transport stream with SAMPLE-AES is played with the times of the plain stream, once its key has arrived")
    func sampleAES() async throws {
        let faults = try [FaultRule("slow 700ms on vod/sample-aes/key")]
        let path = "vod/sample-aes/index.m3u8"
        let started = try await play(path, faults: faults, isRealTime: true, stopAfter: 3)
        #expect(Array(started.paths.prefix(3)) == ["/\(path)", "/vod/sample-aes/key", "/vod/sample-aes/0.ts"])
        let key = try #require(started.records.first { $0.kind == .key })
        #expect(key.total >= .milliseconds(700) && key.status == 200)
        let begun = try #require(started.played.time(.mediaRequest))
        #expect(try #require(started.played.time(.start)) - begun >= 700, "\(started.played.story)")
        let whole = try await play(path)
        #expect(whole.played.outcome == .ended && Set(whole.paths).count == whole.paths.count, "\(whole.paths)")
        let (start, end) = (try #require(whole.played.time(.start)), try #require(whole.played.time(.end)))
        #expect(abs(end - start - 24_000) < 60 && whole.played.actions.filter { $0 == .bufferBegin }.count == 1)
        let missing = try await play(path, faults: [FaultRule("404 on vod/sample-aes/key")])
        guard case .failed(let error) = missing.played.outcome else {
            Issue.record("\(missing.played.story)")
            return
        }
        #expect(error.phase == .key && error.code == .notFound)
    }

    @Test("At a switch in low latency, the first playlist of the new rendition is the one that a report names")
    func renditionReport() async throws {
        var configuration = ProbeConfiguration(profile: .plain(rule: RisingRule()))
        configuration.profile.live = LivePolicy(targetLatency: .targetDurations(3), usesParts: true)
        let watched = try await play("live/ll/master.m3u8", configuration, isRealTime: true, stopAfter: 9)
        #expect(watched.played.outcome == .stopped, "\(watched.paths)")
        let lower = watched.requests.filter { $0.path == "/live/ll/v0.m3u8" }
        let higher = watched.requests.filter { $0.path == "/live/ll/v1.m3u8" }
        #expect(lower.first?.query == "" && !higher.isEmpty, "\(watched.paths)")
        let query = try #require(higher.first?.query)
        #expect(
            query.hasPrefix("_HLS_msn=") && query.contains("&_HLS_part=") && !query.contains("_HLS_skip"),
            "\(query)"
        )
        // The report is of the latest playlist: its segment is at most one behind the one that was asked for before.
        func number(_ query: String) -> Int? {
            query.split(separator: "&").first.flatMap { Int($0.dropFirst("_HLS_msn=".count)) }
        }
        let before = lower.last { $0.number < (higher.first?.number ?? 0) && !$0.query.isEmpty }
        let (old, new) = (before.flatMap { number($0.query) }, number(query))
        if let old, let new { #expect(abs(new - old) <= 1, "\(old) \(new)") }
        #expect(watched.paths.contains { $0.hasPrefix("/live/ll/v1/") && $0.hasSuffix(".m4s") }, "\(watched.paths)")
    }
}
