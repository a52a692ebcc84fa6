import Foundation
import Instrument
import InstrumentTestKit
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Back buffer", .ownThread)
struct BackBufferTests {
    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }
    private func seconds(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }
    private let small = Quality(width: 320, height: 180, bitrate: 1)
    private let large = Quality(width: 640, height: 360, bitrate: 2)

    /// A model with 20 s of media, with large pictures from 4 s to 6 s, that plays since second 0.
    private func model(keeping backBuffer: Duration?) -> PlaybackModel {
        let policy = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(30))
        var model = PlaybackModel(
            tracks: [.video],
            policy: policy,
            backBuffer: backBuffer,
            quality: small,
            now: at(0)
        )
        model.append(.video, end: seconds(20), now: at(0))
        model.addCue(large, at: seconds(4), now: at(0))
        model.addCue(small, at: seconds(6), now: at(0))
        return model
    }

    @Test("A seek back needs no media inside the back buffer, and needs it one nanosecond before")
    func edge() {
        for (target, needsMedia) in [(seconds(7), false), (seconds(7) - 1, true), (0, true)] {
            var model = model(keeping: .seconds(3))
            _ = model.advance(to: at(10))
            #expect(model.seek(to: target, now: at(10)) == needsMedia)
            #expect(model.isSeeking == needsMedia && model.position(at: at(10)) == target)
        }
    }

    @Test("Without a limit a seek back never needs media; with a back buffer of zero it always does")
    func limits() {
        var all = model(keeping: nil)
        _ = all.advance(to: at(19))
        #expect(all.seek(to: 0, now: at(19)) == false)
        var none = model(keeping: .zero)
        _ = none.advance(to: at(19))
        #expect(none.seek(to: seconds(19) - 1, now: at(19)) == true)
    }

    @Test("Media that the playhead left behind stays dropped after a seek back")
    func dropped() {
        var model = model(keeping: .seconds(3))
        _ = model.advance(to: at(10))
        #expect(model.seek(to: seconds(8), now: at(10)) == false)
        #expect(model.seek(to: seconds(6), now: at(10)) == true)
    }

    @Test("After a seek to unbuffered media the back buffer starts at its target")
    func flushed() {
        var model = model(keeping: nil)
        _ = model.advance(to: at(10))
        #expect(model.seek(to: seconds(100), now: at(10)) == true)
        model.append(.video, end: seconds(110), now: at(10))
        #expect(model.seek(to: seconds(99), now: at(12)) == true)
    }

    @Test("A seek back reports the qualities of the back buffer again")
    func qualities() {
        var model = model(keeping: nil)
        _ = model.advance(to: at(10))
        #expect(model.seek(to: seconds(5), now: at(10)) == false)
        #expect(model.seek(to: seconds(1), now: at(10.5)) == false)
        let reached = model.advance(to: at(20)).compactMap { transition -> String? in
            guard case .reached(let quality) = transition.kind else { return nil }
            return "\(quality.width)@\(transition.instant.nanoseconds / 1_000_000_000)"
        }
        // Large at once after the first seek, small at once after the second, then large and small 3 s and 5 s later.
        #expect(reached == ["640@10", "320@10", "640@13", "320@15"])
    }

    @Test("A stream with many changes of quality keeps a bounded number of cues")
    func bounded() {
        var model = PlaybackModel(tracks: [.video], policy: .standard, backBuffer: nil, quality: small, now: at(0))
        for number in 0..<5000 {
            let begin = seconds(Double(number))
            model.addCue(Quality(width: number, height: 1, bitrate: 0), at: begin, now: at(Double(number)))
            model.append(.video, end: begin + seconds(2), now: at(Double(number)))
        }
        #expect(model.seek(to: seconds(4500), now: at(5000)) == false)
        #expect(model.seek(to: seconds(10), now: at(5000)) == true)
    }

    private func play(
        _ backBuffer: Duration?,
        seekAt milliseconds: Int64,
        to target: Duration
    ) async -> (Played, SimulatedNetwork) {
        let ladder = PaddedLadder(bitrates: [400_000])
        let clock = VirtualClock()
        let network = SimulatedNetwork(clock: clock, bandwidth: [(0, 8_000_000)]) { ladder.resource($0) }
        var profile = PlayerProfile.plain(maximum: .seconds(4))
        profile.backBuffer = backBuffer
        let configuration = ProbeConfiguration(profile: profile)
        let played = await playStream("/master.m3u8", over: network, clock, configuration) { clock, probe in
            clock.at(milliseconds) { probe.seek(to: target) }
        }
        return (played, network)
    }

    @Test("A stream fetches nothing for a seek back that its profile's back buffer holds, and fetches for any other")
    func stream() async throws {
        let (kept, quiet) = await play(.seconds(5), seekAt: 7000, to: .seconds(3))
        #expect(kept.outcome == .ended)
        #expect(Set(quiet.names).count == quiet.names.count)
        #expect(kept.time(.seekFinish) == 7000 && kept.first(.seekFinish)?[.position] == .seconds(3))
        let start = try #require(kept.time(.start))
        // From 7 s on, everything from 3 s on is played again.
        #expect(try #require(kept.time(.end)) - 7000 >= 9000 && start < 1000)
        let (dropped, busy) = await play(.seconds(2), seekAt: 7000, to: .seconds(3))
        #expect(dropped.outcome == .ended)
        #expect(busy.names.filter { $0 == "media1.ts" }.count == 2)
        #expect(try #require(dropped.time(.seekFinish)) > 7000)
    }

    @Test("A file is not read again for a seek back into its back buffer")
    func file() async throws {
        for (backBuffer, position) in [(Duration?.none, 2000), (.seconds(20), 2000), (.zero, 2000)] {
            var configuration = ProbeConfiguration()
            configuration.profile.backBuffer = backBuffer
            let played = await playThrough(try Fixtures.long.get(), configuration) { clock, probe in
                clock.at(9000) { probe.seek(to: .milliseconds(2000)) }
            }
            #expect(played.outcome == .ended && played.time(.end) == 27_000)
            #expect(played.first(.seekFinish)?[.position]?.milliseconds == position)
        }
    }
}
