internal import Instrument

/// BOLA by the buffer alone: BASIC, FINITE, U and O of the paper.
///
/// Spiteri, Urgaonkar, Sitaraman, INFOCOM 2016, section IV: at the beginning and towards the end V is that of a smaller
/// buffer, max(t ÷ 2, 3 segments) for t the time from the beginning or to the end. The rung that the buffer asks for is
/// then compared with what the last download's throughput carries, so that it does not swing between two.
public struct BOLARule: AdaptationRule {
    /// What happens where the buffer asks for more than the throughput carries.
    public enum Variant: Hashable, Sendable {
        /// BOLA-FINITE: what the buffer asks for is fetched.
        case finite
        /// BOLA-U: one rung above what the throughput carries, which costs a few swings and no utility.
        case utility
        /// BOLA-O: what the throughput carries; fetching waits until that rung's level is reached.
        case oscillation
    }

    /// The most that is buffered; nil takes the player's maximum.
    public var buffer: Duration?
    /// How much a stall weighs against quality. 5 in the paper's comparisons; Sabre, `--gamma-p`.
    public var gammaP: Double
    /// What happens where the buffer asks for more than the throughput carries.
    public var variant: Variant
    /// Whether V is smaller at the beginning and towards the end, as BOLA-FINITE has it; not so in BOLA-BASIC.
    public var adjustsToLength: Bool
    /// Makes one figure of the samples. The paper takes the last download's (section IV-B).
    public var estimator: ThroughputEstimator

    /// Creates a rule.
    public init(
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

    /// The rung that the buffer asks for.
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

    /// There has to be room for the segment.
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
