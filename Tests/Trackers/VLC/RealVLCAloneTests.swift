#if os(Linux)
import CVLC
import Foundation
import Instrument
import InstrumentFrameCode
import InstrumentOrigin
import InstrumentTestKit
import InstrumentVLC
import LoopbackServers
import TestTraits
import Testing
import TruthStage
import VLCStage

/// A real libVLC over the test origin. What the tracker reports late, and how exact it is, measures
/// `make compare-players`: here the order counts.
@Suite("A real libVLC", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealVLCAloneTests {
    private func withOrigin(
        _ schedule: String = "unlimited",
        faults: [String] = [],
        _ body: (Origin) async throws -> Void
    ) async throws {
        let origin = try await Origin.start(
            media: [.fixtures(try await Fixtures.make(in: MediaCache.origin))],
            schedule: try DeliverySchedule(schedule),
            faults: try faults.map { try FaultRule($0) }
        )
        try await body(origin)
        await origin.stop()
    }

    /// The actions without stalls: on a busy machine, pictures of a real player stand now and then.
    private func withoutStalls(_ actions: [Action]) -> [Action] {
        actions.filter { $0 != .bufferBegin && $0 != .bufferFinish }
    }

    @Test("A playback starts when pictures move, is seen and heard, and stops")
    func plays() async throws {
        try await withOrigin { origin in
            let machine = MachineLoad()
            let vlc = try RealVLC(origin.url("vod/ts/v0.m3u8?token=secret", session: "a"))
            vlc.observe()
            vlc.play()
            await vlc.wait(for: .start)
            vlc.pause(true)
            await vlc.wait(for: .pauseBegin)
            vlc.pause(false)
            await vlc.wait(for: .pauseFinish)
            vlc.stop()
            await vlc.wait(for: .stop)
            #expect(withoutStalls(vlc.actions) == [.streamLoad, .start, .pauseBegin, .pauseFinish, .stop])
            let start = try #require(vlc.first(.start))
            #expect(start.status?.resolutionWidth == 320 && start.status?.framesPerSecond == 25)
            #expect(start.status?.source == origin.url("vod/ts/v0.m3u8", session: "a"))
            #expect(start.status?.duration == .seconds(24))
            let first = try #require(vlc.eye.sightings.first)
            #expect(vlc.eye.illegibleCount == 0)
            let begin = try #require(start.instant)
            if machine.allowsJudging("the first picture of libVLC") {
                // The first picture is there before the clock runs.
                #expect(first.number == 0 && begin >= first.instant.advanced(by: .milliseconds(-100)))
            }
            #expect(vlc.ear.count > 0)
            #expect(vlc.diagnostics.withLock { $0 }.isEmpty)
            vlc.tracked.close()
            vlc.release()
        }
    }

    @Test("An outage is one stall, and playback continues after it")
    func outage() async throws {
        try await withOrigin("4000k for 3s, 0 for 8s, 4000k") { origin in
            let machine = MachineLoad()
            let vlc = try RealVLC(origin.url("vod/ts/v2.m3u8", session: "a"))
            vlc.observe()
            vlc.play()
            await vlc.wait(for: .bufferFinish)
            let begin = try #require(vlc.first(.bufferBegin)?.instant)
            #expect(vlc.eye.motions.contains { $0.begin > begin })
            vlc.stop()
            await vlc.wait(for: .stop)
            #expect(vlc.actions.prefix(4) == [.streamLoad, .start, .bufferBegin, .bufferFinish])
            if machine.allowsJudging("the number of stalls of libVLC") {
                #expect(vlc.actions == [.streamLoad, .start, .bufferBegin, .bufferFinish, .stop])
            }
            let finish = try #require(vlc.first(.bufferFinish)?.instant)
            if machine.allowsJudging("how long libVLC stalls") { #expect(begin.duration(to: finish) > .seconds(1)) }
            vlc.tracked.close()
            vlc.release()
        }
    }

    @Test("A seek that the app asks for is a seek and no stall")
    func seek() async throws {
        try await withOrigin { origin in
            let vlc = try RealVLC(origin.url("vod/ts/v0.m3u8", session: "a"))
            vlc.observe()
            vlc.play()
            await vlc.wait(for: .start)
            vlc.seek(toMilliseconds: 12_000)
            await vlc.wait(for: .seekFinish)
            #expect(withoutStalls(vlc.actions) == [.streamLoad, .start, .seekBegin, .seekFinish])
            let last = try #require(vlc.eye.sightings.last)
            #expect(last.number >= 250)
            vlc.stop()
            vlc.tracked.close()
            vlc.release()
        }
    }

    @Test("A missing stream is an error with the status, without the secrets of the address")
    func missing() async throws {
        try await withOrigin { origin in
            let vlc = try RealVLC(origin.url("vod/none.m3u8?token=secret", session: "a"))
            vlc.observe()
            vlc.play()
            await vlc.wait(for: .error)
            let error = try #require(vlc.first(.error))
            #expect(vlc.actions == [.streamLoad, .error])
            #expect(error.attributes[.errorCode] == "HTTP 404" && error.attributes[.isFatal] == true)
            #expect(!vlc.signals.contains { "\($0)".contains("secret") })
            vlc.tracked.close()
            vlc.release()
        }
    }

    @Test("Segments that fail in the middle are an error, although libVLC says that the media has ended")
    func failingSegments() async throws {
        try await withOrigin(faults: ["503 on vod/*/v0/1.ts", "503 on vod/*/v0/2.ts"]) { origin in
            let vlc = try RealVLC(origin.url("vod/ts/v0.m3u8", session: "a"))
            vlc.observe()
            vlc.play()
            await vlc.wait(forAnyOf: [.error, .end])
            #expect(vlc.actions.last == .error)
            vlc.tracked.close()
            vlc.release()
        }
    }

    @Test(
        "The tracker distinguishes bad media: a film that ends early has failed, noise fails, sound alone plays",
        arguments: BadMedia.allCases
    )
    func badMedia(media: BadMedia) async throws {
        let vlc = try RealVLC("file://" + media.path)
        vlc.observe()
        vlc.play()
        await vlc.wait(forAnyOf: [.error, .end])
        let expected: [Action] =
            switch media {
            case .truncated: [.streamLoad, .start, .error]
            case .random: [.streamLoad, .error]
            case .sound: [.streamLoad, .start, .end]
            }
        #expect(withoutStalls(vlc.actions) == expected)
        #expect(vlc.signals.last?.status?.source == (try media.path))
        vlc.tracked.close()
        vlc.release()
    }

    @Test("A tracker that comes late joins, and an app that releases first harms nobody")
    func lateAndReleased() async throws {
        try await withOrigin { origin in
            let vlc = try RealVLC(origin.url("vod/ts/v0.m3u8", session: "a"))
            vlc.play()
            while vlc.eye.motions.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            vlc.observe()
            await vlc.wait(for: .start)
            #expect(vlc.actions.prefix(2) == [.streamLoad, .start])
            #expect(vlc.first(.start)?.attributes[.joinedLate] == true)
            vlc.release()
            vlc.tracked.close()
            vlc.tracked.settle()
            let actions = withoutStalls(vlc.actions)
            #expect(actions == [.streamLoad, .start, .stop] || actions == [.streamLoad, .start])
        }
    }

    @Test("Trackers that come and go while a player starts and stops harm nobody")
    func comeAndGo() async throws {
        try await withOrigin { origin in
            for round in 0..<Rounds.of(20) {
                let vlc = try RealVLC(origin.url("vod/ts/v0.m3u8", session: "r\(round)"))
                vlc.play()
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            for _ in 0..<10 {
                                if number.isMultiple(of: 2) { vlc.observe() } else { vlc.tracked.report(to: nil) }
                            }
                        }
                    }
                    group.addTask { vlc.stop() }
                }
                vlc.tracked.close()
                vlc.release()
                vlc.tracked.settle()
            }
        }
    }

    @Test("The chain computes its metrics from libVLC as from any player")
    func chain() async throws {
        try await withOrigin { origin in
            let backend = CollectingBackend()
            let instrument = Instrument(backends: [backend])
            let vlc = try RealVLC(origin.url("vod/ts/v0.m3u8", session: "a"))
            vlc.observe()
            instrument.add(PlayerTracker(vlc.tracked))
            instrument.ready()
            vlc.tracked.settle()
            vlc.play()
            while !backend.events.contains(where: { $0.action == .start }) {
                try await Task.sleep(for: .milliseconds(20))
            }
            vlc.stop()
            vlc.tracked.settle()
            await instrument.shutdown(timeout: .seconds(1_800))
            #expect(backend.metrics.contains { $0.name == .startTime })
            vlc.tracked.close()
            vlc.release()
        }
    }
}
#endif
