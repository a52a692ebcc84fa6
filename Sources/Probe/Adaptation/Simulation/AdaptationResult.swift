internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The viewing experience in a simulation.
public struct AdaptationResult: Hashable, Sendable {
    /// One segment, as it was fetched in the end.
    public struct Segment: Hashable, Sendable {
        /// Its number, from 0.
        public var index: Int
        /// The rung that was played.
        public var rung: Int
        /// That rung's peak bitrate, bit/s.
        public var bitrate: Int
        /// Its size.
        public var bytes: Int64
        /// How long it plays.
        public var duration: Duration
        /// When it was requested, since the beginning.
        public var requested: Duration
        /// When it was there.
        public var arrived: Duration
        /// What was buffered when it was requested.
        public var levelBefore: Duration
        /// What was buffered when it was there.
        public var levelAfter: Duration
        /// How many downloads of it at higher rungs were given up.
        public var abandonedDownloads: Int
    }

    /// A time in which the viewer waited in mid-playback.
    public struct Stall: Hashable, Sendable {
        /// When it began, since the beginning.
        public var start: Duration
        /// How long it took.
        public var duration: Duration
        /// Where in the media.
        public var position: Duration
    }

    /// The segments, in order.
    public internal(set) var segments: [Segment] = []
    /// The stalls, in order.
    public internal(set) var stalls: [Stall] = []
    /// From the first request to the first frame; nil without a first frame.
    public internal(set) var startTime: Duration?
    /// From the first request to the end of playback.
    public internal(set) var totalTime: Duration = .zero
    /// How many downloads were given up.
    public internal(set) var abandonedDownloads = 0
    /// Bytes of downloads that were given up.
    public internal(set) var wastedBytes: Int64 = 0
}

extension AdaptationResult {
    /// How long the viewer waited in mid-playback, altogether.
    public var rebufferingTime: Duration { stalls.reduce(.zero) { $0 + $1.duration } }

    /// How long the media plays.
    public var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// The mean of the rungs' peak bitrates over playing time, bit/s.
    public var averageBitrate: Double {
        let seconds = duration.seconds
        return seconds > 0 ? segments.reduce(0) { $0 + Double($1.bitrate) * $1.duration.seconds } / seconds : 0
    }

    /// How often the rung changed from one segment to the next.
    public var switches: Int { zip(segments, segments.dropFirst()).reduce(0) { $0 + ($1.0.rung == $1.1.rung ? 0 : 1) } }

    /// The mean of ln(S ÷ S₁) over the segments, BOLA's utility, where S₁ is `lowest`, bit/s.
    public func averageUtility(lowest: Int) -> Double {
        guard !segments.isEmpty else { return 0 }
        let sum = segments.reduce(0) { $0 + log(Double($1.bitrate) / Double(max(1, lowest))) }
        return sum / Double(segments.count)
    }
}

/// One figure for how good a playback was.
///
/// The sum of the segments' utilities, less what the changes between neighbours, the stalls and the start cost, divided
/// by the number of segments. Yin, Jindal, Sekar, Sinopoli: "A Control-Theoretic Approach for Dynamic Adaptive Video
/// Streaming over HTTP", SIGCOMM 2015, equation 5.
public struct QualityScore: Hashable, Sendable {
    /// What a bitrate is worth.
    public enum Utility: Hashable, Sendable {
        /// Its Mbit/s.
        case linear
        /// ln(S ÷ S₁), S₁ the lowest rung's bitrate.
        case logarithmic
    }

    /// What a bitrate is worth.
    public var utility: Utility
    /// What a change of utility by 1 costs.
    public var switchPenalty: Double
    /// What a second of stall costs.
    public var stallPenalty: Double
    /// What a second before the start costs.
    public var startPenalty: Double

    /// Creates a score.
    public init(utility: Utility, switchPenalty: Double, stallPenalty: Double, startPenalty: Double) {
        self.utility = utility
        self.switchPenalty = switchPenalty
        self.stallPenalty = stallPenalty
        self.startPenalty = startPenalty
    }

    /// "Balanced" of the paper: λ = 1, μ = μₛ = 3000 for kbit/s.
    public static let balanced = QualityScore(utility: .linear, switchPenalty: 1, stallPenalty: 3, startPenalty: 3)

    /// QoE_log of Pensieve (SIGCOMM 2017, table 1): μ = 2.66, the start costs nothing.
    public static let logarithmic = QualityScore(
        utility: .logarithmic,
        switchPenalty: 1,
        stallPenalty: 2.66,
        startPenalty: 0
    )

    /// The score of a playback, per segment; 0 without segments.
    ///
    /// - Parameters:
    ///   - result: the viewing experience.
    ///   - lowest: the lowest rung's bitrate, bit/s.
    public func score(of result: AdaptationResult, lowest: Int) -> Double {
        guard !result.segments.isEmpty else { return 0 }
        let utilities = result.segments.map { worth(of: $0.bitrate, lowest: lowest) }
        let changes = zip(utilities, utilities.dropFirst()).reduce(0) { $0 + abs($1.1 - $1.0) }
        let start = result.startTime ?? result.totalTime
        let cost =
            switchPenalty * changes + stallPenalty * result.rebufferingTime.seconds + startPenalty * start.seconds
        return (utilities.reduce(0, +) - cost) / Double(utilities.count)
    }

    private func worth(of bitrate: Int, lowest: Int) -> Double {
        switch utility {
        case .linear: Double(bitrate) / 1e6
        case .logarithmic: log(Double(max(1, bitrate)) / Double(max(1, lowest)))
        }
    }
}
