public import Instrument

/// All that a rule may know when it is asked.
public struct AdaptationContext: Hashable, Sendable {
    /// What the playhead does.
    public enum Playhead: Hashable, Sendable, CaseIterable {
        /// Nothing was shown yet.
        case starting
        /// It moves.
        case playing
        /// The person has paused.
        case paused
        /// The buffer ran dry.
        case stalled
        /// It waits for data after a jump.
        case seeking
    }

    /// What is to be fetched next.
    public struct Segment: Hashable, Sendable {
        /// How many segments of this playback were fetched before it.
        public var index: Int
        /// How long it plays; at least 1 ns.
        public var duration: Duration
        /// Bytes at each rung, in the ladder's order; empty where not known.
        public var sizes: [Int64]
        /// How many are to come, this one included; nil while live or unknown.
        public var remaining: Int?

        /// Creates a description; the duration is at least 1 ns.
        public init(index: Int = 0, duration: Duration, sizes: [Int64] = [], remaining: Int? = nil) {
            self.index = max(0, index)
            self.duration = max(duration, .nanoseconds(1))
            self.sizes = sizes
            self.remaining = remaining
        }
    }

    /// How far behind the live edge playback is.
    public struct Live: Hashable, Sendable {
        /// From the live edge to the playhead.
        public var latency: Duration
        /// What the player aims at.
        public var target: Duration

        /// Creates a description.
        public init(latency: Duration, target: Duration) {
            self.latency = latency
            self.target = target
        }
    }

    /// What there is to choose from.
    public var ladder: BitrateLadder
    /// The rung of the segment before; nil before the first.
    public var currentRung: Int?
    /// What is buffered ahead of the playhead, in playing time at the normal rate.
    public var bufferLevel: Duration
    /// What the player wants to have buffered.
    public var buffer: BufferPolicy
    /// What the playhead does.
    public var playhead: Playhead
    /// What is to be fetched next.
    public var segment: Segment
    /// What earlier downloads took.
    public var throughput: ThroughputHistory
    /// The throughput to go by as long as nothing was measured, bit/s; nil if the lowest rung is to be fetched then.
    public var initialEstimate: Int?
    /// How far behind the live edge playback is; nil if the stream is not live.
    public var live: Live?
    /// 1 is the normal rate; finite and above zero.
    public var playbackRate: Double
    /// What limits the choice.
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
    /// The rungs that may be chosen, from the lowest; never empty.
    public var allowedRungs: [Int] {
        constraints.allowedRungs(of: ladder, isStarting: playhead == .starting)
    }

    /// The lowest rung that may be chosen.
    public var lowestAllowedRung: Int { allowedRungs.first ?? 0 }

    /// The highest rung that may be chosen.
    public var highestAllowedRung: Int { allowedRungs.last ?? 0 }

    /// How long the buffer lasts at the present rate.
    public var timeToStarvation: Duration {
        playbackRate == 1 ? bufferLevel : Duration(clampingSeconds: bufferLevel.seconds / playbackRate)
    }

    /// The highest allowed rung whose peak bitrate is at most `bitrate`, bit/s; the lowest allowed if none is.
    public func rung(forBitrate bitrate: Double) -> Int {
        let allowed = allowedRungs
        return allowed.last { Double(ladder[$0].peakBitrate) <= bitrate } ?? allowed[0]
    }
}
