import Foundation
import Instrument
import InstrumentProbe
import LoopbackServers
import TestTraits
import Testing

/// Tests in real time. Serialized, so that they do not disturb each other; alone, because they
/// measure time.
@Suite("Real time", .ownThread, .serialized, .timeLimit(.minutes(30)))
struct RealTimeAloneTests {
    private func play(_ source: String, _ buffer: BufferPolicy) async -> Played {
        await Played(inRealTime: source, ProbeConfiguration(bufferedBy: buffer))
    }

    private let buffer = BufferPolicy(startThreshold: .seconds(1), resumeThreshold: .seconds(1), maximum: .seconds(30))

    @Test("A file plays in its duration")
    func file() async throws {
        let played = await play(try Fixtures.mp4.get(), buffer)
        #expect(played.outcome == .ended)
        #expect(played.first(.end)?[Action.start.timeKey] == 4000)
    }

    @Test("A stall begins and ends within 0.1 s of the server's schedule")
    func stall() async throws {
        let machine = MachineLoad()
        // Constant bitrate, so that bytes are proportional to time: two seconds at once, the rest four seconds later.
        let film = try Fixtures.data(try Fixtures.wav.get())
        let second = 48_000 * 2
        let head = film.count - 4 * second
        let server = try LoopbackServer([
            LoopbackServer.head("200 OK", length: film.count), .send(film.prefix(head + 2 * second)),
            .waitUntil(.seconds(4)), .send(film.dropFirst(head + 2 * second)),
        ])
        let played = await play(server.address, buffer)
        #expect(played.outcome == .ended)
        #expect(played.rejected.isEmpty)
        guard machine.allowsJudging("a stall, to a tenth of a second") else { return }
        #expect(played.actions.filter { $0 == .bufferBegin }.count == 2)
        let start = try #require(played.time(.start))
        let stall = try #require(played.all(.bufferBegin).last)
        let resumed = try #require(played.all(.bufferFinish).last)
        // The tolerance includes the bytes that libav retains of the last read (4 KiB packets, 32 KiB input).
        #expect(abs(stall.time.instant.milliseconds - start - 2000) <= 100)
        #expect(abs((resumed[Action.bufferBegin.timeKey] ?? 0) - 2000) <= 100)
        #expect(abs((stall[.position] ?? .zero).milliseconds - 2000) <= 100)
    }

    @Test("More probes than the pool has threads play concurrently")
    func many() async throws {
        let film = try Fixtures.mp4.get()
        let starts = AsyncStream<MonotonicInstant>.makeStream()
        let machine = MachineLoad()
        let begun = SystemClock().now
        let probes = (0..<300).map { _ in Probe(MediaSource(film)) }
        for probe in probes {
            probe.report { signal in if signal.action == .start { starts.continuation.yield(SystemClock().now) } }
            probe.play()
        }
        var (count, last) = (0, begun)
        for await start in starts.stream {
            (count, last) = (count + 1, max(last, start))
            if count == probes.count { break }
        }
        // Each probe plays for four seconds; a probe that waited for another one's end would start later.
        if machine.allowsJudging("whether 300 probes play at once") {
            #expect(begun.duration(to: last) < .milliseconds(3900))
        }
        for probe in probes { probe.stop() }
    }

    @Test("Stopping ends a read that would block")
    func stop() async throws {
        let server = try LoopbackServer([.hang])
        let probe = Probe(MediaSource(server.address))
        probe.play()
        try await SystemClock().sleep(until: SystemClock().now.advanced(by: .milliseconds(100)))
        probe.stop()
        // Without an interrupt the read would end with the read's timeout, in an error.
        #expect(await probe.waitUntilFinished() == .stopped)
    }
}

extension Played {
    /// Plays in real time through an instrument.
    init(inRealTime source: String, _ configuration: ProbeConfiguration) async {
        let probe = Probe(MediaSource(source), configuration: configuration)
        let recorder = Recorder()
        let instrument = Instrument(hub: CoreHub(), metricalc: nil, backends: [recorder])
        instrument.add(PlayerTracker(probe))
        instrument.ready()
        probe.play()
        let outcome = await probe.waitUntilFinished()
        await instrument.shutdown(timeout: .seconds(1800))
        self.init(outcome: outcome, events: recorder.events, rejected: instrument.rejectedCounts)
    }
}
