import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// Real requests over real sockets to the test origin, in real time.
@Suite("The session beside arithmetic on loopback", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct ArithmeticAloneTests {
    private static let schedule = "400k for 3s, 0k for 4s, 300k for 2s, 0k for 4s, 900k"
    private static let rates: [(from: Int64, bitrate: Int64)] = [
        (0, 400_000), (3_000_000_000, 0), (7_000_000_000, 300_000), (9_000_000_000, 0), (13_000_000_000, 900_000),
    ]

    /// A playback and its result by arithmetic.
    private struct Pair: Sendable {
        var name: String
        var found: ComputedPlayback.Outcome
        var expected: ComputedPlayback.Outcome
    }

    /// The requests of a session as the origin received them, without that of the manifest.
    private static func received(_ origin: Origin, _ session: String) -> [ComputedPlayback.Request] {
        origin.requests(of: session).dropFirst().map { record in
            ComputedPlayback.Request(lane: record.path.contains("/a/") ? 1 : 0, instant: record.start.nanoseconds)
        }
    }

    private func origin(serving folder: URL) async throws -> Origin {
        var settings = OriginConfiguration()
        // The link serves requests in their order, and hardly any byte leaves later than its instant.
        settings.sharing = .firstComeFirstServed
        settings.granularity = .milliseconds(1)
        return try await Origin.start(
            media: [.files(folder.path)],
            schedule: try DeliverySchedule(Self.schedule),
            configuration: settings
        )
    }

    private static func play(_ address: String, _ profile: PlayerProfile) async -> ComputedPlayback.Outcome {
        let played = await Played(inRealTime: address, ProbeConfiguration(profile: profile))
        return ComputedPlayback.Outcome(played, from: played.first(.mediaRequest)?.time.instant.nanoseconds ?? 0)
    }

    @Test(
        "Start and stalls are within 20 ms of the computed instants, and within two frames where parts of segments play",
        arguments: [PlayerProfile.SegmentUse.progressive, .complete]
    )
    func instants(use: PlayerProfile.SegmentUse) async throws {
        let folder = try SingleVariant.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await origin(serving: folder)
        let machine = MachineLoad()
        let pairs = try await withThrowingTaskGroup(of: Pair.self) { group in
            for stream in SingleVariant.all {
                for levels in DocumentedLevels.all {
                    var profile = try #require(PlayerProfile(named: levels.name))
                    profile.segmentUse = use
                    let name = "\(stream.name)-\(levels.name)"
                    let address = origin.url("media/\(stream.name)/master.m3u8", session: name)
                    let computed = ComputedPlayback(
                        rates: Self.rates,
                        lanes: stream.lanes,
                        manifestSize: stream.manifestSize,
                        isProgressive: use == .progressive,
                        block: levels.block,
                        pictures: stream.packaging == .transportStream ? levels.pictures : 0
                    )
                    group.addTask { [profile, computed] in
                        let found = await Self.play(address, profile)
                        var computed = computed
                        computed.received = Self.received(origin, name)
                        let expected = computed.outcome(startLevel: levels.start, resumeLevel: levels.resume)
                        return Pair(name: name, found: found, expected: expected)
                    }
                }
            }
            return try await group.reduce(into: [Pair]()) { $0.append($1) }
        }
        await origin.stop()
        #expect(pairs.count == 16 && pairs.contains { $0.expected.stalls.count > 1 })
        let largest = pairs.map { $0.found.largestDifference(from: $0.expected) }.max() ?? 0
        print("start and stalls on loopback: \(largest / 1000) µs from the computed instants at most")
        // The link sends pieces, and pieces of two requests in turns: a frame may arrive with the piece before or after
        // the computed one. Measured were 40 ms; a picture lasts 40 ms.
        let tolerance: Int64 = use == .complete ? 20_000_000 : 80_000_000
        guard machine.allowsJudging("start and stalls of streams, to 20 or 80 ms") else { return }
        for pair in pairs {
            let isNear = pair.found.largestDifference(from: pair.expected) <= tolerance
            #expect(isNear, "\(pair.name): \(pair.found), not \(pair.expected)")
        }
    }
}
