internal import InstrumentManifests
internal import InstrumentTransport

/// The look at one segment of the video for its closed captions, which precedes playback
/// (``PlayerProfile/inspectsCaptions``). The segment is not requested again where playback begins with it.
struct CaptionInspection: Sendable {
    private enum State {
        case due
        /// The plan with this number fetches the segment.
        case running(plan: Int)
        case arrived(ResourceResponse, Fetching, end: Int64)
        /// Nothing more is inspected; the number of the request whose answer was used.
        case over(used: Int?)
    }

    private var state: State

    init(isDue: Bool) { state = isDue ? .due : .over(used: nil) }

    var isDue: Bool { if case .due = state { true } else { false } }

    /// Whether a plan fetches the inspected segment, and not one to play.
    func isRunning(_ plan: TrackLoading.Plan?) -> Bool {
        if case .running(let number) = state { plan?.number == number } else { false }
    }

    /// Whether a request was made for the inspection, so that it says nothing to what measures the network.
    func owns(_ request: Int) -> Bool { if case .over(let used) = state { used == request } else { false } }

    /// The segment to inspect: the first of a recording; the one in the middle of a live window, which leaves the
    /// window late. A gap gives way to the next segment.
    static func segment(of index: SegmentIndex, isLive: Bool) -> MediaSegment? {
        guard !index.isEmpty else { return nil }
        return index[(isLive ? (index.count - 1) / 2 : 0)...].first { !$0.isGap }
    }
}

// MARK: Changes
extension CaptionInspection {
    mutating func begin(_ plan: TrackLoading.Plan) { state = .running(plan: plan.number) }

    mutating func arrived(_ response: ResourceResponse, _ fetching: Fetching, of segment: MediaSegment) {
        state = .arrived(response, fetching, end: segment.end)
    }

    mutating func end() { state = .over(used: nil) }

    /// Discards the segment if playback begins behind it.
    mutating func placed(at position: Int64) { if case .arrived(_, _, let end) = state, end <= position { self.end() } }

    /// Uses the inspected segment for playback; nil if another one is wanted.
    mutating func take(_ url: HTTPURL, _ range: ByteRange?) -> (response: ResourceResponse, fetching: Fetching)? {
        guard case .arrived(let response, let fetching, _) = state, fetching.request.url == url,
            fetching.request.range == range
        else { return nil }
        state = .over(used: fetching.number)
        return (response, fetching)
    }
}
