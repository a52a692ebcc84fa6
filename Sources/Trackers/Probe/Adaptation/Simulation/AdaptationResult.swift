internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The viewing experience in a simulation.
package struct AdaptationResult: Hashable, Sendable {
    /// One segment, with the download that completed.
    package struct Segment: Hashable, Sendable {
        /// The segment's number, from 0.
        package var index: Int
        /// The rung that was played.
        package var rung: Int
        /// The rung's peak bitrate, bit/s.
        package var bitrate: Int
        /// The size.
        package var bytes: Int64
        /// The duration.
        package var duration: Duration
        /// The time of the request, since the start of the simulation.
        package var requested: Duration
        /// The time of arrival.
        package var arrived: Duration
        /// The buffer level at the request.
        package var levelBefore: Duration
        /// The buffer level on arrival.
        package var levelAfter: Duration
        /// The number of aborted downloads of the segment at higher rungs.
        package var abandonedDownloads: Int
    }

    /// A stall (rebuffering): the viewer waits during playback.
    package struct Stall: Hashable, Sendable {
        /// The stall's start, since the start of the simulation.
        package var start: Duration
        /// The stall's duration.
        package var duration: Duration
        /// The position in the media.
        package var position: Duration
    }

    /// The segments, in order.
    package internal(set) var segments: [Segment] = []
    /// The stalls, in order.
    package internal(set) var stalls: [Stall] = []
    /// The time from the first request to the first frame; nil without a first frame.
    package internal(set) var startTime: Duration?
    /// The time from the first request to the end of playback.
    package internal(set) var totalTime: Duration = .zero
    /// The number of aborted downloads.
    package internal(set) var abandonedDownloads = 0
    /// The bytes of aborted downloads.
    package internal(set) var wastedBytes: Int64 = 0
}

extension AdaptationResult {
    /// The sum of all stalls.
    package var rebufferingTime: Duration { stalls.reduce(.zero) { $0 + $1.duration } }

    /// The media's duration.
    package var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// The mean of the rungs' peak bitrates over playing time, bit/s.
    package var averageBitrate: Double {
        let seconds = duration.seconds
        return seconds > 0 ? segments.reduce(0) { $0 + Double($1.bitrate) * $1.duration.seconds } / seconds : 0
    }

    /// The number of changes of the rung between consecutive segments.
    package var switches: Int {
        zip(segments, segments.dropFirst()).reduce(0) { $0 + ($1.0.rung == $1.1.rung ? 0 : 1) }
    }

    /// The mean of ln(S ÷ S₁) over the segments, BOLA's utility, where S₁ is `lowest`, bit/s.
    package func averageUtility(lowest: Int) -> Double {
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
package struct QualityScore: Hashable, Sendable {
    /// The utility of a bitrate.
    package enum Utility: Hashable, Sendable {
        /// The bitrate in Mbit/s.
        case linear
        /// ln(S ÷ S₁), S₁ the lowest rung's bitrate.
        case logarithmic
    }

    /// The utility of a bitrate.
    package var utility: Utility
    /// The penalty for a change of utility by 1.
    package var switchPenalty: Double
    /// The penalty for a second of stall.
    package var stallPenalty: Double
    /// The penalty for a second before the start.
    package var startPenalty: Double

    /// Creates a score.
    package init(utility: Utility, switchPenalty: Double, stallPenalty: Double, startPenalty: Double) {
        self.utility = utility
        self.switchPenalty = switchPenalty
        self.stallPenalty = stallPenalty
        self.startPenalty = startPenalty
    }

    /// "Balanced" of the paper: λ = 1, μ = μₛ = 3000 for kbit/s.
    package static let balanced = QualityScore(utility: .linear, switchPenalty: 1, stallPenalty: 3, startPenalty: 3)

    /// QoE_log of Pensieve (SIGCOMM 2017, table 1): μ = 2.66, no penalty for the start.
    package static let logarithmic = QualityScore(
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
    package func score(of result: AdaptationResult, lowest: Int) -> Double {
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
