import Instrument
import InstrumentTransport
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Cancellation of waits", .ownThread, .timeLimit(.minutes(30)))
struct CancellationTests {
    private let clock = VirtualClock()

    /// A probe whose server never answers.
    private func hangingProbe() -> Probe {
        let source = MediaSource("http://origin.example/master.m3u8")
        return Probe(source, engine: hangingEngine(source))
    }

    private func hangingEngine(_ source: MediaSource) -> any PlaybackEngine {
        StreamEngine(
            source: source,
            configuration: ProbeConfiguration(),
            fetcher: SimulatedNetwork(clock: clock, bandwidth: [(0, 1_000_000)], fault: { _, _ in .hang }) { _ in [] },
            clock: clock,
            randomness: RandomSource(SystemRandomNumberGenerator())
        )
    }

    @Test("A wait for a probe returns nil when its task is cancelled, and the playback continues until it is stopped")
    func probe() async {
        let probe = hangingProbe()
        probe.play()
        let waiting = Task { await probe.waitUntilFinished() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        #expect(probe.outcome == nil && probe.progress.state == .loading)
        probe.stop()
        #expect(await probe.waitUntilFinished() == .stopped)
    }

    @Test("A wait in a cancelled task returns the outcome when the playback has ended before")
    func ended() async {
        let probe = hangingProbe()
        probe.play()
        probe.stop()
        #expect(await probe.waitUntilFinished() == .stopped)
        let waiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await probe.waitUntilFinished()
        }
        #expect(await waiting.value == .stopped)
    }

    @Test("A wait for a probe that may change its engine returns nil when its task is cancelled")
    func relay() async {
        let source = MediaSource("http://origin.example/watch")
        let relay = RelayEngine(isStream: true, mayBeStream: true, playCount: nil) { _ in self.hangingEngine(source) }
        let probe = Probe(source, engine: relay)
        probe.play()
        let waiting = Task { await probe.waitUntilFinished() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        probe.stop()
    }

    @Test("A wait for a fleet returns the outcomes that exist when its task is cancelled")
    func fleet() async {
        let probes = [hangingProbe(), hangingProbe()]
        let fleet = ProbeFleet(probes, spacing: .zero, clock: clock)
        fleet.start()
        probes[1].stop()
        #expect(await probes[1].waitUntilFinished() == .stopped)
        let waiting = Task { await fleet.waitUntilFinished() }
        waiting.cancel()
        #expect(await waiting.value == [nil, .stopped])
        fleet.stop()
        #expect(await fleet.waitUntilFinished() == [.stopped, .stopped])
    }

    @Test("playThrough returns nil in a cancelled task, for streams and for files")
    func playThrough() async throws {
        let film = Probe(MediaSource(try Fixtures.mp4.get()), clock: clock)
        let stream = hangingProbe()
        let outcomes = await Task { [clock] in
            withUnsafeCurrentTask { $0?.cancel() }
            return [film.playThrough(advancing: clock), stream.playThrough(advancing: clock)]
        }.value
        #expect(outcomes == [nil, nil])
        #expect(film.outcome == nil && stream.outcome == nil)
        stream.stop()
    }
}
