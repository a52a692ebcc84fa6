import Instrument

@testable import InstrumentVLC

/// A model, and libVLC's reports as a script.
struct ModelStage {
    var model = VLCModel()
    var signals: [PlayerSignal] = []
    private var counters = VLCCounters()

    var actions: [Action] { signals.map(\.action) }

    /// The instants of the signals in milliseconds.
    var instants: [Int64] { signals.map { $0.instant?.milliseconds ?? -1 } }

    mutating func observe(_ observation: VLCObservation, at milliseconds: Int64) {
        signals += model.observe(observation, at: Self.instant(milliseconds))
    }

    static func instant(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    /// `TimeChanged` with this time, with the number of pictures that were displayed and decoded since the last one.
    mutating func progress(_ time: Int64, shown: Int, decoded: Int? = nil, rate: Double = 1, at milliseconds: Int64) {
        counters.displayed += shown
        counters.decodedVideo += 2 * (decoded ?? shown)
        let progress = VLCProgress(time: time, counters: counters, rate: rate)
        observe(.progress(progress), at: milliseconds)
    }

    /// Full buffers, with the number of pictures that were displayed meanwhile.
    mutating func buffered(shown: Int = 0, at milliseconds: Int64) {
        counters.displayed += shown
        observe(.counters(counters), at: milliseconds)
        observe(.buffering(100), at: milliseconds)
    }

    /// A start at 25 frames a second whose pictures move from `begin` on.
    mutating func play(from begin: Int64 = 1_000, length: Int64 = 60_000) {
        observe(.opening(VLCMedia(source: "http://example.com/film.m3u8")), at: begin - 500)
        observe(.length(length), at: begin - 400)
        observe(.playing, at: begin - 400)
        observe(.buffering(0), at: begin - 300)
        observe(.tracks(VLCTracks(width: 640, height: 360, framesPerSecond: 25), isShown: true), at: begin - 50)
        buffered(at: begin)
        progress(0, shown: 5, at: begin + 200)
        progress(200, shown: 6, at: begin + 440)
    }
}
