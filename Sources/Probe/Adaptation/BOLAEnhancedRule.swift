internal import Instrument

/// BOLA-E: by the buffer, with a placeholder for what is not there yet, and a guard against running dry.
///
/// Spiteri, Sitaraman, Sparacio: "From Theory to Practice: Improving Bitrate Adaptation in the DASH Reference Player",
/// MMSys 2018; Sabre, `BolaEnh`; dash.js, `BolaRule`. After the start and after seeks the buffer is low although the
/// throughput may be high. The placeholder, seconds that count but are not played, lifts the level to where the
/// map gives the rung that the throughput carries. It grows while nothing is fetched for other reasons than the rule's,
/// and shrinks when it would ask for too much.
public struct BOLAEnhancedRule: AdaptationRule {
    /// With less than this buffered, fetching never waits. dash.js, `MINIMUM_BUFFER_S`.
    public var minimumBuffer: Duration
    /// The highest rung is fetched up to the minimum and so much per rung, or the player's maximum if that is more.
    /// dash.js, `MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`.
    public var bufferPerRung: Duration
    /// How much of the throughput counts. dash.js, `bandwidthSafetyFactor` 0.9; Sabre 1.
    public var fraction: Double
    /// Whether it fetches what the throughput carries instead of one rung more where the buffer asks for more, as
    /// dash.js does; Sabre does so with `--abr-osc` only.
    public var suppressesOscillation: Bool
    /// Whether a rung has to be fetched before the buffer is empty, by a share of the throughput that goes from 0.9 to
    /// 0.5 (Sabre, `low_buffer_safety_factor_init`, `low_buffer_safety_factor`).
    public var guardsLowBuffer: Bool
    /// Makes one figure of the samples.
    public var estimator: ThroughputEstimator
    private var isSteady = false
    private var placeholder = 0.0
    private var safety = Self.initialSafety

    private static let initialSafety = 0.9
    private static let lowestSafety = 0.5

    /// Creates a rule with the published defaults.
    public init(
        minimumBuffer: Duration = .seconds(10),
        bufferPerRung: Duration = .seconds(2),
        fraction: Double = 0.9,
        suppressesOscillation: Bool = true,
        guardsLowBuffer: Bool = true,
        estimator: ThroughputEstimator = .dashJS
    ) {
        self.minimumBuffer = minimumBuffer
        self.bufferPerRung = bufferPerRung
        self.fraction = fraction
        self.suppressesOscillation = suppressesOscillation
        self.guardsLowBuffer = guardsLowBuffer
        self.estimator = estimator
    }

    /// As Sabre has it by default.
    public static let sabre = BOLAEnhancedRule(fraction: 1, suppressesOscillation: false, estimator: .sabre)

    /// The rung that the buffer and the placeholder ask for.
    public mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let allowed = context.allowedRungs
        guard let parameters = parameters(allowed, in: context) else { return AdaptationDecision(rung: allowed[0]) }
        if context.playhead == .stalled { placeholder = 0 }
        if !isSteady { return start(allowed, parameters, in: context) }
        let level = context.bufferLevel.seconds
        let carried = carriedIndex(allowed, in: context)
        let last = lastIndex(allowed, in: context)
        var index = parameters.rung(level: level + placeholder)
        if index > last, index > carried {
            index = max(last, carried) + (suppressesOscillation ? 0 : 1)
        }
        var wait = useUpPlaceholder(down: parameters.maximumLevel(index), level: level)
        if index == allowed.count - 1 { wait = nil }
        if let safe = safeIndex(below: index, allowed, parameters, level: level, in: context) {
            (index, wait) = (safe, nil)
        }
        if wait == nil { safety = max(safety * Self.initialSafety, Self.lowestSafety) }
        return AdaptationDecision(rung: allowed[index], waitUntilBuffered: wait)
    }

    /// As BOLA scores it: a lower rung whose size is less than what is left, and whose score is better. Not before
    /// there is an estimate, because a level of zero without a placeholder would always give the lowest.
    public mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        let allowed = context.allowedRungs
        guard isSteady, let parameters = parameters(allowed, in: context),
            let current = allowed.firstIndex(of: download.rung),
            let total = download.totalBytes, let latency = download.timeToFirstByte?.seconds,
            download.receivedBytes > 0, download.transferTime > .zero
        else { return nil }
        // A new request costs another wait for its first byte, in which the old request would have continued.
        let level = max(0, context.bufferLevel.seconds + placeholder - latency)
        let rate = Double(download.receivedBytes) / download.transferTime.seconds
        let left = Double(total) - Double(download.receivedBytes) - latency * rate
        guard left > 0 else { return nil }
        var best: Int?
        var bestScore = (parameters.maximumLevel(current) - level) / left
        for index in 0..<current {
            let size = Double(total) * parameters.bitrates[index] / parameters.bitrates[current]
            let score = (parameters.maximumLevel(index) - level) / size
            if size < left, score > bestScore { (best, bestScore) = (index, score) }
        }
        return best.map { allowed[$0] }
    }

    /// Keeps the placeholder within what the last choice justifies.
    public mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {
        let allowed = context.allowedRungs
        switch event {
        case .seeked: isSteady = false
        case .idled(let duration): if isSteady { placeholder += max(0, duration.seconds) }
        case .downloaded(let download):
            guard let parameters = parameters(allowed, in: context) else { return }
            let index = allowed.lastIndex { $0 <= download.rung } ?? 0
            let level = context.bufferLevel.seconds
            // Computed from the buffer level at the time of the request.
            let before = level + download.elapsed.seconds
            placeholder = min(placeholder, max(0, parameters.maximumLevel(index) - before))
            // It is lifted where the choice was not BOLA's.
            if level > 0 { placeholder = max(placeholder, parameters.minimumLevel(index) - before, 0) }
        case .abandoned(_, let rung):
            guard let parameters = parameters(allowed, in: context) else { return }
            let index = allowed.lastIndex { $0 <= rung } ?? 0
            let wanted = index > 0 ? parameters.minimumLevel(index) : minimumBuffer.seconds
            placeholder = min(placeholder, max(0, wanted - context.bufferLevel.seconds))
        }
    }
}

extension BOLAEnhancedRule {
    private func parameters(_ allowed: [Int], in context: AdaptationContext) -> BOLAParameters? {
        let span = Duration(clampingSeconds: bufferPerRung.seconds * Double(allowed.count))
        return BOLAParameters(
            bitrates: allowed.map { Double(context.ladder[$0].peakBitrate) },
            minimum: minimumBuffer,
            target: max(minimumBuffer + span, context.buffer.maximum)
        )
    }

    private mutating func start(
        _ allowed: [Int],
        _ parameters: BOLAParameters,
        in context: AdaptationContext
    ) -> AdaptationDecision {
        guard estimator.bitrate(of: context.throughput) != nil else {
            let estimate = context.initialEstimate.map { context.rung(forBitrate: Double($0) * fraction) }
            return AdaptationDecision(
                rung: estimate ?? context.currentRung.map { allowed.contains($0) ? $0 : allowed[0] } ?? allowed[0]
            )
        }
        isSteady = true
        safety = Self.initialSafety
        let index = carriedIndex(allowed, in: context)
        // A microsecond beyond the threshold, so that rounding does not decide.
        placeholder = max(0, parameters.minimumLevel(index) - context.bufferLevel.seconds + 1e-6)
        return AdaptationDecision(rung: allowed[index])
    }

    private func lastIndex(_ allowed: [Int], in context: AdaptationContext) -> Int {
        context.currentRung.flatMap { current in allowed.lastIndex { $0 <= current } } ?? 0
    }

    /// The highest rung whose segments arrive in no more than their duration, first byte included.
    private func carriedIndex(_ allowed: [Int], in context: AdaptationContext) -> Int {
        guard let bitrate = estimator.bitrate(of: context.throughput) else { return 0 }
        let duration = context.segment.duration.seconds
        let latency = estimator.time == .transfer ? estimator.latency(of: context.throughput) : 0
        return allowed.lastIndex {
            latency + duration * Double(context.ladder[$0].peakBitrate) / (bitrate * fraction) <= duration
        } ?? 0
    }

    /// With more than a rung deserves, the placeholder goes first, and then fetching waits.
    private mutating func useUpPlaceholder(down target: Double, level: Double) -> Duration? {
        let excess = level + placeholder - target
        if excess <= 0 { return nil }
        if excess <= placeholder {
            placeholder -= excess
            return nil
        }
        placeholder = 0
        return Duration(clampingSeconds: target)
    }

    /// A lower rung if this one might not arrive before the buffer is empty.
    private mutating func safeIndex(
        below index: Int,
        _ allowed: [Int],
        _ parameters: BOLAParameters,
        level: Double,
        in context: AdaptationContext
    ) -> Int? {
        guard guardsLowBuffer, index > 0, let bitrate = estimator.bitrate(of: context.throughput) else { return nil }
        let safeBits = safety * (level - estimator.latency(of: context.throughput)) * bitrate
        let duration = context.segment.duration.seconds
        guard let safe = (0..<index).first(where: { parameters.bitrates[$0 + 1] * duration > safeBits }) else {
            return nil
        }
        placeholder = min(placeholder, max(0, parameters.minimumLevel(safe) - level))
        return safe
    }
}
