import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// A master playlist of the same pictures at several bitrates, padded with null packets.
struct PaddedLadder: Sendable {
    /// The bit/s of each variant, in the listed order.
    var bitrates: [Int]
    var hasOwnAudio = false
    /// Whether the playlist says that it has no closed captions.
    var hasNoCaptions = false

    /// The segments of two seconds each.
    func size(_ variant: Int) -> Int { bitrates[variant] / 8 * 2 / 188 * 188 }

    var master: String {
        var text = "#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        if hasOwnAudio {
            text +=
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,URI=\"audio/media.m3u8\"\n"
            text += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Deutsch\",LANGUAGE=\"de\",URI=\"ton/media.m3u8\"\n"
        }
        for (index, bitrate) in bitrates.enumerated() {
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(bitrate),AVERAGE-BANDWIDTH=\(bitrate)"
            text += (hasOwnAudio ? ",AUDIO=\"a\"" : "") + (hasNoCaptions ? ",CLOSED-CAPTIONS=NONE\n" : "\n")
            text += "v\(index)/media.m3u8\n"
        }
        return text
    }

    func resource(_ path: String) -> [UInt8]? {
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last else { return nil }
        if name == "master.m3u8" { return Array(master.utf8) }
        guard let first = parts.first else { return nil }
        if first == "audio" || first == "ton" { return read(Fixtures.hlsSound, name) }
        guard let variant = Int(first.dropFirst()), let bytes = read(Fixtures.hlsTS, name) else { return nil }
        return name.hasSuffix(".ts") ? padded(bytes, to: size(variant)) : bytes
    }

    private func read(_ folder: Result<String, FixtureError>, _ name: String) -> [UInt8]? {
        (try? Fixtures.data(folder.get() + "/" + name)).map { [UInt8]($0) }
    }

    private func padded(_ bytes: [UInt8], to size: Int) -> [UInt8] {
        let null: [UInt8] = [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0xFF, count: 184)
        return bytes + (0..<max(0, (size - bytes.count) / 188)).flatMap { _ in null }
    }
}

@Suite("Adaptive streams in virtual time", .ownThread)
struct AdaptiveStreamTests {
    private static let ladder = PaddedLadder(bitrates: [400_000, 1_200_000, 3_000_000])

    private func play(
        _ configuration: ProbeConfiguration,
        of ladder: PaddedLadder = ladder,
        bandwidth: [(from: Int64, bitrate: Int64)] = [(0, 8_000_000)],
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: bandwidth, fault: fault) { ladder.resource($0) }
        let played = await playStream("/master.m3u8", over: network, clock, configuration, script: script)
        return (played, network)
    }

    private func variants(_ network: SimulatedNetwork) -> [String] {
        network.requests.map(\.path).filter { $0.hasSuffix(".ts") }.map { String($0.dropFirst().prefix(2)) }
    }

    @Test(
        "A switch fetches the new playlist once, continues with the next segment, and is reported when the playhead reaches it"
    )
    func switching() async throws {
        // One rung up with each segment.
        struct Climber: AdaptationRule {
            mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
                AdaptationDecision(rung: context.segment.index / 2)
            }
        }
        let configuration = ProbeConfiguration(profile: .plain(rule: Climber()))
        let (played, network) = try await play(configuration)
        #expect(
            network.requests.map(\.path) == [
                "/master.m3u8", "/v0/media.m3u8", "/v0/media0.ts", "/v0/media1.ts", "/v1/media.m3u8", "/v1/media2.ts",
                "/v1/media3.ts", "/v2/media.m3u8", "/v2/media4.ts", "/v2/media5.ts",
            ]
        )
        let start = try #require(played.time(.start))
        let changes = played.all(.qualityChangeUp).map { $0.time.instant.milliseconds - start }
        #expect(changes == [4000, 8000])
        #expect(played.all(.qualityChangeUp).map { $0.attributes[.bitrate] } == [1_200_000, 3_000_000])
        #expect(played.outcome == .ended)
        #expect(played.all(.streamWarning).isEmpty)
    }

    @Test(
        "The quality falls and rises with the throughput",
        arguments: PlayerProfile.named.map(\.name).filter { $0 != "mpv" }
    )
    func adapting(name: String) async throws {
        let profile = try #require(PlayerProfile(named: name))
        // Thirty seconds of repeated media, so that rules have time to decide.
        let ladder = LongLadder(bitrates: [400_000, 1_200_000, 3_000_000], count: 90)
        let clock = VirtualClock()
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: [(0, 8_000_000), (40_000_000_000, 600_000), (100_000_000_000, 8_000_000)]
        ) { ladder.resource($0) }
        let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
        #expect(played.outcome == .ended, "\(profile.name)")
        let last = network.requests.filter { $0.path.hasSuffix(".ts") }.map { $0.path.dropFirst().prefix(2) }
        #expect(last.contains("v2"), "\(profile.name): \(last)")
        #expect(
            played.actions.contains(.qualityChangeDown) && played.actions.contains(.qualityChangeUp),
            "\(profile.name)"
        )
    }

    /// The segments of a long stream that a profile requests over a link, as `rung/number`, and the playback.
    private func segments(
        _ profile: PlayerProfile,
        over bandwidth: [(from: Int64, bitrate: Int64)],
        bitrates: [Int] = [400_000, 1_200_000, 3_000_000],
        hasNoCaptions: Bool = false
    ) async throws -> (played: Played, requests: [(rung: Int, number: Int, milliseconds: Int64)]) {
        let ladder = LongLadder(bitrates: bitrates, count: 30, hasNoCaptions: hasNoCaptions)
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: bandwidth) { ladder.resource($0) }
        let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
        let requests = network.requests.compactMap { request -> (rung: Int, number: Int, milliseconds: Int64)? in
            let parts = request.path.split(separator: "/")
            guard parts.count == 2, parts[1].hasSuffix(".ts"), let rung = Int(parts[0].dropFirst()),
                let number = Int(parts[1].dropFirst("media".count).dropLast(3))
            else { return nil }
            return (rung, number, request.instant / 1_000_000)
        }
        return (played, requests)
    }

    @Test("dash.js fetches buffered media again after a rise, from the playhead's segment on, and plays all of it once")
    func replacement() async throws {
        let (played, requests) = try await segments(.dashJS, over: [(0, 1_250_000), (12_000_000_000, 20_000_000)])
        #expect(played.outcome == .ended)
        #expect(!played.actions.contains(.qualityChangeDown))
        let rise = try #require(requests.firstIndex { $0.rung > 0 })
        let start = try #require(played.time(.start))
        let position = requests[rise].milliseconds - start
        #expect(requests[rise].number == position / 2000)
        #expect(requests[rise].number < requests[rise - 1].number)
        // Every number comes, those of lower rungs in the buffer again.
        #expect(Set(requests.map(\.number)) == Set(0..<30))
        #expect(requests.count > 30)
        let end = try #require(played.all(.end).first)
        // The sound of the last segment is a little longer than its pictures.
        #expect((60_000...60_050).contains(end.time.instant.milliseconds - start))
        // Below the highest rung a segment has to fit into 18 s, at the highest into 30 s; what waits comes in steps of
        // 500 ms.
        for (earlier, later) in zip(requests[2...], requests[3...]) where later.number == earlier.number + 1 {
            let level = Int64(2000 * later.number) - (later.milliseconds - start)
            #expect(level + 2000 < (later.rung == 2 ? 30_000 : 18_000), "\(later)")
            let pause = later.milliseconds - earlier.milliseconds
            // A segment arrives within 0.7 s over the slow link, within 0.4 s over the fast one.
            #expect(pause < 700 || pause % 500 < 400 || pause % 500 > 490, "\(later)")
        }
    }

    @Test("Shaka gives up the first segment for a lower rung as soon as it has seen 128 kB come too slowly")
    func earlyFall() async throws {
        for hasNoCaptions in [true, false] {
            let (played, requests) = try await segments(
                .shaka,
                over: [(0, 500_000)],
                bitrates: [270_000, 900_000, 3_000_000],
                hasNoCaptions: hasNoCaptions
            )
            #expect(played.outcome == .ended)
            // A segment that is read for its captions is complete, and what it took is not known later.
            let first = hasNoCaptions ? ["1/0", "0/0", "0/1"] : ["1/0", "1/1", "0/1", "0/2"]
            #expect(requests.prefix(first.count).map { "\($0.rung)/\($0.number)" } == first)
            let fall = try #require(requests.firstIndex { $0.rung == 0 })
            // 128 kB take 2.05 s.
            let wait = requests[fall].milliseconds - requests[fall - 1].milliseconds
            #expect((2000..<2400).contains(wait))
            #expect(requests[fall...].allSatisfy { $0.rung == 0 })
        }
    }

    @Test("A failed variant is replaced by another, with a warning and without repeated media")
    func fallback() async throws {
        let configuration = ProbeConfiguration(
            profile: .plain(rule: FixedRule(.highest), after: [.useOtherVariant(excludedFor: nil)])
        )
        let (played, network) = try await play(
            configuration,
            fault: { path, _ in
                path.hasPrefix("/v2/media3") ? .status(500) : nil
            }
        )
        #expect(variants(network) == ["v0", "v2", "v2", "v2", "v1", "v1", "v1"])
        let errors = played.all(.error)
        #expect(errors.count == 1 && errors.first?.attributes[.isFatal] == false)
        #expect(played.outcome == .ended)
        #expect(played.all(.qualityChangeDown).count == 1)
    }

    @Test("A separate audio rendition is fetched with the video, in the preferred language", arguments: ["", "de"])
    func ownAudio(language: String) async throws {
        var ladder = Self.ladder
        ladder.hasOwnAudio = true
        let configuration = ProbeConfiguration(profile: .plain(), language: language.isEmpty ? nil : language)
        let (played, network) = try await play(configuration, of: ladder)
        let folder = language.isEmpty ? "/audio/" : "/ton/"
        let sound = network.requests.map(\.path).filter { $0.hasPrefix(folder) }
        // The last audio segment has a few frames.
        #expect(sound == [folder + "media.m3u8"] + (0..<7).map { folder + "media\($0).ts" })
        #expect(variants(network).filter { $0 == "v0" }.count == 6)
        #expect(played.outcome == .ended)
        #expect(played.first(.start)?.attributes[.language] == (language.isEmpty ? "en" : "de"))
    }
}

extension AdaptiveStreamTests {
    @Test(
        "Audio is fetched as far ahead of video as the profile lets it",
        arguments: [
            IndependentTracks(), HLSJS.Pacing(), DashJS.Pacing(lead: .seconds(1)), Shaka.Pacing(), ExoPlayer.Pacing(),
        ] as [any TrackPacing]
    )
    func audioLead(pacing: any TrackPacing) async throws {
        var ladder = Self.ladder
        ladder.hasOwnAudio = true
        var profile = PlayerProfile.plain(retries: 1)
        profile.pacing = pacing
        // One video segment hangs until it times out, so that audio could run ahead.
        let (played, network) = try await play(ProbeConfiguration(profile: profile), of: ladder) { path, count in
            path == "/v0/media2.ts" && count == 1 ? .hang : nil
        }
        #expect(played.outcome == .ended)
        let paths = network.requests.map(\.path).filter { $0.hasSuffix(".ts") }
        #expect(paths.filter { $0.hasPrefix("/audio/") }.count == 7 && paths.filter { $0.hasPrefix("/v0/") }.count == 7)
        // The largest difference between the numbers of requested audio and video segments.
        var (difference, largest) = (0, 0)
        for path in paths {
            difference += path.hasPrefix("/audio/") ? 1 : -1
            largest = max(largest, difference)
        }
        if pacing is IndependentTracks { #expect(largest > 2, "\(paths)") } else { #expect(largest <= 1, "\(paths)") }
    }

    @Test("hls.js requests the audio of a live stream once it has read the first pictures", arguments: [false, true])
    func audioOfLive(isLive: Bool) async throws {
        var ladder = Self.ladder
        ladder.hasOwnAudio = true
        let configuration = ProbeConfiguration(profile: .hlsJS)
        let fast: [(from: Int64, bitrate: Int64)] = [(0, 80_000_000)]
        let (played, network) = try await play(configuration, of: ladder, bandwidth: fast) { [ladder] path, _ in
            guard isLive, path.hasSuffix("/media.m3u8"), let bytes = ladder.resource(path) else { return nil }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            let live = lines.filter { !$0.hasPrefix("#EXT-X-PLAYLIST-TYPE") && $0 != "#EXT-X-ENDLIST" }
            return .bytes(Array(live.joined(separator: "\n").utf8))
        } script: { clock, probe in
            _ = clock.schedule(at: clock.now.advanced(by: .seconds(4))) { probe.stop() }
        }
        let media = network.requests.filter { $0.path.hasSuffix(".ts") }
        let video = try #require(media.first { !$0.path.hasPrefix("/audio/") })
        let audio = try #require(media.first { $0.path.hasPrefix("/audio/") })
        let variant = try #require(video.path.dropFirst(2).first?.wholeNumberValue)
        let read = network.end(of: Int64(ladder.size(variant)) * 8, from: video.instant) + 65_000_000
        // Playlists of other renditions may share the link.
        let late = audio.instant - read
        #expect(isLive ? 0..<20_000_000 ~= late : late < 0, "\(late) \(network.requests)")
        // The worker has started meanwhile, and the first picture does not wait for it again: 60 ms of 125 are left.
        // The next segment of the video may come first.
        let end = network.end(of: Int64(try #require(ladder.resource(audio.path)).count) * 8, from: audio.instant)
        let start = try #require(played.first(.start)).time.instant.nanoseconds
        #expect(isLive ? 60_000_000..<180_000_000 ~= start - end : start >= read + 60_000_000, "\(start - end)")
    }

    @Test("Video is at most one segment ahead of audio where neither track may run ahead")
    func videoLead() async throws {
        var ladder = Self.ladder
        ladder.hasOwnAudio = true
        var profile = PlayerProfile.plain(retries: 1)
        profile.pacing = ExoPlayer.Pacing()
        let (played, network) = try await play(ProbeConfiguration(profile: profile), of: ladder) { path, count in
            path == "/audio/media2.ts" && count == 1 ? .hang : nil
        }
        #expect(played.outcome == .ended)
        var (difference, largest) = (0, 0)
        for path in network.requests.map(\.path) where path.hasSuffix(".ts") {
            difference += path.hasPrefix("/audio/") ? -1 : 1
            largest = max(largest, difference)
        }
        #expect(largest == 1, "\(network.requests.map(\.path))")
    }

    @Test("hls.js begins with the highest rung that the first listed bitrate allows, wherever the playlist lists it")
    func firstListed() async throws {
        for (bitrates, first) in [
            ([1_200_000, 400_000, 3_000_000], "v0"), ([3_000_000, 400_000, 1_200_000], "v0"),
            ([400_000, 1_200_000, 3_000_000], "v0"), ([200_000, 400_000, 3_000_000], "v1"),
        ] {
            let configuration = ProbeConfiguration(profile: .hlsJS)
            let (_, network) = try await play(configuration, of: PaddedLadder(bitrates: bitrates))
            #expect(variants(network).first == first, "\(bitrates)")
        }
    }
}

/// The same six segments, repeated in one long playlist with discontinuities.
struct LongLadder: Sendable {
    var bitrates: [Int]
    var count: Int
    var isSound = false
    var hasNoCaptions = false

    func resource(_ path: String) -> [UInt8]? {
        let padded = PaddedLadder(bitrates: bitrates, hasNoCaptions: hasNoCaptions)
        if path == "/master.m3u8" { return Array(padded.master.utf8) }
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[1] == "media.m3u8" { return Array(playlist(0..<count, isComplete: true).utf8) }
        guard let number = Int(parts[1].dropFirst(5).dropLast(3)) else { return nil }
        return padded.resource("/\(parts[0])/media\(number % 6).ts")
    }

    func playlist(_ numbers: Range<Int>, isComplete: Bool) -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, numbers.lowerBound - 1) / 6)\n"
        for number in numbers {
            if number % 6 == 0, number > 0 { text += "#EXT-X-DISCONTINUITY\n" }
            text += "#EXTINF:2.0,\nmedia\(number).ts\n"
        }
        return text + (isComplete ? "#EXT-X-ENDLIST\n" : "")
    }
}

@Suite("Live streams in virtual time", .ownThread)
struct LiveStreamTests {
    /// A sliding window of five segments; segment n is available at (n + 1) × 2 s.
    private func play(
        from begin: Int64 = 60,
        until limit: Duration,
        profile: PlayerProfile = .plain(),
        endsAt last: Int = .max,
        freezesAt frozen: Int = .max,
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (Played, SimulatedNetwork) {
        let ladder = LongLadder(bitrates: [400_000], count: 0)
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: begin * 1_000_000_000))
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { path in
            guard path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            let there = min(Int(clock.now.nanoseconds / 2_000_000_000), last, frozen)
            return Array(ladder.playlist(max(0, there - 5)..<there, isComplete: there == last).utf8)
        }
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/master.m3u8", over: network, clock, configuration, until: limit, script: script)
        return (played, network)
    }

    @Test("Live playback starts three target durations behind the edge and follows it without a stall")
    func following() async throws {
        let (played, network) = try await play(until: .seconds(120))
        let segments = network.names.filter { $0.hasSuffix(".ts") }
        // At 60 s the window is 25 to 29 and the edge at 60 s: 54 s, where segment 27 begins.
        #expect(segments.first == "media27.ts")
        #expect(segments == (27..<(27 + segments.count)).map { "media\($0).ts" })
        #expect(segments.count >= 60)
        #expect(played.all(.bufferBegin).count == 1)
        #expect(!played.actions.contains(.error) && !played.actions.contains(.end))
        // At most one reload for each target duration.
        let reloads = network.names.filter { $0 == "media.m3u8" }.count
        #expect(reloads >= 55 && reloads <= 70, "\(reloads)")
    }

    @Test("A live stream that ends is played to its end")
    func ending() async throws {
        let (played, network) = try await play(until: .seconds(600), endsAt: 40)
        #expect(played.outcome == .ended)
        #expect(network.names.filter { $0.hasSuffix(".ts") }.last == "media39.ts")
    }

    @Test("An unchanged playlist is late, then stale, and then an error")
    func stale() async throws {
        var profile = PlayerProfile.plain()
        profile.live.staleAfter = .targetDurations(3.5)
        let (played, _) = try await play(until: .seconds(600), profile: profile, freezesAt: 40)
        guard case .failed(let error) = played.outcome else {
            Issue.record("it continued: \(played.story)")
            return
        }
        #expect(error.code == .stalePlaylist)
        #expect(played.all(.streamWarning).contains { $0.attributes[.warningCode] == "latePlaylist" })
    }

    @Test("A playback that was paused for longer than the live window resumes near the edge")
    func longPause() async throws {
        let (played, network) = try await play(
            until: .seconds(120),
            script: { clock, probe in
                clock.at(65_000) { probe.pause() }
                clock.at(125_000) { probe.resume() }
            }
        )
        let numbers = network.names.compactMap { Int($0.dropFirst(5).dropLast(3)) }
        #expect((numbers.last ?? 0) > 80, "\(numbers)")
        #expect(!played.actions.contains(.error))
        #expect(played.all(.streamWarning).contains { $0.attributes[.warningCode] == "expiredSegments" })
    }
}
