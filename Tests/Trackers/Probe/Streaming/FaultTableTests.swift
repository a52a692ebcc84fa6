import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// A fault, its place, and the response by the published rules of a player.
struct FaultRow: Sendable, CustomTestStringConvertible {
    var profile: PlayerProfile
    var fault: SimulatedNetwork.Fault
    /// The last part of the path that always fails.
    var name: String
    /// Milliseconds between two attempts, within a quarter if the profile has jitter.
    var waits: [Int64]
    var code: ProbeError.Code

    var testDescription: String { "\(profile.name): \(fault) in \(name)" }

    init(
        _ profile: PlayerProfile,
        _ fault: SimulatedNetwork.Fault,
        _ name: String,
        _ waits: [Int64],
        _ code: ProbeError.Code
    ) {
        (self.profile, self.fault, self.name, self.waits, self.code) = (profile, fault, name, waits, code)
    }

    /// ExoPlayer retries every request three times, after 0, 1 and 2 s, and waits 8 s for a byte.
    static let exoPlayer: [FaultRow] = ["master.m3u8", "media.m3u8", "media2.ts"].flatMap { name in
        [
            FaultRow(.exoPlayer, .status(404), name, [0, 1000, 2000], .notFound),
            FaultRow(.exoPlayer, .status(500), name, [0, 1000, 2000], .httpStatus),
            FaultRow(.exoPlayer, .breakAfter(0), name, [0, 1000, 2000], .connection),
            FaultRow(.exoPlayer, .hang, name, [8000, 9000, 10_000], .timedOut),
        ]
    }

    /// hls.js takes another level after 4xx and broken connections; without one, it retries them, too.
    static let hlsJS: [FaultRow] =
        [SimulatedNetwork.Fault.status(404), .breakAfter(0)].flatMap { fault -> [FaultRow] in
            let code: ProbeError.Code = if case .status = fault { .notFound } else { .connection }
            return [
                FaultRow(.hlsJS, fault, "master.m3u8", [], code),
                FaultRow(.hlsJS, fault, "media.m3u8", [1000, 2000], code),
                FaultRow(.hlsJS, fault, "media2.ts", [1000, 2000, 4000, 8000, 8000, 8000], code),
            ]
        } + [
            FaultRow(.hlsJS, .status(500), "master.m3u8", [1000], .httpStatus),
            FaultRow(.hlsJS, .status(500), "media.m3u8", [1000, 2000], .httpStatus),
            FaultRow(.hlsJS, .status(500), "media2.ts", [1000, 2000, 4000, 8000, 8000, 8000], .httpStatus),
            // No separate limit for the first byte, so that the probe's limit applies.
            FaultRow(.hlsJS, .hang, "master.m3u8", [15_000, 15_000], .timedOut),
            FaultRow(.hlsJS, .hang, "media.m3u8", [10_000, 10_000], .timedOut),
            FaultRow(.hlsJS, .hang, "media2.ts", [10_000, 10_000, 10_000, 10_000], .timedOut),
        ]

    /// Shaka tries everything twice, with a second in between.
    static let shaka: [FaultRow] = ["master.m3u8", "media.m3u8", "media2.ts"].flatMap { name in
        [
            FaultRow(.shaka, .status(403), name, [1000], .httpStatus),
            FaultRow(.shaka, .breakAfter(0), name, [1000], .connection),
            FaultRow(.shaka, .hang, name, [11_000], .timedOut),
        ]
    }

    /// The probe's profile: 1, 2 and 4 s, for statuses that may be temporary.
    static let standard: [FaultRow] = ["master.m3u8", "media.m3u8", "media2.ts"].flatMap { name in
        [
            FaultRow(.standard, .status(403), name, [], .httpStatus),
            FaultRow(.standard, .status(404), name, [1000, 2000, 4000], .notFound),
            FaultRow(.standard, .status(500), name, [1000, 2000, 4000], .httpStatus),
            FaultRow(.standard, .breakAfter(0), name, [1000, 2000, 4000], .connection),
            FaultRow(.standard, .hang, name, [11_000, 12_000, 14_000], .timedOut),
        ]
    }

    /// No player retries a complete but unusable resource.
    static let wrong: [FaultRow] = [PlayerProfile.exoPlayer, .hlsJS, .standard].flatMap { profile in
        ["master.m3u8", "media.m3u8", "media2.ts"].map {
            FaultRow(profile, .bytes(Array("<html>log in</html>".utf8)), $0, [], .wrongContent)
        }
    }
}

@Suite("Responses of players to faults", .ownThread, .timeLimit(.minutes(30)))
struct FaultTableTests {
    private static let ladder = PaddedLadder(bitrates: [400_000])

    private func play(
        _ path: String = "/master.m3u8",
        _ profile: PlayerProfile,
        fault: @escaping @Sendable (String, Int) -> SimulatedNetwork.Fault?,
        resource: @escaping @Sendable (String) -> [UInt8]? = { ladder.resource($0) }
    ) async -> (Played, SimulatedNetwork) {
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 80_000_000)], fault: fault, resource: resource)
        return (await playStream(path, over: network, clock, ProbeConfiguration(profile: profile)), network)
    }

    @Test(
        "A failed segment is retried by the profile, and is an error after the buffer has been played",
        arguments: FaultRow.exoPlayer + FaultRow.hlsJS + FaultRow.shaka + FaultRow.standard + FaultRow.wrong
    )
    func table(row: FaultRow) async throws {
        let (played, network) = await play("/master.m3u8", row.profile) { path, _ in
            path.hasSuffix("/" + row.name) ? row.fault : nil
        }
        let tries = network.requests.filter { $0.path.hasSuffix("/" + row.name) }.map { $0.instant / 1_000_000 }
        try #require(tries.count == row.waits.count + 1, "\(tries)")
        for (index, wait) in row.waits.enumerated() {
            // A fetch itself takes a millisecond or two.
            let spread: Int64 = row.profile == .standard ? 1004 : row.profile == .shaka ? 504 : 4
            #expect(abs(tries[index + 1] - tries[index] - wait) <= spread, "\(tries)")
        }
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == row.code || (row.code == .wrongContent && error.code == .invalidManifest), "\(error)")
        #expect(played.all(.error).count == 1 && played.first(.error)?.attributes[.isFatal] == true)
        let opening = ["MediaRequest", "PrepareItem"]
        let loading = opening + ["ManifestLoad", "StreamLoad", "BufferBegin"]
        let story = played.story.map { String($0.prefix { $0 != " " }) }
        switch row.name {
        case "master.m3u8": #expect(story == opening + ["Error"])
        case "media.m3u8": #expect(story == loading + ["Error"])
        default:
            // Two segments of two seconds are buffered: a profile with longer retries stalls first.
            let start = try #require(played.time(.start))
            let isLate = (tries.last ?? 0) > start + 4000 || "\(row.fault)" == "hang"
            #expect(story == loading + ["BufferFinish", "Start"] + (isLate ? ["BufferBegin"] : []) + ["Error"])
            #expect(played.time(.error).map { $0 >= start + 4000 } == true)
        }
    }

    @Test(
        "All three profiles switch to another variant with a warning",
        arguments: ["exoplayer", "hlsjs", "standard"],
        [404, 500]
    )
    func fallback(name: String, status: Int) async throws {
        let two = PaddedLadder(bitrates: [1_200_000, 400_000])
        let profile = try #require(PlayerProfile(named: name))
        let (played, network) = await play(
            "/master.m3u8",
            profile,
            fault: { path, _ in
                path.hasPrefix("/v0/") && path.hasSuffix("ts") ? .status(status) : nil
            },
            resource: { two.resource($0) }
        )
        #expect(played.outcome == .ended, "\(played.story)")
        #expect(played.all(.error).allSatisfy { $0.attributes[.isFatal] == false })
        #expect(network.requests.contains { $0.path == "/v1/media5.ts" })
        #expect(Set(network.requests.map(\.path).filter { $0.hasPrefix("/v1/") }).count == 7)
        if name == "exoplayer" {
            // At once, and then the variant is excluded for a minute.
            #expect(network.requests.filter { $0.path.hasPrefix("/v0/media") && $0.path.hasSuffix("ts") }.count <= 1)
        }
    }

    @Test(
        "Initialization sections and keys are retried by the profile",
        arguments: [
            ("exoplayer", "init.mp4", 4), ("hlsjs", "init.mp4", 7), ("standard", "init.mp4", 4),
            ("exoplayer", "media.key", 4), ("hlsjs", "media.key", 9), ("standard", "media.key", 4),
        ]
    )
    func parts(name: String, part: String, tries: Int) async throws {
        let folder = try (part == "init.mp4" ? Fixtures.hlsMP4 : Fixtures.hlsEncrypted).get()
        let profile = try #require(PlayerProfile(named: name))
        let (played, network) = await play(
            "/media.m3u8",
            profile,
            fault: { path, _ in
                path.hasSuffix(part) ? .status(500) : nil
            },
            resource: { path in (try? Fixtures.data(folder + path)).map { [UInt8]($0) } }
        )
        // A segment that was requested with its section waits for it, and is not requested again.
        let segments = network.names.filter { $0.hasSuffix("m4s") }
        let isTogether = profile.initializationLoading == .withSegment && part == "init.mp4"
        #expect(segments == (isTogether ? ["media0.m4s"] : []))
        #expect(network.names.filter { !$0.hasSuffix("m4s") } == ["media.m3u8"] + Array(repeating: part, count: tries))
        guard case .failed(let error) = played.outcome else {
            Issue.record("\(played.story)")
            return
        }
        #expect(error.code == .httpStatus && error.phase == (part == "init.mp4" ? .initialization : .key))
    }

    @Test(
        "A live playlist that fails temporarily is only a warning",
        arguments: ["exoplayer", "hlsjs", "standard"]
    )
    func reload(name: String) async throws {
        let ladder = LongLadder(bitrates: [400_000], count: 0)
        var profile = try #require(PlayerProfile(named: name))
        profile.live.staleAfter = .duration(.seconds(60))
        let clock = VirtualClock(startingAt: MonotonicInstant(nanoseconds: 60_000_000_000))
        let network = SimulatedNetwork(
            clock: clock,
            bandwidth: [(0, 80_000_000)],
            fault: { path, count in path.hasSuffix("media.m3u8") && 3...3 ~= count ? .status(503) : nil }
        ) { path in
            guard path.hasSuffix("media.m3u8") else { return ladder.resource(path) }
            let there = Int(clock.now.nanoseconds / 2_000_000_000)
            return Array(ladder.playlist(there - 5..<there, isComplete: false).utf8)
        }
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/master.m3u8", over: network, clock, configuration, until: .seconds(40))
        #expect(played.outcome == nil)
        #expect(!played.actions.contains(.error) && played.all(.bufferBegin).count == 1, "\(played.story)")
        let segments = network.names.filter { $0.hasSuffix("ts") }
        #expect(Set(segments).count == segments.count && segments.count > 15)
    }
}
