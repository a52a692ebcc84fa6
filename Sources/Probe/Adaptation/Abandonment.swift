internal import Instrument

/// When a download in progress is given up for a lower rung.
public enum Abandonment: Hashable, Sendable {
    /// Never.
    case never
    /// If, `grace` after the request, it looks as if the whole would take more than `factor` × the segment's duration:
    /// for the rung that `fraction` of the measured throughput allows, if fetching that is less than what is left.
    case slow(grace: Duration, factor: Double, fraction: Double)
    /// If, later than half of the segment's duration, less than two segments are buffered and the buffer would run dry
    /// before the rest is there: for the highest rung that `fraction` of the measured throughput would bring in time.
    case starving(fraction: Double)

    /// dash.js 5, `AbandonRequestsRule`: 500 ms, 1.8 and the safety factor 0.9 (src/core/Settings.js); the comparison
    /// of sizes is that of the rule and of Sabre. Its six samples of progress (`minThroughputSamplesThreshold`) are not
    /// modelled.
    public static let dashJS = Abandonment.slow(grace: .milliseconds(500), factor: 1.8, fraction: 0.9)

    /// hls.js, src/controller/abr-controller.ts, `_abandonRulesCheck`: 0.8 of the throughput.
    public static let hlsJS = Abandonment.starving(fraction: 0.8)

    /// The rung to continue at, or nil.
    func rung(insteadOf download: SegmentDownload, in context: AdaptationContext) -> Int? {
        guard let lowest = context.allowedRungs.first, download.rung > lowest, download.receivedBytes > 0 else {
            return nil
        }
        switch self {
        case .never: return nil
        case .slow(let grace, let factor, let fraction):
            return slow(download, context, grace: grace, factor: factor, fraction: fraction)
        case .starving(let fraction): return starving(download, context, fraction: fraction)
        }
    }

    private func slow(
        _ download: SegmentDownload,
        _ context: AdaptationContext,
        grace: Duration,
        factor: Double,
        fraction: Double
    ) -> Int? {
        let elapsed = download.transferTime.seconds
        guard download.elapsed >= grace, elapsed > 0 else { return nil }
        let total = Self.expectedBytes(of: download, context)
        let left = total - Double(download.receivedBytes)
        let rate = Double(download.receivedBytes) / elapsed
        guard left > 0, download.elapsed.seconds + left / rate > factor * download.duration.seconds else { return nil }
        let other = context.rung(forBitrate: 8 * rate * fraction)
        guard other < download.rung else { return nil }
        return total * Self.ratio(other, download.rung, context) < left ? other : nil
    }

    private func starving(_ download: SegmentDownload, _ context: AdaptationContext, fraction: Double) -> Int? {
        let elapsed = download.elapsed.seconds
        let duration = download.duration.seconds
        let starvation = context.timeToStarvation.seconds
        guard context.playhead != .paused, elapsed > duration / context.playbackRate / 2, elapsed > 0 else {
            return nil
        }
        let rate = Double(download.receivedBytes) / elapsed
        let left = max(0, Self.expectedBytes(of: download, context) - Double(download.receivedBytes)) / rate
        guard starvation < 2 * duration / context.playbackRate, left > starvation else { return nil }
        let lower = context.allowedRungs.filter { $0 < download.rung }
        let time = { (rung: Int) in duration * Double(context.ladder[rung].peakBitrate) / (8 * fraction * rate) }
        guard let other = lower.last(where: { time($0) < starvation }) ?? lower.first else { return nil }
        return time(other) < left ? other : nil
    }

    /// The size of the whole, by the server's word or else by the bitrate.
    private static func expectedBytes(of download: SegmentDownload, _ context: AdaptationContext) -> Double {
        if let total = download.totalBytes { return Double(total) }
        let bitrate = Double(context.ladder[download.rung].peakBitrate)
        return max(Double(download.receivedBytes), bitrate * download.duration.seconds / 8)
    }

    private static func ratio(_ one: Int, _ other: Int, _ context: AdaptationContext) -> Double {
        Double(context.ladder[one].peakBitrate) / Double(context.ladder[other].peakBitrate)
    }
}
