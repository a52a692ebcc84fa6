import Foundation
import Instrument
import InstrumentProbe
import LoopbackServers
import TestTraits
import Testing

@Suite("Controls", .ownThread, .timeLimit(.minutes(30)))
struct ControlsTests {
    private let opening: [Action] = [
        .trackerInit, .playerSet, .playerReady, .mediaRequest, .prepareItem, .streamLoad, .bufferBegin, .bufferFinish,
    ]

    @Test("A pause stops the playhead for its duration, to the millisecond")
    func pause() async throws {
        let played = await playThrough(try Fixtures.long.get()) { clock, probe in
            clock.at(3000) { probe.pause() }
            clock.at(3500) { probe.pause() }
            clock.at(8000) { probe.resume() }
        }
        #expect(played.actions == opening + [.start, .pauseBegin, .pauseFinish, .end])
        #expect(played.first(.pauseBegin)?[.position] == .seconds(3))
        #expect(played.first(.pauseFinish)?[.position] == .seconds(3))
        #expect(played.time(.end) == 25_000)
        #expect(played.first(.end)?[.accumPauseTime] == .seconds(5))
        #expect(played.first(.end)?[.accumPlayTime] == .seconds(20))
    }

    @Test("A playback that is paused before the start fills its buffer, and starts when it is resumed")
    func pauseBeforeStart() async throws {
        let played = await playThrough(try Fixtures.mp4.get()) { clock, probe in
            probe.pause()
            clock.at(2000) { probe.resume() }
        }
        #expect(played.actions == opening + [.start, .end])
        #expect(played.time(.start) == 2000)
        #expect(played.time(.end) == 6000)
    }

    @Test("An endless pause with continuing pings ends after a day")
    func endlessPause() async throws {
        let played = await playThrough(try Fixtures.mp4.get()) { clock, probe in clock.at(1000) { probe.pause() } }
        #expect(played.outcome == nil)
        #expect(played.actions.filter { $0 == .ping }.count == 24 * 120)
    }

    @Test("Seeks inside the buffer, back, beyond the end and before the start reach the expected positions")
    func seek() async throws {
        let buffer = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(5))
        let played = await playThrough(try Fixtures.long.get(), ProbeConfiguration(bufferedBy: buffer)) {
            clock,
            probe in
            clock.at(1000) { probe.seek(to: .seconds(4)) }
            clock.at(2000) { probe.seek(to: .milliseconds(12_300)) }
            clock.at(3000) { probe.seek(to: .seconds(-7)) }
            clock.at(5000) { probe.seek(to: .seconds(3000)) }
        }
        #expect(played.outcome == .ended)
        #expect(
            played.actions == opening + [.start] + [[Action]](repeating: [.seekBegin, .seekFinish], count: 4).joined()
                + [.end]
        )
        #expect(played.all(.seekBegin).map { $0[.position]?.milliseconds } == [1000, 5000, 13_300, 2000])
        #expect(played.all(.seekFinish).map { $0[.position]?.milliseconds } == [4000, 12_300, 0, 20_000])
        #expect(played.time(.end) == 5000)
        #expect(played.rejected.isEmpty)
    }

    @Test("After a seek, the quality is that of the target, also when media with another size was buffered")
    func seekAcrossRenditions() async throws {
        let buffer = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(5))
        let played = await playThrough(MediaCache.sample, ProbeConfiguration(bufferedBy: buffer)) { clock, probe in
            // The second rendition is buffered, and no frame of it was shown.
            clock.at(1000) { probe.seek(to: .milliseconds(7000)) }
            clock.at(1500) { probe.seek(to: .milliseconds(500)) }
        }
        let changes = played.events.filter { [.qualityChangeUp, .qualityChangeDown].contains($0.action) }
        #expect(changes.map { $0[.resolutionWidth] } == [640, 320, 640, 480])
        #expect(changes.map(\.action) == [.qualityChangeUp, .qualityChangeDown, .qualityChangeUp, .qualityChangeDown])
        #expect(played.outcome == .ended)
    }

    @Test("Playback at the rate 2 takes half the time")
    func rate() async throws {
        let played = await playThrough(try Fixtures.long.get()) { clock, probe in
            clock.at(4000) { probe.setRate(2) }
            clock.at(8000) { probe.setRate(0.5) }
        }
        #expect(played.time(.end) == 24_000)
        #expect(played.first(.end)?[.position] == .seconds(20))
    }

    @Test("A stop ends playback at the present position, and no signal follows")
    func stop() async throws {
        let played = await playThrough(try Fixtures.long.get()) { clock, probe in
            clock.at(7000) { probe.stop() }
            clock.at(7000) { probe.pause() }
        }
        #expect(played.outcome == .stopped)
        #expect(played.actions == opening + [.start, .stop])
        #expect(played.first(.stop)?[.position] == .seconds(7))
    }

    @Test("A source without seeking continues at its position, with an error that is not fatal")
    func unseekable() async throws {
        let film = try Fixtures.data(try Fixtures.ts.get())
        // No length and no ranges: a stream of bytes.
        let server = try LoopbackServer([LoopbackServer.head("200 OK"), .send(film)])
        let buffer = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(1))
        let played = await playThrough(server.address, ProbeConfiguration(bufferedBy: buffer)) { clock, probe in
            clock.at(1000) { probe.seek(to: .milliseconds(3500)) }
        }
        #expect(played.outcome == .ended)
        #expect(played.actions == opening + [.start, .seekBegin, .seekFinish, .error, .end])
        #expect(played.first(.error)?[.isFatal] == false)
        #expect(played.first(.seekFinish)?[.position] == .seconds(1))
        #expect(played.rejected.isEmpty)
    }

    @Test("A film over HTTP does not use the proxy of the environment, as a stream does not")
    func proxy() async throws {
        // In a separate process, because other tests of this process would use the proxy, too.
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer([.serve(try Fixtures.data(try Fixtures.ts.get()))])
            setenv("http_proxy", "http://127.0.0.1:\(try TestServer.closedPort())", 1)
            #expect(await playThrough(server.address).outcome == .ended)
        }
    }

    @Test(
        "A proxy that cannot serve a film is named without its password",
        arguments: [
            ("http://user:s3cret@", "the proxy 127.0.0.1:PORT cannot be reached"),
            ("socks5h://", "an http:// proxy only"),
        ]
    )
    func deadProxy(scheme: String, words: String) async throws {
        let server = try LoopbackServer([.serve(try Fixtures.data(try Fixtures.ts.get()))])
        let port = try TestServer.closedPort()
        var configuration = ProbeConfiguration()
        configuration.proxyAddress = "\(scheme)127.0.0.1:\(port)"
        let played = await playThrough(server.address, configuration)
        let message = played.first(.error)?[.errorDescription] ?? ""
        #expect(message.contains(words.replacing("PORT", with: "\(port)")), "\(message)")
        #expect(!message.contains("s3cret") && played.first(.error)?[.errorCode] == "proxy")
    }

    @Test("Over HTTP a seek requests a byte range")
    func seekOverHTTP() async throws {
        let server = try LoopbackServer([.serve(try Fixtures.data(try Fixtures.long.get()))])
        let buffer = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(2))
        let played = await playThrough(server.address, ProbeConfiguration(bufferedBy: buffer)) { clock, probe in
            clock.at(1000) { probe.seek(to: .milliseconds(15_500)) }
        }
        #expect(played.outcome == .ended)
        #expect(played.first(.seekFinish)?[.position] == .milliseconds(15_500))
        #expect(played.time(.end) == 5500)
    }

    @Test("Controls from many threads at once end in one outcome, and a released probe stops")
    func threads() async throws {
        let film = try Fixtures.long.get()
        let outcome = await withTaskGroup(of: Void.self) { group in
            let probe = Probe(MediaSource(film))
            probe.play()
            for task in 0..<8 {
                group.addTask {
                    for step in 0..<200 {
                        switch (task + step) % 5 {
                        case 0: probe.pause()
                        case 1: probe.resume()
                        case 2: probe.seek(to: .milliseconds(step * 90))
                        case 3: probe.setRate(Double(step % 4) + 0.5)
                        default: _ = (probe.progress, probe.status)
                        }
                    }
                }
            }
            await group.waitForAll()
            probe.stop()
            return await probe.waitUntilFinished()
        }
        #expect(outcome == .stopped || outcome == .ended)
    }

    @Test("A probe reports Stop when it is released while another thread delivers its signal")
    func releasedDuringDelivery() async throws {
        let film = try Fixtures.data(try Fixtures.long.get())
        let server = try LoopbackServer([
            LoopbackServer.head("200 OK", length: film.count), .send(film.prefix(90_000)), .hang,
        ])
        let (stopped, isReleased) = (AsyncStream<Action>.makeStream(), DispatchSemaphore(value: 0))
        var probe: Probe? = Probe(MediaSource(server.address))
        probe?.report { signal in
            guard signal.action == .start || signal.action == .stop else { return }
            stopped.continuation.yield(signal.action)
            if signal.action == .start { _ = isReleased.wait(timeout: .now() + 900) }
        }
        probe?.play()
        var actions: [Action] = []
        for await action in stopped.stream {
            actions.append(action)
            if action == .stop { break }
            probe = nil
            isReleased.signal()
        }
        #expect(actions == [.start, .stop])
    }

    @Test("A released probe stops, also during a read")
    func released() async throws {
        let film = try Fixtures.data(try Fixtures.long.get())
        let server = try LoopbackServer([
            LoopbackServer.head("200 OK", length: film.count), .send(film.prefix(90_000)), .hang,
        ])
        let stopped = AsyncStream<Action>.makeStream()
        var probe: Probe? = Probe(MediaSource(server.address))
        probe?.report { signal in
            if signal.action == .start || signal.action == .stop { stopped.continuation.yield(signal.action) }
        }
        probe?.play()
        var actions: [Action] = []
        for await action in stopped.stream {
            actions.append(action)
            if action == .start { probe = nil }
            if action == .stop { break }
        }
        #expect(actions == [.start, .stop])
    }
}
