import Instrument
import TestTraits
import Testing

@testable import InstrumentProbe

/// The levels of a profile, as its player documents them.
struct DocumentedLevels: Sendable, CustomTestStringConvertible {
    let name: String
    let start: Int64
    let resume: Int64
    var block = 1
    var pictures = 0
    /// Media3's `CompositeSequenceableLoader`: the track loads whose next position is the earlier one.
    var keepsStep = false

    /// Media3's `DefaultLoadControl`, mpv's `--cache-pause-initial=no` and `--cache-pause-wait`; the others are ours.
    static let all = [
        DocumentedLevels(name: "standard", start: 1_000_000_000, resume: 1_000_000_000),
        DocumentedLevels(name: "exoplayer", start: 1_000_000_000, resume: 2_000_000_000, keepsStep: true),
        DocumentedLevels(name: "avplayer", start: 2_000_000_000, resume: 4_000_000_000),
        DocumentedLevels(name: "mpv", start: 0, resume: 1_000_000_000, block: 32_768, pictures: 1),
    ]

    var testDescription: String { name }
}

@Suite("The session beside arithmetic", .ownThread, .timeLimit(.minutes(30)))
struct ArithmeticTests {
    /// bit/s from an instant on, in milliseconds. The media have 230 to 270 kbit/s.
    private static let schedules: [[(from: Int64, bitrate: Int64)]] = [
        [(0, 2_000_000)],
        [(0, 150_000)],
        [(0, 600_000), (2500, 0), (9000, 400_000)],
        [(0, 90_000), (4000, 1_500_000)],
        [(0, 400_000), (3000, 60_000), (9000, 300_000), (12_000, 0), (18_000, 2_000_000)],
        [(0, 400_000), (3000, 0), (7000, 300_000), (9000, 0), (13_000, 900_000)],
    ]

    private static func rates(_ schedule: Int) -> [(from: Int64, bitrate: Int64)] {
        schedules[schedule].map { (from: $0.from * 1_000_000, bitrate: $0.bitrate) }
    }

    private func measured(
        _ stream: SingleVariant,
        _ profile: PlayerProfile,
        _ schedule: Int,
        _ pieceSize: Int?
    ) async -> ComputedPlayback.Outcome {
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: Self.rates(schedule), pieceSize: pieceSize) {
            stream.resource($0)
        }
        let played = await playStream("/master.m3u8", over: network, clock, ProbeConfiguration(profile: profile))
        return ComputedPlayback.Outcome(played)
    }

    /// Instants differ by what libavformat loses when it rounds an edit list to ticks; where pieces are small, by the
    /// 2 ms to which the probe keeps their instants.
    @Test(
        "Start, stalls and end are at the computed instants",
        arguments: SingleVariant.all,
        DocumentedLevels.all
    )
    func instants(stream: SingleVariant, levels: DocumentedLevels) async throws {
        var profile = try #require(PlayerProfile(named: levels.name))
        #expect(profile.segmentUse == .progressive)
        var stalls = 0
        for use in [PlayerProfile.SegmentUse.progressive, .complete] {
            profile.segmentUse = use
            for schedule in Self.schedules.indices {
                // Also in pieces smaller than a frame of sound, so that any frame can be the last one before a stop.
                let pieceSize = schedule >= (Rounds.areAll ? 4 : 5) ? 94 : nil
                let tolerance: Int64 = pieceSize == nil ? 25_000 : 2_025_000
                let computed = ComputedPlayback(
                    rates: Self.rates(schedule),
                    lanes: stream.lanes,
                    manifestSize: stream.manifestSize,
                    isProgressive: use == .progressive,
                    keepsStep: levels.keepsStep,
                    block: levels.block,
                    pictures: stream.packaging == .transportStream ? levels.pictures : 0,
                    piece: { pieceSize ?? SimulatedNetwork.pieceSize($0) }
                )
                let expected = computed.outcome(startLevel: levels.start, resumeLevel: levels.resume)
                let found = await measured(stream, profile, schedule, pieceSize)
                #expect(
                    found.largestDifference(from: expected) <= tolerance,
                    "\(use), \(schedule): \(found), not \(expected)"
                )
                // Of the last frame of sound, fragments keep a part, and libavformat does not say which.
                let isFragmented = stream.packaging == .fragments
                #expect(abs((found.end ?? .max) - (expected.end ?? 0)) < (isFragmented ? 21_334_000 : tolerance))
                stalls += expected.stalls.count
            }
        }
        #expect(stalls > 5)
    }
}

extension ComputedPlayback.Outcome {
    /// The instants of a playback, from the origin of its clock or from an earlier instant.
    init(_ played: Played, from zero: Int64 = 0) {
        func instants(_ action: Action) -> [Int64] {
            played.all(action).map { $0.time.instant.nanoseconds - zero }
        }
        start = instants(.start).first
        // The first wait is that before the start.
        let pairs = zip(instants(.bufferBegin), instants(.bufferFinish)).dropFirst()
        stalls = pairs.map { ComputedPlayback.Stall(begin: $0, end: $1) }
        end = instants(.end).first
    }

    /// The largest difference of the start or an instant of a stall, in nanoseconds; the largest number if the numbers
    /// of stalls differ.
    func largestDifference(from other: ComputedPlayback.Outcome) -> Int64 {
        guard instants.count == other.instants.count else { return .max }
        return zip(instants, other.instants).map { abs($0 - $1) }.max() ?? 0
    }
}
