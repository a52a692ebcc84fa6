internal import Instrument

/// Chooses the highest rung that the measured throughput can carry, with the options of known players.
///
/// Without options, it chooses the highest rung whose peak bitrate is at most `fraction` of the estimate. ``hlsJS``,
/// ``shaka`` and ``exoPlayer`` are the rules of these players.
package struct ThroughputRule: AdaptationRule {
    /// Computes the throughput estimate from the samples.
    package var estimator: ThroughputEstimator
    /// The share of the throughput that the present rung and lower rungs may use.
    package var fraction: Double
    /// The share of the throughput that a rung above the present one may use.
    package var upFraction: Double
    /// The buffer level below which the rule does not choose a higher rung.
    package var minimumBufferForIncrease: Duration
    /// The buffer level from which on the rule does not choose a lower rung; nil sets no such level.
    package var maximumBufferForDecrease: Duration?
    /// After a decision the rung stays for this time, whether the decision changed it or not; zero for no such time.
    /// The time counts between the ends of samples: without a new sample there is no new decision.
    package var switchInterval: Duration
    /// The part of the initial estimate that counts as throughput before the first measurement; nil for `fraction` and
    /// `upFraction`.
    package var initialFraction: Double?
    /// The accepted stall when no rung can be fetched before the buffer is empty; nil does not compare download times
    /// with the buffer. Not for live streams.
    package var maximumStarvation: Duration?
    /// Whether a higher playback rate raises the required throughput.
    package var scalesWithRate: Bool
    /// Whether the rule passes over higher rungs with fewer frames per second than the present one, and lower rungs
    /// with more.
    package var followsFrameRate: Bool
    /// The rule for aborting downloads.
    package var abandonment: Abandonment
    /// The instant of the last decision, if decisions keep an interval; nil before the first one.
    private(set) var lastDecision: MonotonicInstant?
    /// The rung of the last decision, if decisions keep an interval.
    private var decided: Int?
    /// The estimate that replaced all samples until an instant.
    private var replacement: Replacement?

    private struct Replacement: Hashable {
        var instant: MonotonicInstant
        var bitrate: Double
    }

    /// Creates a rule.
    package init(
        estimator: ThroughputEstimator = .dashJS,
        fraction: Double = 0.9,
        upFraction: Double? = nil,
        minimumBufferForIncrease: Duration = .zero,
        maximumBufferForDecrease: Duration? = nil,
        switchInterval: Duration = .zero,
        initialFraction: Double? = nil,
        maximumStarvation: Duration? = nil,
        scalesWithRate: Bool = true,
        followsFrameRate: Bool = false,
        abandonment: Abandonment = .never
    ) {
        self.estimator = estimator
        self.fraction = fraction
        self.upFraction = upFraction ?? fraction
        self.minimumBufferForIncrease = minimumBufferForIncrease
        self.maximumBufferForDecrease = maximumBufferForDecrease
        self.switchInterval = switchInterval
        self.initialFraction = initialFraction
        self.maximumStarvation = maximumStarvation
        self.scalesWithRate = scalesWithRate
        self.followsFrameRate = followsFrameRate
        self.abandonment = abandonment
    }

    /// Returns the rung that the throughput allows.
    package mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let measured = estimate(in: context)
        if let kept = keptRung(isMeasured: measured != nil, in: context) { return AdaptationDecision(rung: kept) }
        guard let bitrate = measured ?? context.initialEstimate.map(Double.init) else {
            return AdaptationDecision(rung: context.lowestAllowedRung)
        }
        if measured == nil, let initialFraction {
            return AdaptationDecision(rung: context.rung(forBitrate: bitrate * initialFraction))
        }
        let ideal = idealRung(for: scalesWithRate ? bitrate / context.playbackRate : bitrate, in: context)
        let rung = context.currentRung.map { settled(ideal, current: $0, in: context) } ?? ideal
        note(rung, in: context)
        return AdaptationDecision(rung: rung)
    }

    /// The rung between two decisions: that of the last one, also if the segment before was fetched at another rung.
    /// Nil if a decision is due.
    private func keptRung(isMeasured: Bool, in context: AdaptationContext) -> Int? {
        guard switchInterval > .zero, let current = context.currentRung, !isMeasured || isSettled(in: context)
        else { return nil }
        let rung = decided ?? current
        return context.allowedRungs.contains(rung) ? rung : nil
    }

    /// Records a decision. The first choice does not count: a playback that starts low may rise with the first good
    /// estimate.
    private mutating func note(_ rung: Int, in context: AdaptationContext) {
        guard switchInterval > .zero, context.currentRung != nil else { return }
        (lastDecision, decided) = (Self.latestSample(in: context), rung)
    }

    private func isSettled(in context: AdaptationContext) -> Bool {
        lastDecision.map { $0.duration(to: Self.latestSample(in: context)) < switchInterval } ?? false
    }

    /// Shaka decides as a sample comes (lib/abr/simple_abr_manager.js:371), not as it plans a segment: a decision that
    /// became due while the buffer was full waits for the first sample of the next segment.
    private static func latestSample(in context: AdaptationContext) -> MonotonicInstant {
        context.throughput.samples.last?.end ?? context.now
    }

    /// 100 ms if each part of a download brings a decision.
    package var abandonmentGrace: Duration { .milliseconds(abandonment == .decision ? 100 : 500) }

    /// Returns the decision of the property with this name.
    package mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        if abandonment == .decision {
            guard estimate(in: context) != nil else { return nil }
            let rung = decide(in: context).rung
            return rung == download.rung ? nil : rung
        }
        let latency = usualLatency(in: context)
        let estimate = estimate(in: context)
        guard abandonment == .starving else {
            return abandonment.rung(insteadOf: download, estimate: estimate, latency: latency, in: context)
        }
        guard let emergency = abandonment.emergency(download, context, estimate: estimate, latency: latency) else {
            return nil
        }
        replaceEstimate(after: emergency, of: download, in: context)
        return emergency.rung
    }

    /// After an aborted download, the estimate is a rung's bitrate if it would still allow a higher rung, or always.
    /// hls.js, src/controller/abr-controller.ts:376–391, 461.
    private mutating func replaceEstimate(
        after emergency: Abandonment.Emergency,
        of download: SegmentDownload,
        in context: AdaptationContext
    ) {
        // The time to this first byte is not learned (line 377).
        let expected = min(usualLatency(in: context), (download.timeToFirstByte ?? download.elapsed).seconds)
        var samples = laterSamples(in: context)
        samples.append(
            ThroughputSample(
                bytes: download.receivedBytes,
                transferTime: download.elapsed - Duration(clampingSeconds: expected),
                timeToFirstByte: .zero,
                end: context.now
            )
        )
        let estimate = estimator.bitrate(of: samples) ?? replacement?.bitrate ?? 0
        guard emergency.replacesAlways || estimate * upFraction > emergency.estimate else { return }
        replacement = Replacement(instant: context.now, bitrate: emergency.estimate)
    }

    /// The measured throughput; nil before the first sample.
    private func estimate(in context: AdaptationContext) -> Double? {
        estimator.bitrate(of: laterSamples(in: context)) ?? replacement?.bitrate
    }

    /// The samples since the estimate was replaced.
    private func laterSamples(in context: AdaptationContext) -> ThroughputHistory {
        guard let replacement else { return context.throughput }
        return ThroughputHistory(context.throughput.samples.filter { $0.end > replacement.instant })
    }

    /// The time to the first byte that the rule expects, in seconds; zero if it expects none. What replaces the
    /// estimate forgets earlier times too. hls.js, src/controller/abr-controller.ts, `resetEstimator`.
    private func usualLatency(in context: AdaptationContext) -> Double {
        estimator.time == .beyondUsualLatency ? estimator.usualLatency(of: laterSamples(in: context)) : 0
    }

    private func idealRung(for bitrate: Double, in context: AdaptationContext) -> Int {
        guard let maximumStarvation, context.live == nil, context.currentRung != nil else {
            return highest(for: bitrate, within: nil, in: context) ?? context.lowestAllowedRung
        }
        let starvation = context.timeToStarvation.seconds
        let duration = context.segment.duration
        let patience = starvation + min(maximumStarvation, duration).seconds
        // With two segments buffered, hls.js compares average bitrates.
        let usesAverage = starvation >= 2 * duration.seconds
        return highest(for: bitrate, within: starvation, usesAverage: usesAverage, in: context)
            ?? highest(for: bitrate, within: patience, in: context) ?? context.lowestAllowedRung
    }

    private func highest(
        for bitrate: Double,
        within seconds: Double?,
        usesAverage: Bool = false,
        in context: AdaptationContext
    ) -> Int? {
        let latency = seconds == nil ? 0 : usualLatency(in: context)
        return context.allowedRungs.last { rung in
            guard !followsFrameRate || hasFittingFrames(rung, in: context) else { return false }
            let isHigher = context.currentRung.map { rung > $0 } ?? false
            let available = bitrate * (isHigher ? upFraction : fraction)
            let content = context.ladder[rung]
            let needed = Double(usesAverage ? content.averageBitrate ?? content.peakBitrate : content.peakBitrate)
            guard needed <= available else { return false }
            let transfer = needed * context.segment.duration.seconds / available
            return seconds.map { context.timeToRequest(rung, latency: latency) + transfer < $0 } ?? true
        }
    }

    /// hls.js, src/controller/abr-controller.ts:934.
    private func hasFittingFrames(_ rung: Int, in context: AdaptationContext) -> Bool {
        guard let current = context.currentRung else { return true }
        let (present, other) = (context.ladder[current].frameRate, context.ladder[rung].frameRate)
        return rung > current ? other >= present : present == 0 || other <= present
    }

    private func settled(_ ideal: Int, current: Int, in context: AdaptationContext) -> Int {
        guard ideal != current, context.allowedRungs.contains(current) else { return ideal }
        let level = context.bufferLevel
        if ideal > current, level < increaseThreshold(in: context) { return current }
        if ideal < current, let maximumBufferForDecrease, level >= maximumBufferForDecrease { return current }
        return ideal
    }

    /// Near the live edge there is less to buffer; then ¾ of the available media is enough. Media3,
    /// `DEFAULT_BUFFERED_FRACTION_TO_LIVE_EDGE_FOR_QUALITY_INCREASE`.
    private func increaseThreshold(in context: AdaptationContext) -> Duration {
        guard let live = context.live else { return minimumBufferForIncrease }
        let available = (live.latency - context.segment.duration).seconds * 0.75
        return min(minimumBufferForIncrease, Duration(clampingSeconds: available))
    }
}

extension ThroughputRule {
    /// Media3's `AdaptiveTrackSelection`: 0.7 of the bandwidth (`DEFAULT_BANDWIDTH_FRACTION`), up only with 10 s
    /// buffered (`DEFAULT_MIN_DURATION_FOR_QUALITY_INCREASE_MS`), down only with less than 25 s
    /// (`DEFAULT_MAX_DURATION_FOR_QUALITY_DECREASE_MS`). It does not abort downloads.
    package static let exoPlayer = ThroughputRule(
        estimator: .exoPlayer,
        fraction: 0.7,
        minimumBufferForIncrease: .seconds(10),
        maximumBufferForDecrease: .seconds(25)
    )

    /// hls.js 1.7: 0.95 of the bandwidth, 0.7 for a higher rung (`abrBandWidthFactor`, `abrBandWidthUpFactor`), an
    /// accepted stall of 4 s (`maxStarvationDelay`); src/config.ts, src/controller/abr-controller.ts.
    package static let hlsJS = ThroughputRule(
        estimator: .hlsJS,
        fraction: 0.95,
        upFraction: 0.7,
        maximumStarvation: .seconds(4),
        scalesWithRate: false,
        followsFrameRate: true,
        abandonment: .hlsJS
    )

    /// Shaka Player 5: 0.95 of the bandwidth (`bandwidthDowngradeTarget`), 8 s from each decision (`switchInterval`).
    /// `bandwidthUpgradeTarget` 0.85 has no effect, because Shaka chooses the higher of two variants that fit;
    /// lib/abr/simple_abr_manager.js, `chooseVariant`.
    /// It decides as parts of segments arrive.
    package static let shaka = ThroughputRule(
        estimator: .shaka,
        fraction: 0.95,
        switchInterval: .seconds(8),
        abandonment: .decision
    )
}
