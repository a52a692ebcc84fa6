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

    /// The schedule, and those with stops up to 5 ms earlier or later: whether the last byte of a frame leaves before
    /// the link stops is a matter of the machine's timers, and changes a stall by a frame.
    private static var possibleRates: [[(from: Int64, bitrate: Int64)]] {
        rates.indices.filter { rates[$0].bitrate == 0 }.reduce([rates]) { all, stop in
            all.flatMap { rates in
                ([0, -5_000_000, 5_000_000] as [Int64]).map { shift in
                    var shifted = rates
                    shifted[stop].from += shift
                    return shifted
                }
            }
        }
    }

    /// A playback and its possible results by arithmetic.
    private struct Pair: Sendable {
        var name: String
        var found: ComputedPlayback.Outcome
        var expected: [ComputedPlayback.Outcome]
        /// From the request for the media until the server received the first request, in nanoseconds.
        var opening: Int64

        var difference: Int64 { expected.map { found.largestDifference(from: $0) }.min() ?? .max }
    }

    /// The requests of a session as the origin received them, without that of the manifest, and the instant of that
    /// one, at which the schedule begins.
    private static func received(_ origin: Origin, _ session: String) -> ([ComputedPlayback.Request], Int64) {
        let records = origin.requests(of: session)
        let requests = records.dropFirst().map { record in
            ComputedPlayback.Request(lane: record.path.contains("/a/") ? 1 : 0, instant: record.start.nanoseconds)
        }
        return (requests, origin.instantOfFirst(records).nanoseconds)
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

    /// The machine spoils one run and not another; a fault is in each.
    @Test(
        "Start and stalls are within 20 ms of the computed instants in one run of three",
        arguments: [PlayerProfile.SegmentUse.progressive, .complete]
    )
    func instants(use: PlayerProfile.SegmentUse) async throws {
        let folder = try SingleVariant.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var misses: [Pair] = []
        for _ in 0..<3 {
            let machine = MachineLoad()
            let pairs = try await play(folder, use)
            #expect(pairs.count == 16 && pairs.contains { $0.expected[0].stalls.count > 1 })
            misses = pairs.filter { $0.difference > 20_000_000 }
            if misses.isEmpty || !machine.allowsJudging("start and stalls of streams, to 20 ms") { return }
        }
        for pair in misses { Issue.record("\(pair.name): \(pair.found), not \(pair.expected[0])") }
    }

    private func play(_ folder: URL, _ use: PlayerProfile.SegmentUse) async throws -> [Pair] {
        let origin = try await origin(serving: folder)
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
                        let played = await Played(inRealTime: address, ProbeConfiguration(profile: profile))
                        var computed = computed
                        let (requests, zero) = Self.received(origin, name)
                        computed.received = requests
                        let expected = Self.possibleRates.map { rates in
                            computed.rates = rates
                            return computed.outcome(startLevel: levels.start, resumeLevel: levels.resume)
                        }
                        let found = ComputedPlayback.Outcome(played, from: zero)
                        let asked = played.first(.mediaRequest)?.time.instant.nanoseconds ?? 0
                        return Pair(name: name, found: found, expected: expected, opening: zero - asked)
                    }
                }
            }
            return try await group.reduce(into: [Pair]()) { $0.append($1) }
        }
        await origin.stop()
        let farthest = try #require(pairs.max { $0.difference < $1.difference })
        let opening = pairs.map(\.opening).max() ?? 0
        print(
            "start and stalls on loopback: \(farthest.difference / 1000) µs from the computed instants at most, in"
                + " \(farthest.name): \(farthest.found), not \(farthest.expected[0]);"
                + " the first request took \(opening / 1000) µs at most"
        )
        return pairs
    }
}

extension Origin {
    /// The instant at which the first of a session's requests came, and the session's schedule began.
    func instantOfFirst(_ requests: [AccessRecord]) -> MonotonicInstant {
        startTime.instant.advanced(by: requests.first.map { $0.sinceOriginStart - $0.start } ?? .zero)
    }
}
