import Foundation
import Instrument
import InstrumentOrigin
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

/// One engine after another, against real servers on the loopback address.
@Suite("Disguised streams and repeated playback", .ownThread, .timeLimit(.minutes(30)))
struct RelayTests {

    /// A server that redirects from a path without a suffix to a stream of the origin.
    private static func disguise(_ target: String) throws -> TestServer {
        try TestServer { _ in
            [
                .send(
                    Array(
                        "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                            .utf8
                    )
                ), .close,
            ]
        }
    }

    private func play(
        _ address: String,
        _ configuration: ProbeConfiguration = ProbeConfiguration(profile: .plain()),
        isRealTime: Bool = false,
        script: (Probe, any SchedulingClock) -> Void = { _, _ in }
    ) async -> Played {
        let virtual = VirtualClock()
        let clock: any SchedulingClock = isRealTime ? SystemClock() : virtual
        let probe = Probe(MediaSource(address), configuration: configuration, clock: clock)
        let recorder = Recorder()
        let instrument = Instrument(
            hub: CoreHub(),
            metricalc: CoreMetricalc(),
            backends: [recorder],
            clock: clock,
            deliveryClock: SystemClock()
        )
        instrument.add(PlayerTracker(probe))
        instrument.ready()
        script(probe, clock)
        let outcome: ProbeOutcome?
        if isRealTime {
            probe.play()
            outcome = await probe.waitUntilFinished()
        } else {
            outcome = await withCheckedContinuation { continuation in
                Thread { continuation.resume(returning: probe.playThrough(advancing: virtual)) }.start()
            }
        }
        #expect(probe.outcome == outcome && probe.progress.state == .finished)
        await instrument.shutdown(timeout: .seconds(1800))
        return Played(outcome: outcome, events: recorder.events, rejected: instrument.rejectedCounts)
    }

    @Test(
        "A playlist with a misleading address plays as a stream, without duplicate reports",
        arguments: ["vod/ts/v0.m3u8", "vod/dash/number.mpd"]
    )
    func disguised(path: String) async throws {
        let fixtures = try await InstrumentOrigin.Fixtures.make(in: MediaCache.origin)
        let origin = try await Origin.start(media: [.fixtures(fixtures)])
        let server = try Self.disguise(origin.url(path))
        let played = await play(server.url("/watch?id=7"))
        #expect(played.outcome == .ended)
        for action: Action in [.mediaRequest, .prepareItem, .streamLoad, .manifestLoad, .start, .end] {
            #expect(played.all(action).count == 1, "\(action): \(played.actions)")
        }
        #expect(played.all(.bufferBegin).count == 1)
        #expect(!played.actions.contains(.error))
        await origin.stop()
    }

    @Test("A disguised playlist plays in real time, and a stop ends it")
    func disguisedInRealTime() async throws {
        let fixtures = try await InstrumentOrigin.Fixtures.make(in: MediaCache.origin)
        let origin = try await Origin.start(media: [.fixtures(fixtures)])
        let server = try Self.disguise(origin.url("vod/ts/v0.m3u8"))
        let played = await play(server.url("/watch"), isRealTime: true) { probe, _ in
            probe.seek(to: .seconds(23))
            probe.setRate(2)
        }
        #expect(played.outcome == .ended)
        // Commands from before the recognition of the playlist apply.
        #expect(played.all(.start).first?.attributes[.position] == .seconds(23))
        let stopped = await play(server.url("/watch"), isRealTime: true) { probe, clock in
            _ = clock.schedule(at: clock.now.advanced(by: .milliseconds(700))) { probe.stop() }
        }
        #expect(stopped.outcome == .stopped)
        // On a busy machine, playback may not have started by then.
        #expect(stopped.actions.contains(.stop) == stopped.actions.contains(.start), "\(stopped.story)")
        await origin.stop()
    }

    @Test("A film repeats three times from its start position, and a failure ends the repetition")
    func repeated() async throws {
        let path = try Fixtures.ts.get()
        let configuration = ProbeConfiguration(startPosition: .seconds(2), playCount: 3)
        let played = await play(path, configuration)
        #expect(played.outcome == .ended)
        #expect(played.all(.start).map { $0.attributes[.position] } == [.seconds(2), .seconds(2), .seconds(2)])
        #expect(played.all(.end).count == 3 && played.all(.mediaRequest).count == 3)
        let missing = await play("/nowhere/film.mp4", ProbeConfiguration(playCount: nil))
        #expect(missing.all(.error).count == 1 && missing.all(.mediaRequest).count == 1)
        // A playlist in a file is not playable, with any number of repetitions.
        let folder = try Fixtures.hlsTS.get()
        let list = await play(folder + "/media.m3u8", ProbeConfiguration(playCount: 2))
        #expect(list.all(.error).map { $0.attributes[.errorCode] } == ["playlist"])
    }

    @Test("A film that repeats without a limit plays until it is stopped")
    func endless() async throws {
        let path = try Fixtures.ts.get()
        let played = await play(path, ProbeConfiguration(playCount: nil)) { probe, clock in
            _ = clock.schedule(at: clock.now.advanced(by: .seconds(30))) { probe.stop() }
        }
        #expect(played.outcome == .stopped)
        #expect(played.all(.end).count >= 6 && played.all(.stop).count == 1)
    }

    @Test("A probe that refuses private addresses fetches neither streams nor films from the loopback address")
    func refused() async throws {
        let server = try TestServer { _ in [.close] }
        let configuration = ProbeConfiguration(profile: .plain(), allowsPrivateAddresses: false)
        for path in ["/master.m3u8", "/film.mp4", "/manifest.mpd"] {
            let played = await play(server.url(path), configuration, isRealTime: true)
            guard case .failed = played.outcome else {
                Issue.record("\(path) was played")
                continue
            }
        }
        #expect(server.connectionCount == 0)
    }
}
