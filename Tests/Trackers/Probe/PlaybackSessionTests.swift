import Instrument
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Playback session", .ownThread)
struct PlaybackSessionTests {
    private func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }
    private func packet(until seconds: Int64) -> Packet {
        let end = seconds * 1_000_000_000
        return Packet(track: .audio, start: end - 1_000_000_000, end: end, size: 1000, isKeyframe: true)
    }

    @Test("A packet or an end that was read before a seek does not count after the seek")
    func stale() {
        var session = PlaybackSession(source: MediaSource("film.mp3"), configuration: ProbeConfiguration())
        var info = MediaInfo()
        info.hasAudio = true
        _ = session.request(now: at(0))
        session.opened(info, now: at(0))
        session.received(packet(until: 100), now: at(0))
        session.seek(to: 60_000_000_000, now: at(1))
        session.seek(to: 10_000_000_000, now: at(2))
        session.received(packet(until: 101), now: at(3))
        session.exhausted(nil, now: at(3))
        #expect(session.progress(at: at(3)).state == .seeking)
        #expect(session.takePendingSeek() == 10_000_000_000)
        session.received(packet(until: 13), now: at(4))
        #expect(session.progress(at: at(4)).state == .playing)
        #expect(session.progress(at: at(4)).buffered == .seconds(3))
        #expect(
            session.outbox.map(\.action).suffix(5) == [.start, .seekBegin, .seekFinish, .seekBegin, .seekFinish]
        )
    }

    /// CTA-5004-B, Table 1 (`msd`): up to the first media, primary or interstitial.
    @Test("The start delay ends with the first frame, of an ad or of the content", arguments: [nil, 2] as [Int64?])
    func startDelay(ad: Int64?) {
        var session = PlaybackSession(source: MediaSource("film.mp3"), configuration: ProbeConfiguration())
        session.perform(.noteAd(at: at(0)), now: at(0))
        _ = session.request(now: at(1))
        session.perform(.hold, now: at(1))
        session.opened(MediaInfo(hasAudio: true), now: at(1))
        session.received(packet(until: 100), now: at(1))
        if let ad { session.perform(.noteAd(at: at(ad)), now: at(4)) }
        #expect(session.startDelay == ad.map { .seconds($0 - 1) })
        session.perform(.release, now: at(5))
        session.advance(to: at(6))
        session.perform(.noteAd(at: at(8)), now: at(8))
        #expect(session.startDelay == .seconds(ad.map { $0 - 1 } ?? 4))
    }

    @Test("A new playback rate is an event, and every later event has the rate")
    func rate() {
        var session = PlaybackSession(source: MediaSource("film.mp3"), configuration: ProbeConfiguration())
        _ = session.request(now: at(0))
        session.opened(MediaInfo(hasAudio: true), now: at(0))
        session.received(packet(until: 100), now: at(0))
        session.advance(to: at(1))
        session.perform(.setRate(1), now: at(2))
        #expect(session.outbox.allSatisfy { $0.attributes[.playbackRate] == nil })
        session.perform(.setRate(2), now: at(3))
        session.perform(.pause, now: at(4))
        session.catchUp(at: 1.5, now: at(5))
        session.perform(.setRate(1), now: at(6))
        let later = session.outbox.suffix(4)
        #expect(
            later.map(\.action) == [.playbackRateChange, .pauseBegin, .playbackRateChange, .playbackRateChange]
        )
        #expect(later.map { $0.attributes[.playbackRate] } == [2, 2, 3, 1.5])
    }

    @Test("A rate that was chosen before the start is not a separate event")
    func earlyRate() {
        var session = PlaybackSession(source: MediaSource("film.mp3"), configuration: ProbeConfiguration())
        session.perform(.setRate(0.5), now: at(0))
        _ = session.request(now: at(0))
        session.opened(MediaInfo(hasAudio: true), now: at(0))
        session.received(packet(until: 100), now: at(0))
        session.advance(to: at(1))
        #expect(!session.outbox.contains { $0.action == .playbackRateChange })
        #expect(session.outbox.last { $0.action == .start }?.attributes[.playbackRate] == 0.5)
    }

    @Test("Media that never extends the buffer fails")
    func idle() {
        var session = PlaybackSession(source: MediaSource("endless.ts"), configuration: ProbeConfiguration())
        _ = session.request(now: at(0))
        session.opened(MediaInfo(hasAudio: true), now: at(0))
        let stuck = Packet(track: .audio, start: 0, end: 0, size: 188, isKeyframe: true)
        for _ in 0...200_001 where session.outcome == nil { session.received(stuck, now: at(1)) }
        guard case .failed(let error) = session.outcome else {
            Issue.record("it never ends")
            return
        }
        #expect(error.code == .readFailed)
    }
}
