internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// The difference between the local clock and that of a live MPD's server, which is asked before the MPD is used.
struct ServerClock: Sendable {
    /// An MPD that waits for the server's time.
    struct Waiting: Sendable {
        var response: ResourceResponse
        var requested: HTTPURL
        /// The MPD by the local clock.
        var parsed: Presentation
        /// The start of the MPD's request.
        var begun: MonotonicInstant
    }

    /// The nanoseconds by which the server's clock is ahead; nil before it is known.
    private(set) var offset: Int64?
    private(set) var waiting: Waiting?
    private var sources: ArraySlice<ClockSource> = []

    /// Holds an MPD back whose clock was not asked yet. Returns false if the MPD can be used.
    mutating func hold(_ parsed: Presentation, _ response: ResourceResponse, _ fetching: Fetching) -> Bool {
        guard offset == nil, waiting == nil, !parsed.clockSources.isEmpty else { return false }
        sources = parsed.clockSources[...]
        waiting = Waiting(
            response: response,
            requested: fetching.request.url,
            parsed: parsed,
            begun: fetching.begun
        )
        return true
    }

    /// The next source to ask; nil if none is left.
    mutating func nextSource() -> ClockSource? { sources.popFirst() }

    /// Takes the server's time, or 0 if no source told it.
    mutating func take(offset: Int64) -> Waiting? {
        self.offset = offset
        defer { waiting = nil }
        return waiting
    }
}
