internal import Instrument

/// Chooses by the buffer alone: BOLA-BASIC, FINITE, U and O of the paper.
///
/// Spiteri, Urgaonkar, Sitaraman, INFOCOM 2016, section IV: at the beginning and towards the end V is that of a smaller
/// buffer, max(t ÷ 2, 3 segments) for t the time from the beginning or to the end. The rule then compares the rung
/// for the buffer level with the rung that the last download's throughput carries, so that the choice does not
/// oscillate.
public struct BOLARule: AdaptationRule {
    /// The choice where the buffer level gives a higher rung than the throughput carries.
    package enum Variant: Hashable, Sendable {
        /// BOLA-FINITE: the rung for the buffer level.
        case finite
        /// BOLA-U: one rung above the rung that the throughput carries, which costs a few oscillations and no
        /// utility.
        case utility
        /// BOLA-O: the rung that the throughput carries; fetching waits until that rung's level is reached.
        case oscillation
    }

    /// The maximum buffer level; nil takes the player's maximum.
    package var buffer: Duration?
    /// The weight of a stall against quality. 5 in the paper's comparisons; Sabre, `--gamma-p`.
    package var gammaP: Double
    /// The choice where the buffer level gives a higher rung than the throughput carries.
    package var variant: Variant
    /// Whether V is smaller at the beginning and towards the end, as in BOLA-FINITE and unlike BOLA-BASIC.
    package var adjustsToLength: Bool
    /// Computes the throughput from the samples. The paper uses the last download (section IV-B).
    package var estimator: ThroughputEstimator

    /// Creates a rule, BOLA-O of the paper: the maximum buffer level, if it is not the player's, and the weight of a
    /// stall against quality.
    public init(buffer: Duration? = nil, gammaP: Double = 5) {
        self.init(buffer: buffer, gammaP: gammaP, variant: .oscillation)
    }

    /// Creates a rule.
    package init(
        buffer: Duration? = nil,
        gammaP: Double = 5,
        variant: Variant = .oscillation,
        adjustsToLength: Bool = true,
        estimator: ThroughputEstimator = ThroughputEstimator(.mean(last: 1))
    ) {
        self.buffer = buffer
        self.gammaP = gammaP
        self.variant = variant
        self.adjustsToLength = adjustsToLength
        self.estimator = estimator
    }

    /// Returns the rung for the buffer level.
    public mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let allowed = context.allowedRungs
        guard let parameters = parameters(allowed, in: context) else { return AdaptationDecision(rung: allowed[0]) }
        var index = parameters.rung(level: context.bufferLevel.seconds)
        var wait: Duration?
        let last = context.currentRung.flatMap { current in allowed.lastIndex { $0 <= current } } ?? 0
        if variant != .finite, index > last {
            let carried = carriedIndex(allowed, in: context)
            if index > carried {
                if last > carried {
                    index = last
                } else if variant == .utility {
                    index = carried + 1
                } else {
                    index = carried
                    let level = Duration(clampingSeconds: parameters.maximumLevel(index))
                    if context.bufferLevel > level { wait = level }
                }
            }
        }
        return AdaptationDecision(rung: allowed[index], waitUntilBuffered: wait ?? fullWait(in: context))
    }

    private func parameters(_ allowed: [Int], in context: AdaptationContext) -> BOLAParameters? {
        let dynamic = adjustsToLength ? dynamicCapacity(in: context) : capacity(in: context)
        return BOLAParameters(
            bitrates: allowed.map { Double(context.ladder[$0].peakBitrate) },
            buffer: min(capacity(in: context), dynamic),
            segment: context.segment.duration,
            gammaP: gammaP
        )
    }

    private func dynamicCapacity(in context: AdaptationContext) -> Duration {
        // t, in segments: from the beginning, or to the end if that is nearer.
        let played = context.segment.index
        let segments = Double(min(played, context.segment.remaining ?? .max))
        return Duration(clampingSeconds: max(segments / 2, 3) * context.segment.duration.seconds)
    }

    /// Returns the buffer level at which there is room for the segment.
    private func fullWait(in context: AdaptationContext) -> Duration? {
        let level = max(capacity(in: context) - context.segment.duration, .zero)
        return context.bufferLevel > level ? level : nil
    }

    private func capacity(in context: AdaptationContext) -> Duration {
        min(buffer ?? context.buffer.maximum, context.buffer.maximum)
    }

    private func carriedIndex(_ allowed: [Int], in context: AdaptationContext) -> Int {
        let bitrate = estimator.bitrate(of: context.throughput) ?? context.initialEstimate.map(Double.init) ?? 0
        return allowed.lastIndex { Double(context.ladder[$0].peakBitrate) <= bitrate } ?? 0
    }
}
