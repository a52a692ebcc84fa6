import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// The responses of players to failures where there are several variants, several tracks, or a live stream.
@Suite("Failures with alternatives", .ownThread, .timeLimit(.minutes(30)))
struct FailurePlanTests {
    private typealias Fault = SimulatedNetwork.Fault

    /// The highest variant is listed first, so that hls.js begins with it.
    private static let three = PaddedLadder(bitrates: [3_000_000, 400_000, 1_200_000])

    private func play(
        _ profile: PlayerProfile,
        bandwidth: Int64 = 80_000_000,
        fault: @escaping @Sendable (String, Int) -> Fault?,
        resource: @escaping @Sendable (String) -> [UInt8]? = { three.resource($0) }
    ) async -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, bandwidth)], fault: fault, resource: resource)
        // Only the waits after failures count here.
        var profile = profile
        profile.processing = ProcessingTimes()
        return (await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: profile)), network)
    }

    /// The variants and the milliseconds, from the first one, of the requests for a resource.
    private func attempts(_ name: String, _ network: SimulatedNetwork) -> (variants: [String], times: [Int64]) {
        let requests = network.requests.filter { $0.path.hasSuffix("/" + name) }
        let first = requests.first?.instant ?? 0
        return (
            requests.map { String($0.path.dropFirst().prefix { $0 != "/" }) },
            requests.map { ($0.instant - first + 5_000_000) / 10_000_000 * 10 }
        )
    }

    @Test("hls.js tries each level once after 4xx and broken connections, then the last one, and counts them together")
    func levels() async {
        for fault in [Fault.status(404), .breakAfter(0)] {
            let (played, network) = await play(.hlsJS) { path, _ in path.hasSuffix("media2.ts") ? fault : nil }
            let (variants, times) = attempts("media2.ts", network)
            #expect(variants == ["v0", "v2", "v1", "v1", "v1", "v1", "v1"])
            // The third failure: 2² s.
            #expect(times == [0, 0, 0, 4000, 12_000, 20_000, 28_000])
            guard case .failed = played.outcome, let error = played.all(.error).last?.time.instant.milliseconds,
                let last = network.requests.last?.instant
            else {
                Issue.record("\(played.story)")
                continue
            }
            #expect(abs(error - last / 1_000_000) <= 5, "\(played.story)")
        }
    }

    @Test("hls.js spends its six retries once, whatever the number of levels")
    func sharedCount() async {
        let (played, network) = await play(.hlsJS) { path, _ in path.hasSuffix("media2.ts") ? .status(503) : nil }
        let (variants, times) = attempts("media2.ts", network)
        #expect(variants == Array(repeating: "v0", count: 7) + ["v2", "v1"])
        #expect(times == [0, 1000, 3000, 7000, 15_000, 23_000, 31_000, 31_000, 31_000])
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .httpStatus)
    }

    @Test("hls.js takes the highest level after a failure of the lowest one, for one fragment")
    func lowestLevel() async {
        let (played, network) = await play(.hlsJS, bandwidth: 600_000) { path, count in
            path == "/v0/media2.ts" && count == 1 ? .status(404) : nil
        } resource: {
            PaddedLadder(bitrates: [400_000, 1_200_000, 3_000_000]).resource($0)
        }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(attempts("media2.ts", network).variants.prefix(2) == ["v0", "v2"])
        #expect(attempts("media3.ts", network).variants.first == "v1")
    }

    private static let groups = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio/media.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="ton/media.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="high"
        v0/media.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=400000,AUDIO="AUDIO"
        v1/media.m3u8
        """

    @Test("hls.js takes a level with other audio after a failure of audio; without one, it retries")
    func audio() async {
        for group in ["low", "high"] {
            let master = Self.groups.replacing("\"AUDIO\"", with: "\"\(group)\"")
            let (played, network) = await play(.hlsJS) { path, _ in
                path == "/audio/media2.ts" ? .status(404) : nil
            } resource: {
                $0 == "/master.m3u8" ? Array(master.utf8) : Self.three.resource($0)
            }
            let found = attempts("media2.ts", network).variants.filter { !$0.hasPrefix("v") }
            if group == "low" {
                #expect(found == ["audio", "ton"])
                #expect(played.outcome == .ended, "\(played.story)")
                #expect(network.requests.contains { $0.path == "/v1/media5.ts" })
            } else if case .failed(let error) = played.outcome {
                #expect(error.code == .notFound)
                // A fragment of the level that arrives meanwhile ends the count.
                #expect(Set(found) == ["audio"] && 7...8 ~= found.count, "\(found)")
            } else {
                Issue.record("\(played.story)")
            }
        }
    }

    @Test("Shaka tries each variant twice, and waits between the variants, too")
    func pausesOfShaka() async {
        let (played, network) = await play(.shaka) { path, _ in path.hasSuffix("media2.ts") ? .status(404) : nil }
        let (variants, times) = attempts("media2.ts", network)
        #expect(variants.count == 6 && Set(variants).count == 3)
        for first in stride(from: 0, to: variants.count - 1, by: 2) { #expect(variants[first] == variants[first + 1]) }
        // 1 s ± 50 %; the playlist of another variant comes first.
        let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(pauses.allSatisfy { 490...1530 ~= $0 }, "\(pauses)")
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .notFound)
    }

    @Test("ExoPlayer continues its retries while media is buffered")
    func whileBuffered() async {
        let clock = VirtualClock()
        let ladder = LongLadder(bitrates: [400_000], count: 60)
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path, _ in
            let isOut = 20..<40 ~= clock.now.nanoseconds / 1_000_000_000
            return path.hasSuffix(".ts") && isOut ? .status(502) : nil
        } resource: {
            ladder.resource($0)
        }
        let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: .exoPlayer))
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(!played.actions.contains(.error) && played.all(.bufferBegin).count == 1, "\(played.story)")
        let out = network.requests.filter { 20..<40 ~= $0.instant / 1_000_000_000 }
        #expect(Set(out.map(\.path)).count == 1, "\(out)")
        let times = out.map { ($0.instant + 5_000_000) / 10_000_000 * 10 }
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(waits.starts(with: [0, 1000, 2000, 3000, 4000, 5000]), "\(waits)")
    }
}

/// The same in a live stream: a sliding window of five segments; segment n is available at (n + 1) × 2 s.
@Suite("Failures in live streams", .ownThread, .timeLimit(.minutes(30)))
struct LiveFailureTests {
    private typealias Fault = SimulatedNetwork.Fault

    /// - Parameter fault: the fault of a path at a number of seconds.
    private func play(
        _ profile: PlayerProfile,
        _ bitrates: [Int] = [400_000],
        until limit: Duration,
        fault: @escaping @Sendable (String, Int64) -> Fault?,
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async -> (Played, SimulatedNetwork) {
        let ladder = LongLadder(bitrates: bitrates, count: 0)
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: 60_000_000_000))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path, _ in
            fault(path, clock.now.nanoseconds / 1_000_000_000)
        } resource: { path in
            guard path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            let there = Int(clock.now.nanoseconds / 2_000_000_000)
            return Array(ladder.playlist(there - 5..<there, isComplete: false).utf8)
        }
        // Only the waits after failures count here.
        var profile = profile
        profile.processing = ProcessingTimes()
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/master.m3u8", over: network, clock, configuration, until: limit, script: script)
        return (played, network)
    }

    private func failure(of played: Played) -> ProbeError? {
        if case .failed(let error) = played.outcome { error } else { nil }
    }

    @Test("hls.js continues behind a fragment of a live stream that fails, without an error")
    func skippedFragment() async {
        let (played, network) = await play(.hlsJS, until: .seconds(60)) { path, _ in
            path.hasSuffix("/media40.ts") ? .status(404) : nil
        }
        #expect(played.outcome == nil && !played.actions.contains(.error), "\(played.story)")
        let missing = played.all(.streamWarning).filter { $0.attributes[.warningCode] == "missingSegment" }
        #expect(missing.count == 1)
        // The newest fragment is retried, until the playlist lists a later one.
        #expect(1...3 ~= network.names.count { $0 == "media40.ts" })
        #expect(network.names.contains("media50.ts"))
    }

    @Test("A playlist of hls.js that cannot be loaded again is fatal after the other levels and two retries")
    func fatalReload() async {
        let fails: @Sendable (String, Int64) -> Fault? = { path, now in
            path.hasSuffix("media.m3u8") && now >= 80 ? .status(404) : nil
        }
        let (single, network) = await play(.hlsJS, until: .seconds(300), fault: fails)
        let reloads = network.requests.filter { $0.path.hasSuffix("m3u8") && $0.instant >= 80_000_000_000 }
        let first = reloads.first?.instant ?? 0
        #expect(reloads.map { ($0.instant - first + 5_000_000) / 10_000_000 * 10 } == [0, 1000, 3000])
        #expect(failure(of: single)?.code == .notFound, "\(single.story)")
        let (several, others) = await play(
            .hlsJS,
            [3_000_000, 400_000, 1_200_000],
            until: .seconds(300),
            fault: fails
        )
        let paths = others.requests.filter { $0.path.hasSuffix("m3u8") && $0.instant >= 80_000_000_000 }.map(\.path)
        #expect(paths == ["v0", "v2", "v1", "v1", "v1"].map { "/\($0)/media.m3u8" })
        #expect(failure(of: several)?.code == .notFound)
    }

    @Test(
        "While the playlist of one variant fails, the other variant is played",
        arguments: [
            ("standard", 404), ("standard", 502), ("avplayer", 404), ("avplayer", 502), ("hlsjs", 404), ("hlsjs", 502),
            ("exoplayer", 404),
        ]
    )
    func otherVariant(name: String, status: Int) async throws {
        let profile = try #require(PlayerProfile(named: name))
        let (played, network) = await play(profile, [600_000, 300_000], until: .seconds(100)) { path, now in
            path == "/v0/media.m3u8" && now >= 80 ? .status(status) : nil
        }
        #expect(played.outcome == nil, "\(played.story)")
        #expect(played.all(.error).allSatisfy { $0.attributes[.isFatal] == false })
        #expect(network.requests.contains { $0.path.hasPrefix("/v0/") && $0.path.hasSuffix("ts") })
        let last = network.requests.filter { $0.path.hasSuffix("ts") && $0.instant > 130_000_000_000 }
        #expect(last.count > 5 && last.contains { $0.path.hasPrefix("/v1/") })
    }

    @Test("Shaka never gives a live stream up")
    func outage() async {
        let (played, network) = await play(.shaka, until: .seconds(140)) { path, now in
            path.hasSuffix("ts") && 80..<140 ~= now ? .status(503) : nil
        }
        #expect(played.outcome == nil, "\(played.story)")
        #expect(played.all(.error).allSatisfy { $0.attributes[.isFatal] == false })
        #expect(network.names.contains("media95.ts"), "\(played.story)")
    }

    @Test(
        "ExoPlayer ends behind the live window, and other players return into it",
        arguments: [PlayerProfile.exoPlayer, .avPlayer, .dashJS, .shaka]
    )
    func behindWindow(profile: PlayerProfile) async {
        let (played, _) = await play(profile, until: .seconds(400)) { _, _ in
            nil
        } script: { clock, probe in
            clock.at(65_000) { probe.pause() }
            clock.at(245_000) { probe.resume() }
        }
        if profile == .exoPlayer {
            #expect(failure(of: played)?.code == .behindLiveWindow, "\(played.story)")
        } else {
            #expect(played.outcome == nil, "\(played.story)")
            #expect(played.all(.streamWarning).contains { $0.attributes[.warningCode] == "expiredSegments" })
        }
    }

    private static let manifest = """
        <MPD type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" \
        timeShiftBufferDepth="PT60S" suggestedPresentationDelay="PT4S"><Period id="p" start="PT0S">\
        <AdaptationSet mimeType="video/mp4"><SegmentTemplate timescale="1" duration="2" startNumber="0" \
        initialization="init.mp4" media="media$Number$.m4s"/><Representation id="v" bandwidth="200000"/>\
        </AdaptationSet></Period></MPD>
        """

    @Test("dash.js asks no more for an MPD that has failed four times, and plays on")
    func lastManifest() async throws {
        let folder = try Fixtures.hlsMP4.get()
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 4000))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)]) { path, count in
            path.hasSuffix("mpd") && count > 1 ? .status(503) : nil
        } resource: { path in
            if path.hasSuffix("mpd") { return Array(Self.manifest.utf8) }
            return (try? Fixtures.data(folder + path)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: .dashJS)
        let played = await playStream("/live.mpd", over: network, clock, configuration, until: .seconds(8))
        #expect(network.names.count { $0 == "live.mpd" } == 5)
        #expect(played.all(.error).map { $0.attributes[.isFatal] } == [false], "\(played.story)")
        #expect(network.names.contains("media4.m4s"), "\(network.names)")
    }
}
