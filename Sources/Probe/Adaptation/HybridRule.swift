internal import Instrument

/// By the throughput while the buffer is low, by BOLA once it is not: DYNAMIC, the default of dash.js.
///
/// Spiteri, Sitaraman, Sparacio, MMSys 2018; dash.js, `AbrController`.
public struct HybridRule: AdaptationRule {
    /// When it changes from one to the other.
    public enum Switching: Hashable, Sendable {
        /// To BOLA above this level if BOLA's choice is at least as high; back below it if BOLA's choice is lower.
        /// MMSys 2018, with 10 s; Sabre, `Dynamic`.
        case comparing(at: Duration)
        /// To BOLA from `on`, back below `off`. dash.js 5 with its `bufferTimeDefault`, 18 s, and half of that;
        /// Sabre's `DynamicDash` has 10 and 5 s.
        case hysteresis(on: Duration, off: Duration)
    }

    /// When it changes from one to the other.
    public var switching: Switching
    /// Decides while the buffer is low.
    public var throughput: ThroughputRule
    /// Decides once it is not.
    public var bola: BOLAEnhancedRule
    /// What limits both when the buffer is low; nil if nothing does.
    public var lowBuffer: LowBufferLimit?
    /// Whether BOLA decides now.
    public private(set) var usesBOLA = false

    /// Creates a rule.
    public init(
        switching: Switching = .comparing(at: .seconds(10)),
        throughput: ThroughputRule = ThroughputRule(abandonment: .dashJS),
        bola: BOLAEnhancedRule = BOLAEnhancedRule(),
        lowBuffer: LowBufferLimit? = nil
    ) {
        self.switching = switching
        self.throughput = throughput
        self.bola = bola
        self.lowBuffer = lowBuffer
    }

    /// dash.js 5 with its defaults: DYNAMIC, the insufficient buffer rule, and requests that are given up.
    public static let dashJS = HybridRule(
        switching: .hysteresis(on: .seconds(18), off: .seconds(9)),
        throughput: ThroughputRule(estimator: .dashJS, fraction: 0.9, scalesWithRate: false, abandonment: .dashJS),
        bola: BOLAEnhancedRule(guardsLowBuffer: false),
        lowBuffer: .dashJS
    )

    /// The choice of the one that decides now.
    public mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let byBOLA = bola.decide(in: context)
        let byThroughput = throughput.decide(in: context)
        choose(byBOLA.rung, byThroughput.rung, level: context.bufferLevel)
        var decision = usesBOLA ? byBOLA : byThroughput
        if let limit = lowBuffer?.highestRung(estimator: throughput.estimator, in: context), decision.rung > limit {
            decision = AdaptationDecision(rung: limit)
        }
        return decision
    }

    /// As the throughput rule has it: dash.js asks its `AbandonRequestsRule` in both states, Sabre likewise.
    public mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        throughput.abandonment(of: download, in: context)
    }

    /// Both remember.
    public mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {
        bola.observe(event, in: context)
        throughput.observe(event, in: context)
        if event == .seeked { usesBOLA = false }
    }

    private mutating func choose(_ byBOLA: Int, _ byThroughput: Int, level: Duration) {
        switch switching {
        case .comparing(let threshold):
            if usesBOLA {
                if level < threshold, byBOLA < byThroughput { usesBOLA = false }
            } else if level > threshold, byBOLA >= byThroughput {
                usesBOLA = true
            }
        case .hysteresis(let on, let off): usesBOLA = level >= (usesBOLA ? off : on)
        }
    }
}

/// No rung that may not be there before the buffer is empty: dash.js's insufficient buffer rule.
public struct LowBufferLimit: Hashable, Sendable {
    /// How much of the throughput counts.
    public var fraction: Double
    /// The number of first segments of a playback that are not limited.
    public var ignoredSegments: Int

    /// Creates a limit.
    public init(fraction: Double, ignoredSegments: Int) {
        self.fraction = fraction
        self.ignoredSegments = ignoredSegments
    }

    /// dash.js 5: 0.7 and 2 segments; src/core/Settings.js (`insufficientBufferRule`).
    public static let dashJS = LowBufferLimit(fraction: 0.7, ignoredSegments: 2)

    /// The lowest rung in a stall, else the highest whose bitrate is at most `fraction` × throughput × buffer level ÷
    /// segment duration; nil if nothing is known. dash.js, `InsufficientBufferRule`.
    public func highestRung(estimator: ThroughputEstimator, in context: AdaptationContext) -> Int? {
        guard context.segment.index >= ignoredSegments else { return nil }
        if context.playhead == .stalled { return context.lowestAllowedRung }
        guard let bitrate = estimator.bitrate(of: context.throughput) else { return nil }
        let bits = bitrate * fraction * context.bufferLevel.seconds
        let limit = bits / context.segment.duration.seconds
        return limit > 0 ? context.rung(forBitrate: limit) : nil
    }
}
