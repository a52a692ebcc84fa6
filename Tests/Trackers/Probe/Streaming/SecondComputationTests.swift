import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

/// The rungs by the number of the segment.
struct RungScript: AdaptationRule {
    var script: [Int]

    mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        AdaptationDecision(rung: script[min(context.segment.index, script.count - 1)])
    }
}

@Suite("The session, computed twice", .ownThread, .timeLimit(.minutes(30)))
struct SecondComputationTests {
    /// The content of segments, and of the first segment of each variant, which is inspected closely and whose times
    /// differ by nanoseconds.
    private static let picture = contents(of: Fixtures.hlsTS, count: 6)
    private static let closePicture = contents(of: Fixtures.hlsTS, count: 6, inspecting: true)
    private static let sound =
        contents(of: Fixtures.hlsSound, count: 1, inspecting: true)
        + contents(of: Fixtures.hlsSound, count: 7).dropFirst()

    private static func contents(
        of folder: Result<String, FixtureError>,
        count: Int,
        inspecting: Bool = false
    ) -> [SegmentContent] {
        guard let folder = try? folder.get() else { return [] }
        return (0..<count).compactMap { number in
            guard let data = try? Fixtures.data("\(folder)/media\(number).ts") else { return nil }
            return try? SegmentDemuxer.demux([UInt8](data), inspecting: inspecting)
        }
    }

    /// The random parameters of a session.
    private struct Draw {
        var ladder: PaddedLadder
        var script: [Int]
        var profile: PlayerProfile
        var levels: (start: Int64, resume: Int64, maximum: Int64)
        var latency: Int64
        var rates: [(from: Int64, bitrate: Int64)]

        init(_ random: inout SeededGenerator) {
            let rungs = Int.random(in: 1...4, using: &random)
            var bitrate = Int.random(in: 300_000...600_000, using: &random)
            var bitrates: [Int] = []
            for _ in 0..<rungs {
                bitrates.append(bitrate)
                bitrate += Int.random(in: 100_000...2_000_000, using: &random)
            }
            ladder = PaddedLadder(bitrates: bitrates, hasOwnAudio: Bool.random(using: &random))
            script = [0] + (1..<8).map { _ in Int.random(in: 0..<rungs, using: &random) }
            let maximum = Int64.random(in: 1_500_000_000...20_000_000_000, using: &random)
            levels = (
                Int64.random(in: 0...maximum, using: &random), Int64.random(in: 0...maximum, using: &random), maximum
            )
            profile = .plain(
                start: .nanoseconds(levels.start),
                resume: .nanoseconds(levels.resume),
                maximum: .nanoseconds(maximum),
                rule: RungScript(script: script)
            )
            // No download may be aborted here.
            profile[retry: .segment].stallTimeout = .seconds(3000)
            profile[retry: .playlist].stallTimeout = .seconds(3000)
            profile[retry: .manifest].stallTimeout = .seconds(3000)
            latency = Bool.random(using: &random) ? 0 : Int64.random(in: 0...800_000_000, using: &random)
            rates = [(0, Int64.random(in: 200_000...6_000_000, using: &random))]
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let from = rates[rates.count - 1].from + Int64.random(in: 1...6_000_000_000, using: &random)
                let isDead = Int.random(in: 0..<5, using: &random) == 0
                rates.append((from, isDead ? 0 : Int64.random(in: 50_000...6_000_000, using: &random)))
            }
            if rates[rates.count - 1].bitrate == 0 { rates[rates.count - 1].bitrate = 1_000_000 }
        }
    }

    private func expected(_ draw: Draw) -> ReferenceSession.Outcome {
        func bits(_ path: String) -> Int64 { Int64(draw.ladder.resource(path)?.count ?? 0) * 8 }
        let offset = -(Self.picture[0].video?.start ?? 0)
        let rungs = draw.ladder.bitrates.indices
        let main = ReferenceSession.Stream(
            ends: Self.picture.indices.map { number in
                let isFirst = !draw.script[..<number].contains(draw.script[number])
                let content = (isFirst ? Self.closePicture : Self.picture)[number]
                let tracks = draw.ladder.hasOwnAudio ? [content.video] : [content.video, content.audio]
                return tracks.compactMap { $0.map { $0.end + offset } }
            },
            starts: Self.picture.map { ($0.video?.start ?? 0) + offset },
            bits: rungs.map { rung in Self.picture.indices.map { bits("/v\(rung)/media\($0).ts") } },
            playlistBits: rungs.map { bits("/v\($0)/media.m3u8") }
        )
        let audio = ReferenceSession.Stream(
            ends: Self.sound.map { [($0.audio?.end ?? 0) + offset] },
            starts: [],
            bits: [Self.sound.indices.map { bits("/audio/media\($0).ts") }],
            playlistBits: [bits("/audio/media.m3u8")]
        )
        var session = ReferenceSession(
            draw.ladder.hasOwnAudio ? [main, audio] : [main],
            script: draw.script,
            levels: draw.levels,
            latency: draw.latency,
            rates: draw.rates.map { ($0.from, $0.bitrate) }
        )
        return session.run(masterBits: bits("/master.m3u8"))
    }

    private func measured(_ draw: Draw) async -> ReferenceSession.Outcome {
        let clock = VirtualClock()
        let ladder = draw.ladder
        let network = SimulatedNetwork(clock: clock, bandwidth: draw.rates, latency: draw.latency) {
            ladder.resource($0)
        }
        let configuration = ProbeConfiguration(
            profile: draw.profile,
            limits: StreamLimits(longestFetch: .seconds(3000))
        )
        let played = await playStream("/master.m3u8", over: network, clock, configuration)
        func instants(_ actions: Action...) -> [Int64] {
            played.events.filter { actions.contains($0.action) }.map { $0.time.instant.nanoseconds }
        }
        return ReferenceSession.Outcome(
            waits: instants(.bufferBegin),
            resumptions: instants(.bufferFinish),
            start: instants(.start).first,
            changes: instants(.qualityChangeUp, .qualityChangeDown),
            end: instants(.end).first,
            requests: network.requests.map(\.instant)
        )
    }

    @Test("Every event and every request of random sessions is at the computed nanosecond", arguments: 0..<Rounds.of(8))
    func random(part: Int) async throws {
        try #require(Self.picture.count == 6 && Self.sound.count == 7)
        var (stalls, changes) = (0, 0)
        for number in 0..<50 {
            var random = SeededGenerator(seed: UInt64(part * 1000 + number))
            let draw = Draw(&random)
            let (expected, measured) = (expected(draw), await measured(draw))
            #expect(measured == expected, "seed \(part * 1000 + number): \(draw)")
            if measured != expected { return }
            stalls += expected.waits.count - 1
            changes += expected.changes.count
        }
        #expect(stalls > 5 && changes > 20, "what was drawn shows nothing: \(stalls) stalls, \(changes) changes")
    }
}
