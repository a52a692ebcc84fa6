import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Streams in virtual time", .ownThread)
struct StreamEngineTests {
    /// One byte a microsecond.
    private static let fast: [(from: Int64, bitrate: Int64)] = [(0, 8_000_000)]
    private static let sizes: [Int64] = {
        (0..<6).map { Int64((try? Fixtures.data(Fixtures.hlsTS.get() + "/media\($0).ts").count) ?? 0) }
    }()
    private static let playlistSize: Int64 = Int64(
        (try? Fixtures.data(Fixtures.hlsTS.get() + "/media.m3u8").count) ?? 0
    )

    private static func resource(_ folder: Result<String, FixtureError>) throws -> @Sendable (String) -> [UInt8]? {
        let folder = try folder.get()
        return { path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
    }

    private func play(
        _ folder: Result<String, FixtureError> = Fixtures.hlsTS,
        _ profile: PlayerProfile = .plain(),
        bandwidth: [(from: Int64, bitrate: Int64)] = fast,
        latency: Int64 = 0,
        until limit: Duration = .seconds(600),
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault? = { _, _ in nil },
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: bandwidth,
            latency: latency,
            fault: fault,
            resource: try Self.resource(folder)
        )
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/media.m3u8", over: network, clock, configuration, until: limit, script: script)
        return (played, network)
    }

    private static let allNames = ["media.m3u8"] + (0..<6).map { "media\($0).ts" }
    /// The end of the sound, whose frames do not end with the picture.
    private static let end: Int64 = 12_011

    @Test("A stream over a fast link is played to its end, with each request once and in order")
    func plain() async throws {
        let (played, network) = try await play()
        #expect(network.names == Self.allNames)
        let start = (Self.playlistSize + Self.sizes[0]) / 1000
        #expect(
            played.story == [
                "MediaRequest 0", "PrepareItem 0", "ManifestLoad 0", "StreamLoad 0", "BufferBegin 0",
                "BufferFinish \(start)", "Start \(start)", "End \(start + Self.end)",
            ]
        )
        #expect(played.outcome == .ended)
        #expect(played.first(.start)?.attributes[.resolutionWidth] == 320)
    }

    @Test("A latency of each response delays the start by two latencies")
    func latency() async throws {
        let (played, _) = try await play(latency: 100_000_000)
        let start = (Self.playlistSize + Self.sizes[0]) / 1000
        #expect(played.time(.start) == start + 200)
    }

    @Test("A temporary outage stalls playback for the time computed by hand")
    func stall() async throws {
        // The network stops at 100 ms and continues at 5 s. At that instant the playlist, the first segment and a part
        // of the second have arrived.
        let bandwidth: [(from: Int64, bitrate: Int64)] = [(0, 8_000_000), (100_000_000, 0), (5_000_000_000, 8_000_000)]
        let (played, _) = try await play(bandwidth: bandwidth)
        let start = (Self.playlistSize + Self.sizes[0]) / 1000
        // Complete segments only: the second one is complete when its remainder has arrived.
        let rest = (Self.playlistSize + Self.sizes[0] + Self.sizes[1]) / 1000 - 100
        let begun = played.all(.bufferBegin).last?.time.instant.milliseconds
        let finished = played.all(.bufferFinish).last?.time.instant.milliseconds
        // The end of the shorter track in the first segment.
        let first = try SegmentDemuxer.demux([UInt8](try Fixtures.data(Fixtures.hlsTS.get() + "/media0.ts")))
        let (video, audio) = (try #require(first.video), try #require(first.audio))
        let shown = (min(video.end, audio.end) - video.start) / 1_000_000
        #expect(begun == start + shown)
        #expect(finished == 5000 + rest)
        #expect(played.outcome == .ended)
    }

    @Test("With progressive segments, playback starts at the threshold instead of the segment's end")
    func progressive() async throws {
        let slow: [(from: Int64, bitrate: Int64)] = [(0, 400_000)]
        let (whole, _) = try await play(bandwidth: slow)
        let (parts, network) = try await play(Fixtures.hlsTS, .plain(use: .progressive), bandwidth: slow)
        let (late, early) = (try #require(whole.time(.start)), try #require(parts.time(.start)))
        #expect(late == (Self.playlistSize + Self.sizes[0]) * 8 / 400)
        // About one of two seconds, depending on the distribution of the bits.
        #expect(early > late * 4 / 10 && early < late * 8 / 10, "\(early) of \(late)")
        #expect(network.names == Self.allNames)
        #expect(parts.outcome == .ended)
    }

    @Test("Fetching pauses at the maximum buffer, and resumes when the buffer has room")
    func maximum() async throws {
        let (played, network) = try await play(Fixtures.hlsTS, .plain(maximum: .seconds(4)))
        #expect(played.all(.bufferBegin).count == 1)
        #expect(network.names == Self.allNames)
        let instants = network.requests.map { $0.instant / 1_000_000 }
        let start = (Self.playlistSize + Self.sizes[0]) / 1000
        // Two segments (4 s) at once; then one whenever the buffer has less than 4 s, 4.01 s with the sound.
        #expect(instants[3] < start + 100)
        for (index, instant) in instants.enumerated().dropFirst(4) {
            #expect(abs(instant - (start + Int64(index - 3) * 2000)) < 30, "\(instants)")
        }
    }

    @Test("A pause delays the start, and a seek to missing media fetches from there without repetition")
    func controls() async throws {
        let (played, network) = try await play(
            Fixtures.hlsTS,
            .plain(maximum: .seconds(2)),
            script: { clock, probe in
                clock.at(1000) { probe.seek(to: .milliseconds(9000)) }
            }
        )
        let names = network.names
        #expect(names.contains("media4.ts") && names.contains("media5.ts") && !names.contains("media3.ts"))
        #expect(Set(names).count == names.count)
        #expect(played.actions.filter { [.seekBegin, .seekFinish].contains($0) } == [.seekBegin, .seekFinish])
        let jumped = try #require(played.time(.seekFinish))
        // 9 s are in the fifth segment, which begins at 8 s.
        #expect(jumped == 1000 + Self.sizes[4] / 1000)
        #expect(played.time(.end).map { abs($0 - (jumped + Self.end - 9000)) <= 1 } == true)
    }

    @Test("A requested start position determines the first segment")
    func startAt() async throws {
        let (played, network) = try await play(script: { _, probe in probe.seek(to: .seconds(5)) })
        #expect(network.names == ["media.m3u8", "media2.ts", "media3.ts", "media4.ts", "media5.ts"])
        #expect(played.first(.start)?.attributes[.position] == .milliseconds(5000))
        #expect(!played.actions.contains(.seekBegin))
    }

    @Test("Fragmented MP4 fetches its initialization once")
    func fragmented() async throws {
        let (played, network) = try await play(Fixtures.hlsMP4)
        #expect(network.names == ["media.m3u8", "init.mp4"] + (0..<6).map { "media\($0).m4s" })
        #expect(played.outcome == .ended)
        #expect(played.actions.contains(.streamWarning) == false)
    }

    @Test("An encrypted stream fetches its key once and plays like the clear one")
    func encrypted() async throws {
        let folder = try Fixtures.hlsEncrypted.get()
        try Data(0..<16).write(to: URL(filePath: folder + "/media.key"))
        let (played, network) = try await play(Fixtures.hlsEncrypted)
        #expect(network.names == ["media.m3u8", "media.key"] + (0..<6).map { "media\($0).ts" })
        #expect(played.outcome == .ended)
        #expect(played.time(.end).map { $0 > 12_000 } == true)
    }
}

@Suite("Streams with faults", .ownThread)
struct StreamFaultTests {
    private func play(
        _ profile: PlayerProfile,
        until limit: Duration = .seconds(600),
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault?
    ) async throws -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let folder = try Fixtures.hlsTS.get()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)], fault: fault) { path in
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return (try? Fixtures.data(folder + "/" + name)).map { [UInt8]($0) }
        }
        let configuration = ProbeConfiguration(profile: profile)
        return (await playStream("/media.m3u8", over: network, clock, configuration, until: limit), network)
    }

    private func failure(of played: Played) -> ProbeError? {
        if case .failed(let error) = played.outcome { error } else { nil }
    }

    @Test("A missing playlist is an error without a retry", arguments: [404, 403, 500])
    func noPlaylist(status: Int) async throws {
        let (played, _) = try await play(.plain()) { _, _ in .status(status) }
        let error = try #require(failure(of: played))
        #expect(error.status == status && error.phase == .manifest)
        #expect(error.code == (status == 404 ? .notFound : .httpStatus))
        #expect(played.story.map { $0.split(separator: " ")[0] } == ["MediaRequest", "PrepareItem", "Error"])
    }

    @Test("A segment that fails twice is requested three times, without an effect on playback")
    func retries() async throws {
        let (played, network) = try await play(.plain(retries: 2)) { path, count in
            path.hasSuffix("media2.ts") && count < 3 ? .status(503) : nil
        }
        #expect(network.names.filter { $0 == "media2.ts" }.count == 3)
        #expect(played.outcome == .ended)
        #expect(!played.actions.contains(.error))
    }

    @Test("A missing segment ends playback when the buffer has been played")
    func missing() async throws {
        let (played, _) = try await play(.plain(retries: 1)) { path, _ in
            path.hasSuffix("media2.ts") ? .status(404) : nil
        }
        let error = try #require(failure(of: played))
        #expect(error.code == .notFound && error.phase == .segment && error.status == 404)
        #expect(error.url == "http://origin.example/media2.ts")
        // Two segments had arrived: 4 s after the start.
        let (start, end) = (try #require(played.time(.start)), try #require(played.time(.error)))
        #expect(end - start >= 4000 && end - start <= 4050, "\(end - start)")
        #expect(!played.actions.contains(.end))
    }

    @Test("A player that skips a missing segment continues after it")
    func skipped() async throws {
        let (played, network) = try await play(.plain(after: [.skipSegment])) { path, _ in
            path.hasSuffix("media2.ts") ? .breakAfter(1000) : nil
        }
        #expect(played.outcome == .ended)
        #expect(network.names.suffix(3) == ["media3.ts", "media4.ts", "media5.ts"])
        #expect(played.first(.error)?.attributes[.isFatal] == false)
        #expect(played.first(.streamWarning)?.attributes[.warningCode] == "missingSegment")
    }

    @Test("A request to a hanging server times out", arguments: [0, 5000])
    func hang(bytes: Int) async throws {
        let (played, network) = try await play(.plain(retries: 1)) { path, _ in
            path.hasSuffix("media1.ts") ? .hangAfter(bytes) : nil
        }
        #expect(failure(of: played)?.code == .timedOut)
        let tries = network.requests.filter { $0.path.hasSuffix("media1.ts") }.map { $0.instant / 1_000_000 }
        #expect(tries.count == 2)
        // 5 s without a byte, then 1 s of the timeout.
        #expect(tries[1] - tries[0] == 6000 + Int64(bytes) / 1000)
    }

    @Test("Content that is not media is an error of the content, not of the network")
    func wrongContent() async throws {
        let page = Array("<html>please log in</html>".utf8)
        for (name, phase) in [("media.m3u8", ProbeError.Phase.manifest), ("media0.ts", .segment)] {
            let (played, network) = try await play(.plain(retries: 3)) { path, _ in
                path.hasSuffix(name) ? .bytes(page) : nil
            }
            let error = try #require(failure(of: played))
            #expect(error.phase == phase)
            #expect(error.code == .wrongContent || error.code == .invalidManifest, "\(error)")
            #expect(network.names.filter { $0 == name }.count == 1)
        }
    }
}
