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
    /// One segment, with the download that completed.
    public struct Segment: Hashable, Sendable {
        /// The segment's number, from 0.
        public var index: Int
        /// The rung that was played.
        public var rung: Int
        /// The rung's peak bitrate, bit/s.
        public var bitrate: Int
        /// The size.
        public var bytes: Int64
        /// The duration.
        public var duration: Duration
        /// The time of the request, since the start of the simulation.
        public var requested: Duration
        /// The time of arrival.
        public var arrived: Duration
        /// The buffer level at the request.
        public var levelBefore: Duration
        /// The buffer level on arrival.
        public var levelAfter: Duration
        /// The number of aborted downloads of the segment at higher rungs.
        public var abandonedDownloads: Int
    }

    /// A stall (rebuffering): the viewer waits during playback.
    public struct Stall: Hashable, Sendable {
        /// The stall's start, since the start of the simulation.
        public var start: Duration
        /// The stall's duration.
        public var duration: Duration
        /// The position in the media.
        public var position: Duration
    }

    /// The segments, in order.
    public internal(set) var segments: [Segment] = []
    /// The stalls, in order.
    public internal(set) var stalls: [Stall] = []
    /// The time from the first request to the first frame; nil without a first frame.
    public internal(set) var startTime: Duration?
    /// The time from the first request to the end of playback.
    public internal(set) var totalTime: Duration = .zero
    /// The number of aborted downloads.
    public internal(set) var abandonedDownloads = 0
    /// The bytes of aborted downloads.
    public internal(set) var wastedBytes: Int64 = 0
}

extension AdaptationResult {
    /// The sum of all stalls.
    public var rebufferingTime: Duration { stalls.reduce(.zero) { $0 + $1.duration } }

    /// The media's duration.
    public var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// The mean of the rungs' peak bitrates over playing time, bit/s.
    public var averageBitrate: Double {
        let seconds = duration.seconds
        return seconds > 0 ? segments.reduce(0) { $0 + Double($1.bitrate) * $1.duration.seconds } / seconds : 0
    }

    /// The number of changes of the rung between consecutive segments.
    public var switches: Int { zip(segments, segments.dropFirst()).reduce(0) { $0 + ($1.0.rung == $1.1.rung ? 0 : 1) } }

    /// The mean of ln(S ÷ S₁) over the segments, BOLA's utility, where S₁ is `lowest`, bit/s.
    public func averageUtility(lowest: Int) -> Double {
        guard !segments.isEmpty else { return 0 }
        let sum = segments.reduce(0) { $0 + log(Double($1.bitrate) / Double(max(1, lowest))) }
        return sum / Double(segments.count)
    }
}

/// A score for the quality of a playback.
///
/// The sum of the segments' utilities, minus penalties for changes between consecutive segments, for stalls and for
/// the start, divided by the number of segments. Yin, Jindal, Sekar, Sinopoli: "A Control-Theoretic Approach for
/// Dynamic Adaptive Video Streaming over HTTP", SIGCOMM 2015, equation 5.
public struct QualityScore: Hashable, Sendable {
    /// The utility of a bitrate.
    public enum Utility: Hashable, Sendable {
        /// The bitrate in Mbit/s.
        case linear
        /// ln(S ÷ S₁), S₁ the lowest rung's bitrate.
        case logarithmic
    }

    /// The utility of a bitrate.
    public var utility: Utility
    /// The penalty for a change of utility by 1.
    public var switchPenalty: Double
    /// The penalty for a second of stall.
    public var stallPenalty: Double
    /// The penalty for a second before the start.
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

    /// QoE_log of Pensieve (SIGCOMM 2017, table 1): μ = 2.66, no penalty for the start.
    public static let logarithmic = QualityScore(
        utility: .logarithmic,
        switchPenalty: 1,
        stallPenalty: 2.66,
        startPenalty: 0
    )

    /// Returns the score of a playback, per segment; 0 without segments.
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
