public import Instrument

/// The information for a rule's decision.
public struct AdaptationContext: Hashable, Sendable {
    /// The state of the playhead.
    public enum Playhead: Hashable, Sendable, CaseIterable {
        /// Playback has not started.
        case starting
        /// The playhead moves.
        case playing
        /// The viewer has paused.
        case paused
        /// Playback stalls because the buffer is empty.
        case stalled
        /// Playback waits for data after a jump.
        case seeking
    }

    /// The next segment.
    public struct Segment: Hashable, Sendable {
        /// The number of segments of this playback that were fetched before.
        public var index: Int
        /// The duration; at least 1 ns.
        public var duration: Duration
        /// The bytes at each rung, in the ladder's order; empty if unknown.
        public var sizes: [Int64]
        /// The number of remaining segments, this one included; nil for live streams or if unknown.
        public var remaining: Int?

        /// Creates a description; the duration is at least 1 ns.
        public init(index: Int = 0, duration: Duration, sizes: [Int64] = [], remaining: Int? = nil) {
            self.index = max(0, index)
            self.duration = max(duration, .nanoseconds(1))
            self.sizes = sizes
            self.remaining = remaining
        }
    }

    /// The distance of the playhead from the live edge.
    public struct Live: Hashable, Sendable {
        /// The distance from the live edge to the playhead.
        public var latency: Duration
        /// The player's target latency.
        public var target: Duration
        /// Whether the stream is a low-latency stream.
        public var isLowLatency: Bool

        /// Creates a description.
        public init(latency: Duration, target: Duration, isLowLatency: Bool = false) {
            self.latency = latency
            self.target = target
            self.isLowLatency = isLowLatency
        }
    }

    /// The rungs to choose from.
    public var ladder: BitrateLadder
    /// The rung of the previous segment; nil before the first.
    public var currentRung: Int?
    /// The buffer level: the media ahead of the playhead, in playing time at the normal rate.
    public var bufferLevel: Duration
    /// The player's buffer policy.
    public var buffer: BufferPolicy
    /// The state of the playhead.
    public var playhead: Playhead
    /// The next segment.
    public var segment: Segment
    /// The measured throughput of earlier downloads.
    public var throughput: ThroughputHistory
    /// The assumed throughput before the first measurement, bit/s; nil fetches the lowest rung then.
    package var initialEstimate: Int?
    /// The rungs whose playlist has to be loaded before their next segment: those that were not played yet, and all of
    /// a live stream (HLS).
    package var rungsWithoutPlaylist: Set<Int> = []
    /// The distance of the playhead from the live edge; nil if the stream is not live.
    public var live: Live?
    /// The playback rate, 1 for the normal rate; finite and above zero.
    public var playbackRate: Double
    /// The limits of the choice.
    public var constraints: AdaptationConstraints
    /// Now, on the playback's clock.
    public var now: MonotonicInstant

    /// Creates a context; a rate that is not finite or not above zero becomes 1.
    public init(
        ladder: BitrateLadder,
        currentRung: Int? = nil,
        bufferLevel: Duration = .zero,
        buffer: BufferPolicy = .standard,
        playhead: Playhead = .starting,
        segment: Segment,
        throughput: ThroughputHistory = ThroughputHistory(),
        initialEstimate: Int? = nil,
        live: Live? = nil,
        playbackRate: Double = 1,
        constraints: AdaptationConstraints = AdaptationConstraints(),
        now: MonotonicInstant
    ) {
        self.ladder = ladder
        self.currentRung = currentRung.map(ladder.clamped)
        self.bufferLevel = max(bufferLevel, .zero)
        self.buffer = buffer
        self.playhead = playhead
        self.segment = segment
        self.throughput = throughput
        self.initialEstimate = initialEstimate
        self.live = live
        self.playbackRate = playbackRate.isFinite && playbackRate > 0 ? playbackRate : 1
        self.constraints = constraints
        self.now = now
    }
}

extension AdaptationContext {
    /// The allowed rungs, from the lowest; never empty.
    public var allowedRungs: [Int] {
        constraints.allowedRungs(of: ladder, isStarting: playhead == .starting)
    }

    /// The lowest allowed rung.
    public var lowestAllowedRung: Int { allowedRungs.first ?? 0 }

    /// The highest allowed rung.
    public var highestAllowedRung: Int { allowedRungs.last ?? 0 }

    /// The time until the buffer is empty, at the present rate.
    public var timeToStarvation: Duration {
        playbackRate == 1 ? bufferLevel : Duration(clampingSeconds: bufferLevel.seconds / playbackRate)
    }

    /// Returns the time until the first byte of a segment, in seconds, if each request takes `latency`. hls.js,
    /// src/controller/abr-controller.ts, `getTimeToLoadFrag`, without the transfer of the playlist.
    func timeToRequest(_ rung: Int, latency: Double) -> Double {
        rungsWithoutPlaylist.contains(rung) ? 2 * latency : latency
    }

    /// Returns the highest allowed rung whose peak bitrate is at most `bitrate`, bit/s; without one, the lowest
    /// allowed rung.
    public func rung(forBitrate bitrate: Double) -> Int {
        let allowed = allowedRungs
        return allowed.last { Double(ladder[$0].peakBitrate) <= bitrate } ?? allowed[0]
    }
}
