import Foundation
import Instrument
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Seeks and stops at edge cases", .ownThread)
struct AwkwardMomentTests {
    private func play(
        _ ladder: PaddedLadder,
        _ profile: PlayerProfile = .plain(maximum: .seconds(2)),
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void
    ) async -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)], fault: fault) { ladder.resource($0) }
        let configuration = ProbeConfiguration(profile: profile)
        return (await playStream("/master.m3u8", over: network, clock, configuration, script: script), network)
    }

    @Test("A seek to the end or beyond it ends playback without an error", arguments: [12_000, 12_500, 1_000_000])
    func beyondTheEnd(milliseconds: Int) async {
        let ladder = PaddedLadder(bitrates: [400_000])
        let (played, _) = await play(ladder) { clock, probe in
            clock.at(2000) { probe.seek(to: .milliseconds(milliseconds)) }
        }
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(played.time(.end).map { $0 < 3000 } == true)
    }

    @Test("Media that arrived before a seek does not count after it when the tracks were still unknown")
    func jumpWhileOpening() async throws {
        let ladder = PaddedLadder(bitrates: [400_000], hasOwnAudio: true)
        let fault: @Sendable (String, Int) -> SimulatedNetwork.Fault? = { path, count in
            switch path {
            case "/audio/media.m3u8" where count == 1, "/v0/media0.ts" where count == 1: .hangAfter(0)
            default: nil
            }
        }
        let (played, _) = await play(ladder, .plain(maximum: .seconds(2), retries: 1), fault: fault) { clock, probe in
            probe.seek(to: .seconds(9))
            clock.at(2000) { probe.seek(to: .zero) }
        }
        // At 7 s the first video request is aborted, at 8 s it is retried.
        #expect(try #require(played.time(.start)) > 8000, "\(played.story)")
        #expect(played.first(.start)?.attributes[.position] == .zero)
        #expect(played.outcome == .ended)
    }

    @Test("Two requests that time out together are one error")
    func twoTimeouts() async {
        let ladder = PaddedLadder(bitrates: [400_000], hasOwnAudio: true)
        let fault: @Sendable (String, Int) -> SimulatedNetwork.Fault? = { path, _ in
            path.hasSuffix("media2.ts") ? .hangAfter(0) : nil
        }
        let (played, _) = await play(ladder, .plain(maximum: .seconds(20)), fault: fault) { _, _ in }
        #expect(played.all(.error).count == 1)
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .timedOut && error.url?.contains("v0") == true, "\(error)")
    }

    @Test("The log contains each aborted request once")
    func log() async {
        let records = Lock([RequestRecord]())
        let ladder = PaddedLadder(bitrates: [400_000])
        let fault: @Sendable (String, Int) -> SimulatedNetwork.Fault? = { path, count in
            path == "/v0/media2.ts" && count == 1 ? .hangAfter(4000) : nil
        }
        let (played, network) = await play(ladder, .plain(maximum: .seconds(4), retries: 2), fault: fault) {
            clock,
            probe in
            probe.report(requestsTo: { record in records.withLock { $0.append(record) } })
            clock.at(1005) { probe.seek(to: .seconds(9)) }
        }
        #expect(played.outcome == .ended)
        let kept = records.withLock { $0 }
        #expect(kept.map(\.number).sorted() == Array(0..<network.requests.count))
        #expect(kept.count == network.requests.count)
    }

    @Test("A stop ends playThrough while it waits for the network", .timeLimit(.minutes(30)))
    func stopWhileWaiting() throws {
        let server = try TestServer { _ in [.hang] }
        let asked = DispatchSemaphore(value: 0)
        let hanging = try TestServer { _ in
            asked.signal()
            return [.hang]
        }
        _ = server
        let clock = VirtualClock()
        let probe = Probe(MediaSource(hanging.url("/a.m3u8")), clock: clock)
        Thread {
            asked.wait()
            probe.stop()
        }.start()
        #expect(probe.playThrough(advancing: clock) == .stopped)
    }
}

@Suite("Unusual live streams", .ownThread)
struct OddLiveTests {
    /// Two seconds a segment; `playlist` returns the playlist for a number of available segments.
    private func play(
        until limit: Duration,
        bitrates: [Int] = [400_000],
        profile: PlayerProfile,
        bandwidth: [(from: Int64, bitrate: Int64)] = [(0, 8_000_000)],
        playlist: @escaping @Sendable (_ ladder: LongLadder, _ there: Int) -> String,
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async -> (Played, SimulatedNetwork) {
        let ladder = LongLadder(bitrates: bitrates, count: 0)
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: 60_000_000_000))
        let network = SimulatedNetwork(clock: clock, bandwidth: bandwidth) { path in
            guard path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            return Array(playlist(ladder, Int(clock.now.nanoseconds / 2_000_000_000)).utf8)
        }
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/master.m3u8", over: network, clock, configuration, until: limit, script: script)
        return (played, network)
    }

    private static let window: @Sendable (LongLadder, Int) -> String = { ladder, there in
        ladder.playlist(max(0, there - 8)..<there, isComplete: false)
    }

    @Test("After a return to a variant, its playlist is fetched before it counts as stale")
    func switchBack() async {
        var profile = PlayerProfile.plain(rule: TurnsAt(rungs: [0, 1, 0, 1, 0], every: 8))
        profile.live.staleAfter = .targetDurations(3.5)
        let (played, network) = await play(
            until: .seconds(70),
            bitrates: [400_000, 800_000],
            profile: profile,
            playlist: Self.window
        )
        #expect(played.outcome == nil, "\(played.story)")
        #expect(played.all(.bufferBegin).count == 1)
        let segments = network.requests.map(\.path).filter { $0.hasSuffix("ts") }
        #expect(segments.contains { $0.hasPrefix("/v1/") } && segments.last?.hasPrefix("/v0/") == true)
        #expect(!played.all(.streamWarning).contains { $0.attributes[.warningCode] == "latePlaylist" })
    }

    @Test("A playback that was paused for longer than the window, and then changes the variant, resumes near the edge")
    func pauseBeforeSwitch() async throws {
        let instant = MonotonicInstant(nanoseconds: 120_000_000_000)
        let (played, network) = await play(
            until: .seconds(120),
            bitrates: [400_000, 800_000],
            profile: .plain(rule: TurnsLate(after: instant)),
            playlist: Self.window,
            script: { clock, probe in
                clock.at(65_000) { probe.pause() }
                clock.at(125_000) { probe.resume() }
            }
        )
        // The buffer ends at 90 s, the window begins at 108 s: the buffer plays out before playback jumps.
        let first = try #require(network.requests.first { $0.path.hasPrefix("/v1/") && $0.path.hasSuffix("ts") })
        #expect(first.instant > 150_000_000_000, "\(first)")
        #expect(played.all(.streamWarning).contains { $0.attributes[.warningCode] == "expiredSegments" })
        #expect(played.all(.seekFinish).count == 1 && !played.actions.contains(.error), "\(played.story)")
    }

    @Test("Changes of the variant at the live edge fetch no segment twice when dates are rounded")
    func roundedDates() async throws {
        let ladder = LongLadder(bitrates: [400_000, 800_000], count: 0)
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: 60_000_000_000))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            guard path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            let there = Int(clock.now.nanoseconds / 2_000_000_000)
            let first = max(0, there - 8)
            let delay = path.hasPrefix("/v1/") ? 0.01 : 0
            let date = Date(timeIntervalSince1970: 1_795_255_200 + Double(first * 2) + delay)
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            let text = ladder.playlist(first..<there, isComplete: false)
            let tag = "#EXT-X-PROGRAM-DATE-TIME:\(date.formatted(format))\n#EXTINF"
            guard let range = text.range(of: "#EXTINF") else { return Array(text.utf8) }
            return Array(text.replacingCharacters(in: range, with: tag).utf8)
        }
        let profile = PlayerProfile.plain(rule: TurnsAt(rungs: [0, 1, 0, 1, 0], every: 8))
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/master.m3u8", over: network, clock, configuration, until: .seconds(70))
        let numbers = network.names.filter { $0.hasSuffix("ts") }.compactMap { Int($0.dropFirst(5).dropLast(3)) }
        let first = try #require(numbers.first)
        #expect(numbers == (first..<(first + numbers.count)).map { $0 }, "\(numbers)")
        #expect(numbers.count > 30 && played.all(.bufferBegin).count == 1, "\(played.story)")
        #expect(network.requests.contains { $0.path.hasPrefix("/v1/") && $0.path.hasSuffix("ts") })
    }

    @Test("A server that answers at once, with news each time or with delta updates that do not fit, is not flooded")
    func hastyServer() async {
        for tag in ["CAN-BLOCK-RELOAD=YES", "CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12"] {
            // Far from the live edge, so that the playback needs none of the parts.
            var profile = PlayerProfile.plain(maximum: .seconds(2))
            (profile.live.usesParts, profile.live.followsStream) = (true, false)
            let asked = Lock(0)
            let (_, network) = await play(until: .seconds(60), profile: profile) { ladder, there in
                let number = asked.withLock { count in
                    count += 1
                    return count
                }
                let control = "#EXT-X-VERSION:9\n#EXT-X-PART-INF:PART-TARGET=0.4\n#EXT-X-SERVER-CONTROL:\(tag)\n"
                guard tag.contains("SKIP"), number > 1 else {
                    // The edges of a network have one part and two parts in turn.
                    let parts = (0...(number % 2)).map { "#EXT-X-PART:DURATION=0.4,URI=\"p\(there).\($0).ts\"\n" }
                    return ladder.playlist(max(0, there - 8)..<there, isComplete: false)
                        .replacingOccurrences(of: "#EXT-X-VERSION:3\n", with: control) + parts.joined()
                }
                return ladder.playlist((there + 100)..<(there + 102), isComplete: false)
                    .replacingOccurrences(of: "#EXT-X-VERSION:3\n", with: control)
                    .replacingOccurrences(of: "#EXTINF", with: "#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF", maximum: 1)
            }
            // Ten a second of media at most; deltas that do not fit are asked for like a playlist that does not change.
            let count = network.names.filter { $0 == "media.m3u8" }.count
            #expect((tag.contains("SKIP") ? 5...60 : 60...400).contains(count), "\(tag): \(count)")
        }
    }

    @Test("A declared latency longer than the window starts playback at the window's start")
    func hostileHoldBack() async {
        var profile = PlayerProfile.plain()
        profile.live.maximumLatency = .targetDurations(3)
        let (played, network) = await play(until: .seconds(60), profile: profile) { ladder, there in
            let text = ladder.playlist(max(0, there - 8)..<there, isComplete: false)
            return text.replacingOccurrences(
                of: "#EXT-X-VERSION:3\n",
                with: "#EXT-X-VERSION:9\n#EXT-X-SERVER-CONTROL:HOLD-BACK=3600\n"
            )
        }
        #expect(played.outcome == nil)
        #expect(network.requests.count < 120, "\(network.requests.count)")
        #expect(played.all(.seekBegin).count < 5, "\(played.story)")
    }

    @Test("A playlist that is empty at first starts near its edge once it has segments")
    func emptyFirst() async {
        let (played, network) = await play(until: .seconds(40), profile: .plain()) { ladder, there in
            ladder.playlist(there < 35 ? there..<there : max(0, there - 20)..<there, isComplete: false)
        }
        let first = network.names.first { $0.hasSuffix("ts") }
        #expect(first.flatMap { Int($0.dropFirst(5).dropLast(3)) }.map { $0 >= 32 } == true, "\(network.names)")
        #expect(played.actions.contains(.start))
    }

    @Test("A seek outside the window goes to its nearer end")
    func jumpOut() async throws {
        let (played, network) = await play(
            until: .seconds(40),
            profile: .plain(),
            playlist: Self.window,
            script: { clock, probe in
                clock.at(70_000) { probe.seek(to: .zero) }
                clock.at(80_000) { probe.seek(to: .seconds(1_000_000)) }
            }
        )
        #expect(played.outcome == nil)
        let jumps = played.all(.seekFinish)
        try #require(jumps.count == 2, "\(played.story)")
        // The window is 16 s long, and began with the first segment listed at 60 s (22) at 0.
        let (back, ahead) = (try #require(jumps[0].attributes[.position]), try #require(jumps[1].attributes[.position]))
        #expect(back >= .seconds(8) && back <= .seconds(14), "\(back)")
        #expect(ahead >= .seconds(24) && ahead <= .seconds(36), "\(ahead)")
        #expect(network.requests.count < 90)
    }

    @Test("A target duration of zero does not cause a flood of requests")
    func noTargetDuration() async {
        let (_, network) = await play(until: .seconds(60), profile: .plain()) { ladder, there in
            ladder.playlist(max(0, there - 8)..<there, isComplete: false)
                .replacingOccurrences(of: "TARGETDURATION:2", with: "TARGETDURATION:0")
        }
        // At most two or four per second.
        #expect(network.names.filter { $0 == "media.m3u8" }.count <= 245)
        #expect(network.names.contains { $0.hasSuffix("ts") })
    }

    @Test("Each stall moves a jump to the live edge further from the edge, by the profile's increase")
    func increaseOnStall() async throws {
        var positions: [Duration] = []
        for increase in [Duration.zero, .seconds(2)] {
            var profile = PlayerProfile.plain(
                live: LivePolicy(
                    targetLatency: .targetDurations(3),
                    followsStream: false,
                    targetIncreaseOnStall: .duration(increase)
                )
            )
            for kind in ResourceKind.allCases { profile[retry: kind].stallTimeout = .seconds(3000) }
            let (played, _) = await play(
                until: .seconds(60),
                profile: profile,
                bandwidth: [(0, 8_000_000), (66_000_000_000, 0), (80_000_000_000, 8_000_000)],
                playlist: Self.window,
                script: { clock, probe in clock.at(100_000) { probe.seek(to: .seconds(1_000_000)) } }
            )
            #expect(played.all(.bufferBegin).count == 2, "\(played.story)")
            positions.append(try #require(played.all(.seekFinish).last?.attributes[.position]))
        }
        #expect(positions[0] - positions[1] == .seconds(2), "\(positions)")
    }
}

/// Takes the second rung after an instant.
private struct TurnsLate: AdaptationRule {
    var after: MonotonicInstant

    mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        AdaptationDecision(rung: context.now > after ? 1 : 0)
    }
}

extension String {
    /// Replaces the first occurrences of a text.
    fileprivate func replacingOccurrences(of text: String, with other: String, maximum: Int) -> String {
        var result = self
        for _ in 0..<maximum {
            guard let range = result.range(of: text) else { break }
            result.replaceSubrange(range, with: other)
        }
        return result
    }
}
