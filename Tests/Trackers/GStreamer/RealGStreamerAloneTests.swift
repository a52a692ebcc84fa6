#if os(Linux)
import Foundation
import GStreamerStage
import Instrument
import InstrumentFrameCode
import InstrumentGStreamer
import InstrumentOrigin
import InstrumentTestKit
import LoopbackServers
import TestTraits
import Testing
import TruthStage

/// A real GStreamer over the test origin. What the tracker reports late, and how exact it is, measures
/// `make compare-players`: here the order counts.
@Suite("A real GStreamer", .serialized, .earlyOnOwnThread, .timeLimit(.minutes(30)))
struct RealGStreamerAloneTests {
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

    @Test(
        "The tracker distinguishes bad media: a film that ends early has failed, noise fails, sound alone plays",
        arguments: BadMedia.allCases
    )
    func badMedia(media: BadMedia) async throws {
        let player = try RealGStreamer("file://" + media.path)
        player.observe()
        player.play()
        await player.wait(forAnyOf: [.error, .end])
        let expected: [Action] =
            switch media {
            case .truncated: [.streamLoad, .start, .error]
            case .random: [.streamLoad, .error]
            case .sound: [.streamLoad, .start, .end]
            }
        #expect(withoutStalls(player.actions) == expected)
        player.end()
    }

    @Test("A playback starts, pauses, and stops, and the app reads its bus", arguments: ["playbin", "playbin3"])
    func plays(kind: String) async throws {
        try await withOrigin { origin in
            let machine = MachineLoad()
            let player = try RealGStreamer(origin.url("vod/ts/v0.m3u8?token=secret", session: "a"), kind: kind)
            player.observe()
            player.play()
            await player.wait(for: .start)
            while player.eye.motions.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            player.pause(true)
            await player.wait(for: .pauseBegin)
            player.pause(false)
            await player.wait(for: .pauseFinish)
            player.setVolume(0.25)
            await player.wait(for: .volumeChange)
            player.stop()
            await player.wait(for: .stop)
            #expect(
                withoutStalls(player.actions)
                    == [.streamLoad, .start, .pauseBegin, .pauseFinish, .volumeChange, .stop]
            )
            let start = try #require(player.first(.start))
            #expect(start.status?.resolutionWidth == 320 && start.status?.framesPerSecond == 25)
            #expect(start.status?.source == origin.url("vod/ts/v0.m3u8", session: "a"))
            #expect(start.status?.duration == .seconds(24))
            #expect(player.messageCount > 0 && player.ear.count > 0 && player.eye.illegibleCount == 0)
            let motion = try #require(player.eye.motions.first)
            let begin = try #require(start.instant)
            if machine.allowsJudging("the start of GStreamer") {
                #expect(abs(motion.begin.duration(to: begin) / .milliseconds(1)) < 100)
            }
            #expect(player.diagnostics.withLock { $0 }.isEmpty)
            player.tracked.close()
            player.release()
        }
    }

    @Test("An outage is one stall, and playback continues after it")
    func outage() async throws {
        try await withOrigin("4000k for 4s, 0 for 9s, 4000k") { origin in
            let machine = MachineLoad()
            let player = try RealGStreamer(origin.url("vod/ts/v2.m3u8", session: "a"))
            player.observe()
            player.play()
            await player.wait(for: .bufferFinish)
            player.stop()
            await player.wait(for: .stop)
            #expect(player.actions.prefix(4) == [.streamLoad, .start, .bufferBegin, .bufferFinish])
            let begin = try #require(player.first(.bufferBegin)?.instant)
            let finish = try #require(player.first(.bufferFinish)?.instant)
            if machine.allowsJudging("how long GStreamer stalls") { #expect(begin.duration(to: finish) > .seconds(1)) }
            player.tracked.close()
            player.release()
        }
    }

    @Test("A seek of the app is a seek and no stall, and a rate is no seek")
    func seekAndRate() async throws {
        try await withOrigin { origin in
            let player = try RealGStreamer(origin.url("vod/movie.mp4", session: "a"))
            player.observe()
            player.play()
            await player.wait(for: .start)
            player.seek(toMilliseconds: 12_000)
            await player.wait(for: .seekFinish)
            player.setRate(2)
            await player.wait(for: .playbackRateChange)
            #expect(
                withoutStalls(player.actions)
                    == [.streamLoad, .start, .seekBegin, .seekFinish, .playbackRateChange]
            )
            await player.wait(for: .end)
            let last = try #require(player.eye.sightings.last)
            #expect(last.number >= 500)
            player.tracked.close()
            player.release()
        }
    }

    @Test("A missing stream is an error with the status, without the secrets of the address")
    func missing() async throws {
        try await withOrigin { origin in
            let player = try RealGStreamer(origin.url("vod/none.m3u8?token=secret", session: "a"))
            player.observe()
            player.play()
            await player.wait(for: .error)
            let error = try #require(player.first(.error))
            #expect(player.actions == [.streamLoad, .error])
            #expect(error.attributes[.errorCode] == "HTTP 404" && error.attributes[.isFatal] == true)
            #expect(!player.signals.contains { "\($0)".contains("secret") })
            player.tracked.close()
            player.release()
        }
    }

    @Test("Segments that fail in the middle are an error, although GStreamer says that the media has ended")
    func failingSegments() async throws {
        try await withOrigin(faults: ["503 on vod/*/v0/1.ts", "503 on vod/*/v0/2.ts"]) { origin in
            let player = try RealGStreamer(origin.url("vod/ts/v0.m3u8", session: "a"))
            player.observe()
            player.play()
            await player.wait(forAnyOf: [.error, .end])
            #expect(player.actions.last == .error)
            player.tracked.close()
            player.release()
        }
    }

    @Test("A tracker that comes late joins, and an app that gives its pipeline away first harms nobody")
    func lateAndReleased() async throws {
        try await withOrigin { origin in
            let player = try RealGStreamer(origin.url("vod/ts/v0.m3u8", session: "a"))
            player.play()
            while player.eye.motions.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            player.observe()
            await player.wait(for: .start)
            #expect(player.actions.prefix(2) == [.streamLoad, .start])
            #expect(player.first(.start)?.attributes[.joinedLate] == true)
            player.release()
            player.tracked.settle()
            player.tracked.report(to: nil)
            player.tracked.report { _ in }
            #expect(player.diagnostics.withLock { $0.map(\.kind) } == [.joinedLate, .cannotObserve])
            player.tracked.close()
            #expect(withoutStalls(player.actions) == [.streamLoad, .start, .stop])
        }
    }

    @Test("An app keeps its sync handler, and one that hides all messages is reported", arguments: [true, false])
    func syncHandler(isPassing: Bool) async throws {
        try await withOrigin { origin in
            let player = try RealGStreamer(origin.url("vod/movie.mp4", session: "a"))
            player.takeSyncHandler(isPassing: isPassing)
            player.observe()
            player.play()
            if isPassing {
                await player.wait(for: .start)
            } else {
                while player.eye.motions.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                player.tracked.settle()
                #expect(player.diagnostics.withLock { $0.map(\.kind) } == [.noMessages] && player.actions.isEmpty)
            }
            #expect(player.handledCount > 0)
            player.stop()
            player.tracked.close()
            player.release()
        }
    }

    @Test("Trackers that come and go while a pipeline starts, stops and goes harm nobody")
    func comeAndGo() async throws {
        try await withOrigin { origin in
            for round in 0..<Rounds.of(20) {
                let player = try RealGStreamer(origin.url("vod/ts/v0.m3u8", session: "r\(round)"))
                player.play()
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<4 {
                        group.addTask {
                            for _ in 0..<10 {
                                if number.isMultiple(of: 2) { player.observe() } else { player.tracked.report(to: nil) }
                            }
                        }
                    }
                    group.addTask { round.isMultiple(of: 2) ? player.stop() : player.release() }
                }
                player.tracked.close()
                if round.isMultiple(of: 2) { player.release() }
                player.tracked.settle()
            }
        }
    }

    @Test("The chain computes its metrics from GStreamer as from any player")
    func chain() async throws {
        try await withOrigin { origin in
            let backend = CollectingBackend()
            let instrument = Instrument(backends: [backend])
            let player = try RealGStreamer(origin.url("vod/ts/v0.m3u8", session: "a"))
            instrument.add(PlayerTracker(player.tracked))
            instrument.ready()
            player.play()
            while !backend.events.contains(where: { $0.action == .start }) {
                try await Task.sleep(for: .milliseconds(20))
            }
            player.stop()
            player.tracked.settle()
            await instrument.shutdown(timeout: .seconds(1_800))
            #expect(backend.metrics.contains { $0.name == .startTime })
            player.tracked.close()
            player.release()
        }
    }
}
#endif
