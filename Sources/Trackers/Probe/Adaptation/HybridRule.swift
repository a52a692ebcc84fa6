internal import Instrument

/// Chooses by throughput while the buffer is low, and by BOLA otherwise: DYNAMIC, the default of dash.js.
///
/// Spiteri, Sitaraman, Sparacio, MMSys 2018; dash.js, `AbrController`.
package struct HybridRule: AdaptationRule {
    /// The condition for changing between the two rules.
    package enum Switching: Hashable, Sendable {
        /// To BOLA above this level if BOLA's choice is at least as high; back below it if BOLA's choice is lower.
        /// MMSys 2018, with 10 s; Sabre, `Dynamic`.
        case comparing(at: Duration)
        /// To BOLA from `on`, back below `off`; the target latency of a live stream limits `on`, and `off` in
        /// proportion. Only the rule that decides is asked. dash.js 5 with its `bufferTimeDefault`, 18 s, and half of
        /// that (src/streaming/controllers/AbrController.js:953, src/streaming/models/MediaPlayerModel.js:222);
        /// Sabre's `DynamicDash` has 10 and 5 s.
        case hysteresis(on: Duration, off: Duration)
    }

    /// The condition for changing between the two rules.
    package var switching: Switching
    /// The rule that decides while the buffer is low.
    package var throughput: ThroughputRule
    /// The rule that decides otherwise.
    package var bola: BOLAEnhancedRule
    /// The limit of both rules when the buffer is low; nil sets no limit.
    package var lowBuffer: LowBufferLimit?
    /// The limit of rungs that were often left; nil sets no limit.
    package var history: SwitchHistory?
    /// The time after an aborted download in which the rule chooses no higher rung, in which the throughput rule
    /// chooses nothing, and in which the same segment is not aborted again.
    package var pauseAfterAbandonment: Duration
    /// Whether BOLA decides now.
    package private(set) var usesBOLA = false
    /// The end of the pause after an aborted download.
    private var pausedUntil: MonotonicInstant?
    /// The number of the segment whose download was aborted last.
    private var abandonedSegment: Int?
    /// The segments that arrived since the start or the last seek: the first are not limited because of a low buffer.
    private var arrivedSegments = 0

    /// Creates a rule.
    package init(
        switching: Switching = .comparing(at: .seconds(10)),
        throughput: ThroughputRule = ThroughputRule(abandonment: .sabre),
        bola: BOLAEnhancedRule = BOLAEnhancedRule(),
        lowBuffer: LowBufferLimit? = nil,
        history: SwitchHistory? = nil,
        pauseAfterAbandonment: Duration = .zero
    ) {
        self.switching = switching
        self.throughput = throughput
        self.bola = bola
        self.lowBuffer = lowBuffer
        self.history = history
        self.pauseAfterAbandonment = pauseAfterAbandonment
    }

    /// dash.js 5.1 with its defaults: DYNAMIC, the insufficient buffer rule, the switch history rule, and aborted
    /// requests, after which it chooses no higher rung for 10 s (`abandonLoadTimeout`).
    package static let dashJS = HybridRule(
        switching: .hysteresis(on: .seconds(18), off: .seconds(9)),
        throughput: ThroughputRule(
            estimator: .dashJS,
            fraction: 0.9,
            initialFraction: 1,
            scalesWithRate: false,
            abandonment: .dashJS
        ),
        bola: BOLAEnhancedRule(guardsLowBuffer: false, implementation: .dashJS),
        lowBuffer: .dashJS,
        history: .dashJS,
        pauseAfterAbandonment: .seconds(10)
    )

    /// Returns the choice of the rule that decides now.
    package mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        var decision = decisionOfRule(in: context)
        // dash.js takes the lowest of what its rules ask for (src/streaming/rules/abr/ABRRulesCollection.js).
        for case let limit? in [lowBufferLimit(in: context), history?.limit(allowed: context.allowedRungs)]
        where decision.rung > limit {
            decision = AdaptationDecision(rung: limit)
        }
        guard let current = context.currentRung else { return decision }
        let isWaiting = decision.waitUntilBuffered.map { $0 < context.bufferLevel } ?? false
        if !isWaiting { history?.record(from: current, to: decision.rung) }
        if decision.rung > current, isPaused(at: context.now) { decision.rung = current }
        return decision
    }

    private mutating func decisionOfRule(in context: AdaptationContext) -> AdaptationDecision {
        if case .comparing(let threshold) = switching {
            let (byBOLA, byThroughput) = (bola.decide(in: context), throughput.decide(in: context))
            compare(byBOLA.rung, byThroughput.rung, level: context.bufferLevel, threshold)
            return usesBOLA ? byBOLA : byThroughput
        }
        followLevel(in: context)
        if usesBOLA { return bola.decide(in: context) }
        // dash.js, src/streaming/rules/abr/ThroughputRule.js:69: no choice in the pause after an aborted download.
        if let current = context.currentRung, isPaused(at: context.now) { return AdaptationDecision(rung: current) }
        return throughput.decide(in: context)
    }

    private func isPaused(at now: MonotonicInstant) -> Bool { pausedUntil.map { now < $0 } ?? false }

    private func lowBufferLimit(in context: AdaptationContext) -> Int? {
        // dash.js, `InsufficientBufferRule`: not in low latency, where the buffer is always low.
        guard let lowBuffer, arrivedSegments >= lowBuffer.ignoredSegments, context.live?.isLowLatency != true else {
            return nil
        }
        return lowBuffer.highestRung(estimator: throughput.estimator, in: context)
    }

    /// Uses the throughput rule: dash.js and Sabre apply `AbandonRequestsRule` in both states.
    package mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        if pauseAfterAbandonment > .zero, abandonedSegment == context.segment.index { return nil }
        return throughput.abandonment(of: download, in: context)
    }

    /// That of the throughput rule.
    package var abandonmentGrace: Duration { throughput.abandonmentGrace }

    /// Both rules receive the event.
    package mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {
        // Time in which BOLA did not decide does not count for its placeholder.
        if case .idled = event, !usesBOLA, case .hysteresis = switching {} else { bola.observe(event, in: context) }
        throughput.observe(event, in: context)
        switch event {
        case .seeked:
            usesBOLA = false
            arrivedSegments = 0
        case .abandoned:
            history?.reset()
            abandonedSegment = context.segment.index
            pausedUntil = context.now.advanced(by: pauseAfterAbandonment)
        case .downloaded:
            // A segment that is fetched again at another rung counts twice (`_onBytesAppended`).
            arrivedSegments += 1
            followLevel(in: context)
        case .idled: break
        }
    }

    private mutating func compare(_ byBOLA: Int, _ byThroughput: Int, level: Duration, _ threshold: Duration) {
        if usesBOLA {
            if level < threshold, byBOLA < byThroughput { usesBOLA = false }
        } else if level > threshold, byBOLA >= byThroughput {
            usesBOLA = true
        }
    }

    /// dash.js looks at the level whenever the level changes.
    private mutating func followLevel(in context: AdaptationContext) {
        guard case .hysteresis(let on, let off) = switching else { return }
        let limit = min(on, context.live?.target ?? on)
        let share = on > .zero ? limit.seconds / on.seconds : 1
        usesBOLA = context.bufferLevel >= (usesBOLA ? Duration(clampingSeconds: off.seconds * share) : limit)
    }
}

/// Excludes rungs that may not arrive before the buffer is empty: dash.js's insufficient buffer rule.
package struct LowBufferLimit: Hashable, Sendable {
    /// The share of the throughput that counts.
    package var fraction: Double
    /// The number of segments that arrive at the start of a playback, and after a seek, before others are limited.
    package var ignoredSegments: Int
    /// The buffer level up to which the buffer counts as empty once playback has started.
    package var emptyLevel: Duration

    /// Creates a limit.
    package init(fraction: Double, ignoredSegments: Int, emptyLevel: Duration = .zero) {
        self.fraction = fraction
        self.ignoredSegments = ignoredSegments
        self.emptyLevel = emptyLevel
    }

    /// dash.js 5.1: 0.7, 2 segments and 0.3 s; src/core/Settings.js (`insufficientBufferRule`, `stallThreshold`).
    package static let dashJS = LowBufferLimit(fraction: 0.7, ignoredSegments: 2, emptyLevel: .milliseconds(300))

    /// Returns the lowest rung if the buffer is empty, else the highest rung whose bitrate is at most `fraction` ×
    /// throughput × buffer level ÷ segment duration; nil without an estimate. dash.js, `InsufficientBufferRule`.
    package func highestRung(estimator: ThroughputEstimator, in context: AdaptationContext) -> Int? {
        let isEmpty = context.playhead != .starting && context.bufferLevel <= emptyLevel && emptyLevel > .zero
        if context.playhead == .stalled || isEmpty { return context.lowestAllowedRung }
        guard let bitrate = estimator.bitrate(of: context.throughput) else { return nil }
        let bits = bitrate * fraction * context.bufferLevel.seconds
        let limit = bits / context.segment.duration.seconds
        return limit > 0 ? context.rung(forBitrate: limit) : nil
    }
}
