internal import Instrument

/// BOLA-E: chooses by the buffer, with a placeholder for media that is not buffered yet, and a guard against stalls.
///
/// Spiteri, Sitaraman, Sparacio: "From Theory to Practice: Improving Bitrate Adaptation in the DASH Reference Player",
/// MMSys 2018; Sabre, `BolaEnh`; dash.js, `BolaRule`. After the start and after seeks the buffer is low although the
/// throughput may be high. The placeholder, in seconds that count but are not played, raises the level to the point
/// where the map gives the rung that the throughput carries. It grows while nothing is fetched for a reason other
/// than the rule's, and shrinks when it would choose too high a rung.
package struct BOLAEnhancedRule: AdaptationRule {
    /// The implementation whose details the rule follows.
    package enum Implementation: Hashable, Sendable, CaseIterable {
        /// Sabre, `BolaEnh`: a download raises the placeholder where the choice was not BOLA's; a rung is carried if
        /// its segments arrive within their duration, the time to the first byte included.
        case sabre
        /// dash.js 5.1, src/streaming/rules/abr/BolaRule.js: the throughput decides until a segment's duration is
        /// buffered (line 501); a rung's levels are larger by V p (lines 329, 431); the placeholder loses a hundredth
        /// with each segment and grows by a segment that replaced another one (lines 165–184); a rung is carried by its
        /// bitrate alone (src/streaming/controllers/AbrController.js:224); near the live edge, the target latency
        /// limits the buffer (src/streaming/models/MediaPlayerModel.js:222).
        case dashJS
    }

    /// The buffer level below which fetching never waits. dash.js, `MINIMUM_BUFFER_S`.
    package var minimumBuffer: Duration
    /// The highest rung is fetched up to the minimum plus this time per rung, or up to the player's maximum if that
    /// is larger. dash.js, `MINIMUM_BUFFER_PER_BITRATE_LEVEL_S`.
    package var bufferPerRung: Duration
    /// The share of the throughput that counts. dash.js, `bandwidthSafetyFactor` 0.9; Sabre 1.
    package var fraction: Double
    /// Whether the rule, where the buffer allows more, chooses the rung that the throughput carries instead of one
    /// rung above it, as dash.js does; Sabre does so only with `--abr-osc`.
    package var suppressesOscillation: Bool
    /// Whether a rung must be fetched before the buffer is empty, with a share of the throughput that falls from 0.9
    /// to 0.5 (Sabre, `low_buffer_safety_factor_init`, `low_buffer_safety_factor`).
    package var guardsLowBuffer: Bool
    /// Computes the throughput estimate from the samples.
    package var estimator: ThroughputEstimator
    /// The implementation whose details the rule follows.
    package var implementation: Implementation
    private var isSteady = false
    /// Whether the rule was asked before; events of earlier segments do not count for dash.js.
    private var hasBegun = false
    /// The duration of the latest segment since the rule was asked first, or since a seek, in seconds.
    private var latestDuration: Double?
    private var placeholder = 0.0
    private var safety = Self.initialSafety

    private static let initialSafety = 0.9
    private static let lowestSafety = 0.5
    /// `PLACEHOLDER_BUFFER_DECAY`.
    private static let placeholderDecay = 0.99

    /// Creates a rule with the published defaults.
    package init(
        minimumBuffer: Duration = .seconds(10),
        bufferPerRung: Duration = .seconds(2),
        fraction: Double = 0.9,
        suppressesOscillation: Bool = true,
        guardsLowBuffer: Bool = true,
        estimator: ThroughputEstimator = .dashJS,
        implementation: Implementation = .sabre
    ) {
        self.minimumBuffer = minimumBuffer
        self.bufferPerRung = bufferPerRung
        self.fraction = fraction
        self.suppressesOscillation = suppressesOscillation
        self.guardsLowBuffer = guardsLowBuffer
        self.estimator = estimator
        self.implementation = implementation
    }

    /// Sabre's defaults.
    package static let sabre = BOLAEnhancedRule(fraction: 1, suppressesOscillation: false, estimator: .sabre)

    /// Returns the rung for the level of buffer and placeholder.
    package mutating func decide(in context: AdaptationContext) -> AdaptationDecision {
        let allowed = context.allowedRungs
        hasBegun = true
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

    /// Returns a lower rung with a better BOLA score whose size is less than the rest of the download. Requires an
    /// estimate, because a level of zero without a placeholder would always give the lowest rung.
    package mutating func abandonment(of download: SegmentDownload, in context: AdaptationContext) -> Int? {
        let allowed = context.allowedRungs
        guard isSteady, let parameters = parameters(allowed, in: context),
            let current = allowed.firstIndex(of: download.rung),
            let total = download.totalBytes, let latency = download.timeToFirstByte?.seconds,
            download.receivedBytes > 0, download.transferTime > .zero
        else { return nil }
        // A new request waits for its first byte, while the old request would have continued.
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

    /// Limits the placeholder to the range that the last choice justifies.
    package mutating func observe(_ event: AdaptationEvent, in context: AdaptationContext) {
        let allowed = context.allowedRungs
        switch event {
        case .seeked: (isSteady, latestDuration) = (false, nil)
        case .idled(let duration): if isSteady { placeholder += max(0, duration.seconds) }
        case .downloaded(let download):
            guard let parameters = parameters(allowed, in: context) else { return }
            let index = allowed.lastIndex { $0 <= download.rung } ?? 0
            switch implementation {
            case .sabre: limitPlaceholder(after: download, parameters, index, level: context.bufferLevel.seconds)
            case .dashJS: adjustPlaceholder(after: download, parameters, index, level: context.bufferLevel.seconds)
            }
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
        var maximum = context.buffer.maximum
        if implementation == .dashJS, let live = context.live { maximum = min(maximum, live.target) }
        return BOLAParameters(
            bitrates: allowed.map { Double(context.ladder[$0].peakBitrate) },
            minimum: minimumBuffer,
            target: max(minimumBuffer + span, maximum),
            levelOffset: implementation == .dashJS ? 1 : 0
        )
    }

    private mutating func limitPlaceholder(
        after download: SegmentDownload,
        _ parameters: BOLAParameters,
        _ index: Int,
        level: Double
    ) {
        // Computed from the buffer level at the time of the request.
        let before = level + download.elapsed.seconds
        placeholder = min(placeholder, max(0, parameters.maximumLevel(index) - before))
        // Raised where the choice was not BOLA's.
        if level > 0 { placeholder = max(placeholder, parameters.minimumLevel(index) - before, 0) }
    }

    /// dash.js looks at the level before it appends the segment.
    private mutating func adjustPlaceholder(
        after download: SegmentDownload,
        _ parameters: BOLAParameters,
        _ index: Int,
        level: Double
    ) {
        guard hasBegun else { return }
        let duration = download.duration.seconds
        latestDuration = duration
        let before = level - (download.isReplacement ? 0 : duration) + download.elapsed.seconds
        placeholder = min(
            placeholder * Self.placeholderDecay,
            max(0, parameters.maximumLevel(index) - before)
        )
        // The segment took time, and the buffer is not longer than before.
        if download.isReplacement { placeholder += duration }
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
        isSteady =
            implementation == .sabre || latestDuration.map { context.bufferLevel.seconds >= $0 } ?? false
        safety = Self.initialSafety
        let index = carriedIndex(allowed, in: context)
        // A microsecond beyond the threshold, so that rounding does not decide.
        placeholder = max(0, parameters.minimumLevel(index) - context.bufferLevel.seconds + 1e-6)
        return AdaptationDecision(rung: allowed[index])
    }

    private func lastIndex(_ allowed: [Int], in context: AdaptationContext) -> Int {
        context.currentRung.flatMap { current in allowed.lastIndex { $0 <= current } } ?? 0
    }

    /// Returns the highest rung that the throughput carries.
    private func carriedIndex(_ allowed: [Int], in context: AdaptationContext) -> Int {
        guard let bitrate = estimator.bitrate(of: context.throughput) else { return 0 }
        let duration = context.segment.duration.seconds
        let countsLatency = implementation == .sabre && estimator.time == .transfer
        let latency = countsLatency ? estimator.latency(of: context.throughput) : 0
        return allowed.lastIndex {
            latency + duration * Double(context.ladder[$0].peakBitrate) / (bitrate * fraction) <= duration
        } ?? 0
    }

    /// If the level exceeds the rung's level, reduces the placeholder first, and then delays fetching.
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

    /// Returns a lower rung if this one might not arrive before the buffer is empty.
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
