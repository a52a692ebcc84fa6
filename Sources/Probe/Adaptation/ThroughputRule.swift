internal import Instrument

/// The highest rung that the measured throughput can carry, with what the players add to that.
///
/// Without options it is what all of them build on: the highest rung whose peak bitrate is at most `fraction` of the
/// estimate. ``hlsJS``, ``shaka`` and ``exoPlayer`` are those players' rules.
public struct ThroughputRule: AdaptationRule {
    /// Makes one figure of the samples.
    public var estimator: ThroughputEstimator
    /// How much of the throughput the present rung and lower ones may take.
    public var fraction: Double
    /// How much of the throughput a higher rung than the present one may take.
    public var upFraction: Double
    /// With less than this buffered, it does not go up.
    public var minimumBufferForIncrease: Duration
    /// With at least this buffered, it does not go down; nil if it always may.
    public var maximumBufferForDecrease: Duration?
    /// After a change it stays for so long; zero if it need not.
    public var switchInterval: Duration
    /// A rung also has to be fetched before the buffer runs dry; if none can be, a stall of so long is put up with. nil
    /// leaves that out. Not for live streams.
    public var maximumStarvation: Duration?
    /// Whether media that is played faster counts as needing as much more.
    public var scalesWithRate: Bool
    /// When downloads are given up.
    public var abandonment: Abandonment
    private var lastChange: MonotonicInstant?

    /// Creates a rule.
    public init(
        estimator: ThroughputEstimator = .dashJS,
        fraction: Double = 0.9,
        upFraction: Double? = nil,
        minimumBufferForIncrease: Duration = .zero,
        maximumBufferForDecrease: Duration? = nil,
        switchInterval: Duration = .zero,
        maximumStarvation: Duration? = nil,
        scalesWithRate: Bool = true,
        abandonment: Abandonment = .never
    ) {
        self.estimator = estimator
        self.fraction = fraction
        self.upFraction = upFraction ?? fraction
        self.minimumBufferForIncrease = minimumBufferForIncrease
        self.maximumBufferForDecrease = maximumBufferForDecrease
        self.switchInterval = switchInterval
        self.maximumStarvation = maximumStarvation
        self.scalesWithRate = scalesWithRate
        self.abandonment = abandonment
    }

    /// The rung that the throughput allows.
    public mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let bitrate = estimator.bitrate(of: context.throughput) ?? context.initialEstimate.map(Double.init)
        guard let bitrate else { return AdaptationDecision(rung: context.lowestAllowedRung) }
        let ideal = idealRung(for: scalesWithRate ? bitrate / context.playbackRate : bitrate, in: context)
        let rung = context.currentRung.map { settled(ideal, current: $0, in: context) } ?? ideal
        // The first choice does not count as a change: who starts low may go up with the first good estimate.
        if let current = context.currentRung, rung != current { lastChange = context.now }
        return AdaptationDecision(rung: rung)
    }

    /// As the property of this name has it.
    public mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        abandonment.rung(insteadOf: download, in: context)
    }

    private func idealRung(for bitrate: Double, in context: AdaptationContext) -> Int {
        guard let maximumStarvation, context.live == nil, context.currentRung != nil else {
            return highest(for: bitrate, within: nil, in: context) ?? context.lowestAllowedRung
        }
        let starvation = context.timeToStarvation.seconds
        let patience = starvation + min(maximumStarvation, context.segment.duration).seconds
        return highest(for: bitrate, within: starvation, in: context)
            ?? highest(for: bitrate, within: patience, in: context) ?? context.lowestAllowedRung
    }

    private func highest(for bitrate: Double, within seconds: Double?, in context: AdaptationContext) -> Int? {
        context.allowedRungs.last { rung in
            let isHigher = context.currentRung.map { rung > $0 } ?? false
            let available = bitrate * (isHigher ? upFraction : fraction)
            let needed = Double(context.ladder[rung].peakBitrate)
            guard needed <= available else { return false }
            return seconds.map { needed * context.segment.duration.seconds / available < $0 } ?? true
        }
    }

    private func settled(_ ideal: Int, current: Int, in context: AdaptationContext) -> Int {
        guard ideal != current, context.allowedRungs.contains(current) else { return ideal }
        let level = context.bufferLevel
        if ideal > current, level < increaseThreshold(in: context) { return current }
        if ideal < current, let maximumBufferForDecrease, level >= maximumBufferForDecrease { return current }
        if let lastChange, lastChange.duration(to: context.now) < switchInterval { return current }
        return ideal
    }

    /// Near the live edge there is never so much to buffer; then ¾ of what there is will do. Media3,
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
    /// (`DEFAULT_MAX_DURATION_FOR_QUALITY_DECREASE_MS`). It does not give downloads up by default (not verified).
    public static let exoPlayer = ThroughputRule(
        estimator: .exoPlayer,
        fraction: 0.7,
        minimumBufferForIncrease: .seconds(10),
        maximumBufferForDecrease: .seconds(25)
    )

    /// hls.js 1.6: 0.95 of the bandwidth, 0.7 to go up (`abrBandWidthFactor`, `abrBandWidthUpFactor`), 4 s of stall put
    /// up with (`maxStarvationDelay`); src/config.ts, src/controller/abr-controller.ts.
    public static let hlsJS = ThroughputRule(
        estimator: .hlsJS,
        fraction: 0.95,
        upFraction: 0.7,
        maximumStarvation: .seconds(4),
        scalesWithRate: false,
        abandonment: .hlsJS
    )

    /// Shaka Player 4: 0.95 of the bandwidth (`bandwidthDowngradeTarget`), 8 s between changes (`switchInterval`).
    /// `bandwidthUpgradeTarget` 0.85 has no effect, since of two variants that fit the higher one is taken;
    /// lib/abr/simple_abr_manager.js, `chooseVariant`.
    public static let shaka = ThroughputRule(estimator: .shaka, fraction: 0.95, switchInterval: .seconds(8))
}
